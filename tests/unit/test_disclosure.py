"""Nothing leaves a site from whose sums images can be rebuilt, unless the site itself accepts it."""

import json
import runpy
from pathlib import Path

import pytest
import torch
from federated import ACCEPTS, CHEAP, CLASSES, IMAGES, Federated, write_sites
from PIL import Image

from mooring.data import ImageSet
from mooring.errors import FederationError
from mooring.events import silent
from mooring.federation._container import decode_container
from mooring.federation._disclosure import GramSpan, disclosed, gram_spans
from mooring.federation._site_rules import SiteRules
from mooring.federation._train import folder_of, preview
from mooring.federation._upload_file import read_upload
from mooring.flower_app._node import Node, job_for, upload_for

HOME = Path(__file__).parents[2]
USUAL = SiteRules()


@pytest.fixture(scope="module")
def federated(tmp_path_factory):
    """North has 100 images for 64 features, the others fewer."""
    root = tmp_path_factory.mktemp("disclosure")
    write_sites(root / "images", IMAGES | {"north": (25, 25, 25, 25)})
    return Federated(root)


def test_an_upload_from_which_images_can_be_rebuilt_is_not_written(federated):
    with pytest.raises(FederationError) as stopped:
        federated.train("south", rules=USUAL)
    message = str(stopped.value)
    assert "35 images span 35 directions of 64 features, and 80 images are enough" in message
    assert all(word in message for word in ("another site", "--secure-sum", "--epsilon", "--accept-disclosure"))
    assert not (federated.root / "south.mooring").exists()
    assert [entry.action for entry in federated.log("south").entries()] == ["approved"]


def test_the_site_alone_accepts_it_and_the_upload_says_so(federated, cli, monkeypatch):
    path = federated.train("south", rules=ACCEPTS)
    assert read_upload(path).manifest.accepted_disclosure
    assert "accepted that images can be rebuilt" in " ".join(cli("inspect", path)[1].split())
    assert "images can be rebuilt from them" in " ".join(cli("inspect", path)[1].split())
    monkeypatch.setenv("MOORING_HOME", str(federated.root / "home"))
    code, out, err = cli("fuse-files", federated.job_path, path, federated.train("north"), "--out", "m.mooring")
    assert (code, "accepted that images can be rebuilt" in " ".join(out.split())) == (0, True), err


def test_enough_images_need_no_acceptance_and_the_upload_has_the_bytes_it_always_had(federated, cli):
    path = federated.train("north", rules=USUAL)
    assert "accepted_disclosure" not in decode_container(path.read_bytes(), "upload").manifest
    assert "many images share every direction" in " ".join(cli("inspect", path)[1].split())


@pytest.mark.parametrize("noise", [0, 4])
def test_the_same_pictures_many_times_are_not_many_images(noise, federated):
    """35 images for 64 features are too few; so are four copies of each, with a little noise or without."""
    shard = folder_of(federated.job, "south", federated.data("south")).shard()
    rng = torch.Generator().manual_seed(1)
    copies = shard.images[:].repeat(4, 1, 1, 1).float()
    noisy = (copies + noise * torch.randn(copies.shape, generator=rng)).clamp(0, 255).round().to(torch.uint8)
    many = ImageSet(noisy, shard.labels.repeat(4), shard.classes)
    work = federated.job.work
    [part] = work.needs
    sums = part(work.blueprint.build(torch.Generator()), many)
    assert not any(span.reveals_images for span in gram_spans(sums))
    with pytest.raises(FederationError, match=r"3\d different images span"):
        disclosed(federated.job, "south", sums, many, USUAL, silent)
    assert disclosed(federated.job, "south", sums, many, ACCEPTS, silent)


def test_a_check_says_it_before_training(federated):
    found = preview(federated.job, folder_of(federated.job, "south", federated.data("south")))
    assert found.disclosure.startswith("35 images for 64 features: images can be rebuilt")
    assert preview(federated.job, folder_of(federated.job, "north", federated.data("north"))).disclosure is None


def test_the_limit_counts_directions_and_not_features():
    """The same image many times has one direction."""
    assert not GramSpan(rank=40, features=64, images=50).reveals_images
    assert GramSpan(rank=41, features=64, images=50).reveals_images
    assert GramSpan(rank=64, features=64, images=79).reveals_images
    assert GramSpan(rank=1, features=2208, images=1).enough == 2760


def test_second_moments_of_each_class_are_checked_by_themselves():
    x = torch.randn(12, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    rows, columns = torch.triu_indices(4, 4)
    second = torch.stack([(x[:2].T @ x[:2])[rows, columns], (x[2:].T @ x[2:])[rows, columns]])
    own = {"moments-1.counts": torch.tensor([2, 10]), "moments-1.sums": torch.zeros(2, 4), "moments-1.second": second}
    assert [(span.rank, span.reveals_images) for span in gram_spans(own)] == [(2, True), (4, False)]


@pytest.mark.parametrize("protection", ["noise", "secure sum"])
def test_noise_and_a_secure_sum_need_no_acceptance(protection, federated, tmp_path):
    (tmp_path / "images").symlink_to(federated.root / "images")
    noise = ("fusion.privacy={kind: gaussian-noise, epsilon: 8, delta: 1e-5, size: 8}",) * (protection == "noise")
    other = Federated(tmp_path, words=("method=mooring", *CHEAP, *noise))
    if protection == "secure sum":
        other.job_path.write_bytes(other.planned(secure_images=1000))
    assert not read_upload(other.train("south", rules=USUAL)).manifest.accepted_disclosure


def test_a_secure_sum_of_few_images_in_all_is_warned_about(federated, tmp_path):
    (tmp_path / "images").symlink_to(federated.root / "images")
    other = Federated(tmp_path)
    other.job_path.write_bytes(other.planned(secure_images=1000))
    few = tmp_path / "few"
    for label in CLASSES[:2]:
        (few / label).mkdir(parents=True)
        for number in range(5):
            Image.new("L", (16, 16), 40 * number + 9).save(few / label / f"{number}.png")
    found = preview(other.job, folder_of(other.job, "south", few), other.log("south"))
    assert "if all 3 sites have as few images as this one, the sum has 30" in found.disclosure


def test_a_flower_node_stops_too_unless_its_settings_accept_it(federated, tmp_path):
    data, coordinator = federated.job_path.read_bytes(), federated.coordinator.identity.public
    home = str(federated.root / "home-south")
    node = Node("south", str(federated.data("south")), coordinator, home)
    with pytest.raises(FederationError, match="accept_disclosure=true"):
        upload_for(node, job_for(node, data))
    accepts = Node("south", str(federated.data("south")), coordinator, home, accept_disclosure=True)
    assert upload_for(accepts, job_for(accepts, data))


def test_a_class_needs_ten_images_by_default(cli):
    words = ("plan", "--classes", "a,b", "--sites", "n", "--size", 16, "--channels", 1, "--encoder", "none", "--json")
    assert json.loads(cli(*words)[1])["manifest"]["minimum"] == 10


def test_the_attack_rebuilds_images_of_a_small_site(digits):
    """What the check is there for: every digit of three, from their sums alone."""
    study = runpy.run_path(str(HOME / "studies/reconstruct.py"))
    setting = study["Setting"]("digits", study["WhitenedFilters"](channels=32), "", (3,), 24, 250)
    found = study["attack"](setting, digits.select(torch.arange(3)), 1)
    assert (found.rank, found.rebuilt) == (3, 3)
    assert found.best > 0.99
