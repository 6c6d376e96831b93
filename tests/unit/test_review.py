"""An unusual site stops a fusion until the coordinator has decided; the decision is written down."""

from dataclasses import replace

import pytest
import torch
from federated import CHEAP, Federated, write_sites
from studies.poison import with_ridge

from mooring.errors import DataError, FederationError, ReviewError
from mooring.federation._container import decode_container
from mooring.federation._fuse import Terms
from mooring.federation._job_file import JOB, read_job
from mooring.federation._model_file import load_model
from mooring.federation._upload_file import encode_file, read_upload, tensor_facts

PRIVATE = "fusion.privacy={kind: gaussian-noise, epsilon: 8, delta: 1e-5, size: 8}"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return write_sites(tmp_path_factory.mktemp("images") / "images")


@pytest.fixture
def desk(images, tmp_path):
    return federation(images, tmp_path / "desk")


def federation(images, root, *words, **asked) -> Federated:
    root.mkdir()
    (root / "images").symlink_to(images)
    federated = Federated(root, words=("method=mooring", *CHEAP, *words))
    federated.job_path.write_bytes(federated.planned(**asked))
    return federated


def trained(desk, *changed_sites, change=None):
    """The uploads of all sites, those of `changed_sites` forged."""
    paths = [desk.train(site) for site in desk.sites]
    for site in changed_sites:
        path = desk.root / f"{site}.mooring"
        file = read_upload(path)
        upload = change(file.upload)
        facts = {name: tensor_facts(tensor) for name, tensor in upload.tensors.items()}
        manifest = replace(file.manifest, tensors=facts, samples=upload.samples)
        path.write_bytes(encode_file(manifest, upload, desk.identity(site).key))
    return paths


def times(factor):
    def change(upload):
        tensors = {name: tensor * factor for name, tensor in upload.tensors.items()}
        return replace(upload, tensors=tensors, samples=upload.samples * factor)

    return change


def test_an_unusual_site_stops_the_fusion_with_what_was_seen_and_what_it_changes(desk):
    paths = trained(desk, "south", change=times(1000))
    with pytest.raises(ReviewError) as stopped:
        desk.fuse(*paths)
    [finding] = stopped.value.findings
    assert finding.startswith("south: it claims 35,000 images, 100 % of all, and the other sites have about 38 each")
    assert "estimated accuracy at 2 other sites" in finding
    assert "--keep SITE or --drop SITE" in stopped.value.remedy
    assert stopped.value.exit_code == 2
    assert not (desk.root / "model.mooring").exists()


def test_a_site_that_is_kept_is_used_and_model_and_log_say_why(desk):
    paths = trained(desk, "south", change=times(1000))
    done = desk.fuse(*paths, terms=Terms(keep=("south",)))
    assert [row.verdict for row in done.fused.decisions] == ["used"] * 3
    [south] = [site for site in load_model(done.path).provenance.used if site.reason]
    assert (south.name, south.reason.partition(": ")[0]) == ("south", "the coordinator kept it after review")
    [entry] = [entry for entry in desk.coordinator.log.entries() if entry.who == "south"]
    assert "it claims 35,000 images" in entry.words


def test_a_site_that_is_dropped_leaves_the_model_of_the_others(desk):
    paths = trained(desk, "south", change=times(1000))
    done = desk.fuse(*paths, terms=Terms(drop=("south",)))
    others = desk.fuse(paths[0], paths[2], out="others.mooring")
    states = [load_model(made.path).predictor.state_dict() for made in (done, others)]
    assert all(torch.equal(tensor, states[1][name]) for name, tensor in states[0].items())
    [south] = load_model(done.path).provenance.set_aside
    assert (south.name, south.reason) == ("south", "left out: the coordinator dropped it")
    [entry] = [entry for entry in desk.coordinator.log.entries() if entry.who == "south"]
    assert (entry.action, "it claims 35,000 images" in entry.words) == ("left out", True)


def test_who_breaks_a_rule_cannot_be_kept(desk):
    paths = trained(desk, "south", change=scaled)
    done = desk.fuse(*paths, terms=Terms(keep=("south",)))
    assert [row.verdict for row in done.fused.decisions] == ["used", "set aside", "used"]


def scaled(upload):
    factor = {"sums": 1e6, "second": 1e12}
    tensors = {name: tensor * factor.get(name.rpartition(".")[2], 1) for name, tensor in upload.tensors.items()}
    return replace(upload, tensors=tensors)


@pytest.mark.parametrize("liar", ["north", "east"])
def test_a_site_that_adds_to_its_own_second_moments_does_not_have_the_others_set_aside(desk, liar):
    """By file: all honest sites were set aside as copies, and the model was the liar's alone."""
    paths = trained(desk, liar, change=with_ridge)
    try:
        used = [file.manifest.site for file in desk.fuse(*paths).fused.used]
    except ReviewError as stopped:
        assert [finding.partition(":")[0] for finding in stopped.findings] == [liar]
    else:
        assert used == [site for site in desk.sites if site != liar]


def test_a_late_site_that_is_unusual_stops_too_and_the_model_stays(desk):
    paths = trained(desk, "south", change=times(1000))
    model = desk.fuse(paths[0], paths[2]).path
    before = model.read_bytes()
    with pytest.raises(ReviewError):
        desk.into(model, paths[1])
    assert model.read_bytes() == before
    kept = desk.into(model, paths[1], terms=Terms(keep=("south",)))
    assert len(kept.fused.used) == 3
    with pytest.raises(ReviewError):  # the question is asked again: who it is compared with may have changed
        desk.into(model, paths[0])
    assert len(desk.into(model, terms=Terms(drop=("south",))).fused.used) == 2
    assert [entry.who for entry in desk.coordinator.log.entries() if entry.action == "withdrawn"] == ["south"]


def test_who_signs_a_second_file_for_a_site_does_not_have_it_set_aside(images, tmp_path):
    """In a job without keys: the honest file and that of another account were both left out, exit code 0."""
    desk = federation(images, tmp_path / "keyless", keys={})
    paths = trained(desk)
    honest = read_upload(paths[0])
    forged = desk.root / "forged.mooring"
    forged.write_bytes(encode_file(honest.manifest, honest.upload, desk.identity("east").key))
    with pytest.raises(FederationError, match="north: has files that are signed with different keys"):
        desk.fuse(*paths, forged)
    assert not (desk.root / "model.mooring").exists()
    assert len(desk.fuse(*paths).fused.used) == 3


@pytest.mark.parametrize(
    ("terms", "problem"),
    [
        (Terms(keep=("west",)), "--keep 'west': is not a site of this job"),
        (Terms(drop=("west",)), "--drop 'west': is not a site of this job"),
        (Terms(keep=("north",), drop=("north",)), "--keep north: is left out too"),
    ],
)
def test_a_decision_names_a_site_of_the_job_once(desk, terms, problem):
    with pytest.raises(FederationError, match=problem):
        desk.fuse(*trained(desk), terms=terms)


class TestLimit:
    def test_a_job_without_a_limit_has_the_bytes_it_always_had(self, desk):
        assert "most_images" not in decode_container(desk.planned(), JOB).manifest

    def test_a_site_above_the_limit_does_not_train_and_a_claim_above_it_is_rejected(self, images, tmp_path):
        desk = federation(images, tmp_path / "desk", most_images=40)
        assert read_job(desk.job_path).manifest.most_images == 40
        with pytest.raises(DataError, match="north: has 49 images, and the job allows 40 per site"):
            desk.train("north")
        paths = [desk.train(site) for site in ("south", "east")]
        file = read_upload(paths[0])
        upload = times(2)(file.upload)
        facts = {name: tensor_facts(tensor) for name, tensor in upload.tensors.items()}
        manifest = replace(file.manifest, tensors=facts, samples=upload.samples)
        paths[0].write_bytes(encode_file(manifest, upload, desk.identity("south").key))
        done = desk.fuse(*paths)
        [south] = [row for row in done.fused.decisions if row.verdict == "set aside"]
        assert (south.site, south.reason) == ("south", "it claims 70 images, and the job allows 40 per site")

    @pytest.mark.parametrize("asked", [{"counts": "withheld"}, {"secure_images": 1000}])
    def test_a_limit_that_cannot_be_checked_is_refused(self, desk, asked):
        with pytest.raises(FederationError, match="--most-images: cannot be checked"):
            desk.planned(most_images=10, **asked)

    def test_a_limit_is_at_least_one_image(self, desk):
        with pytest.raises(FederationError, match="--most-images 0: is below 1"):
            desk.planned(most_images=0)


class TestNoise:
    """Under noise only bounds can be checked: those of clipped features and of the noise itself."""

    def tensors(self, upload, **factors):
        scaled = {name: factors.get(name.rpartition(".")[2], 1) * tensor for name, tensor in upload.tensors.items()}
        return {name: tensor.to(upload.tensors[name].dtype) for name, tensor in scaled.items()}

    @pytest.mark.parametrize(
        ("factors", "told"),
        [
            ({"sums": 1e6, "second": 1e6}, "is longer than its counts and its noise allow"),
            ({"second": 1e6}, "is larger than its counts and its noise allow"),
            ({"counts": -100.0}, "holds a negative number of images"),
            ({"second": -100.0}, "holds a negative variance"),
            ({"draws": 10**6}, "it says that 1,000,000 noises are in its sums, and a site adds one"),
        ],
        ids=["scaled", "second", "negative", "flipped", "draws"],
    )
    def test_what_clipping_and_noise_cannot_give_is_rejected(self, images, tmp_path, factors, told):
        desk = federation(images, tmp_path / "desk", PRIVATE)
        change = lambda upload: replace(upload, tensors=self.tensors(upload, **factors))  # noqa: E731
        done = desk.fuse(*trained(desk, "south", change=change))
        [south] = [row for row in done.fused.decisions if row.verdict == "set aside"]
        assert south.site == "south"
        assert told in south.reason
