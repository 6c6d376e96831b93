"""A federation in which nobody sees a site's numbers, or in which they say little of any single image."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from federated import CHEAP, CLASSES, IMAGES, Federated, write_sites

from mooring.data._image_folder import ImageFolder
from mooring.errors import ConfigError, FederationError
from mooring.federation._container import decode_container
from mooring.federation._fuse import Terms
from mooring.federation._keys import own_identity
from mooring.federation._model_file import load_model
from mooring.federation._privacy import privacy_spent, together
from mooring.federation._recovery import write_recovery
from mooring.federation._secure_job import summing
from mooring.federation._train import folder_of, preview
from mooring.federation._upload_file import read_upload
from mooring.uploads._privacy import gaussian_sigma

FOUR = (*IMAGES, "west")
PRIVATE = "fusion.privacy={kind: gaussian-noise, epsilon: 8, delta: 1e-5, size: 8}"


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return write_sites(tmp_path_factory.mktemp("images") / "images", IMAGES | {"west": (8, 8, 8, 8)})


def federation(images: Path, root: Path, *words: str, sites=tuple(IMAGES), **asked) -> Federated:
    root.mkdir()
    (root / "images").symlink_to(images)
    federated = Federated(root, sites, words=("method=mooring", *CHEAP, *words))
    federated.job_path.write_bytes(federated.planned(**asked))
    return federated


def paths(federated, *sites):
    return [federated.root / f"{site}.mooring" for site in sites or federated.sites]


@pytest.fixture(scope="module")
def noised(images, tmp_path_factory):
    federated = federation(images, tmp_path_factory.mktemp("noise") / "desk", PRIVATE)
    for site in federated.sites:
        federated.train(site)
    return federated


@pytest.fixture(scope="module")
def secure(images, tmp_path_factory):
    federated = federation(images, tmp_path_factory.mktemp("secure") / "desk", sites=FOUR, secure_images=10**6)
    for site in federated.sites:
        federated.train(site)
    return federated


class TestNoise:
    def test_manifest_job_and_model_say_epsilon_and_delta(self, noised):
        [part] = noised.job.work.needs
        told = read_upload(noised.root / "north.mooring").manifest.privacy
        assert told == {"epsilon": 8.0, "delta": 1e-5, "sigma": part.privacy.sigma}
        assert "fusion.privacy.epsilon=8" in noised.job.manifest.method
        made = noised.fuse(*paths(noised))
        [words] = load_model(made.path).provenance.protections
        assert "epsilon 8, delta 1e-05" in words
        assert made.fused.predictor.confidence == "score"

    def test_no_number_of_images_leaves_the_site_without_noise(self, noised):
        """North has 14, 6, 20 and 9 images."""
        file = read_upload(noised.root / "north.mooring")
        [counts] = [tensor for name, tensor in file.upload.tensors.items() if name.endswith(".counts")]
        assert file.manifest.samples == max(1, round(counts.sum().item()))
        assert not torch.equal(counts, counts.round())
        assert not file.manifest.small_classes
        assert file.manifest.metrics == {}

    def test_training_again_gives_the_same_noise_and_other_images_fresh_noise(self, noised):
        first = read_upload(noised.root / "south.mooring").upload.tensors
        again = read_upload(noised.train("south", name="again.mooring")).upload.tensors
        assert all(torch.equal(first[name], again[name]) for name in first)

    def test_noise_cannot_be_computed_from_what_the_coordinator_knows(self, noised):
        """Two sites with the same images, job and seed draw other noise: it is their key that decides."""
        job = noised.job
        other = replace(noised.identity("north"), key=noised.identity("south").key)
        from mooring.federation._privacy import with_noise_of

        keys = {
            next(iter(with_noise_of(job.work, job.sha256, identity.key).needs)).key
            for identity in (noised.identity("north"), other)
        }
        assert len(keys) == 2
        assert with_noise_of(job.work, job.sha256, other.key).sha256 == job.work.sha256

    def test_the_log_adds_up_what_several_jobs_tell(self, noised, images, tmp_path):
        log, job = noised.log("east"), noised.job
        once = privacy_spent(log.entries())
        assert (once.uploads, once.bare, once.delta) == (1, 0, 1e-5)
        assert once.epsilon == pytest.approx(8)
        noised.train("east", name="again.mooring")  # the same numbers
        assert privacy_spent(log.entries()) == once
        [first] = [entry.noise for entry in log.entries() if entry.noise][:1]
        twice = preview(job, folder_of(job, "east", noised.data("east")), log).budget
        assert (twice.uploads, twice) == (2, together([first, replace(first, numbers="x")]))
        assert once.epsilon * 2**0.5 < twice.epsilon < 2 * once.epsilon
        halved = gaussian_sigma(twice.epsilon, twice.delta)
        assert halved == pytest.approx(first.sigma / 2**0.5)
        assert "2 uploads under noise: together epsilon" in twice.sentence
        bare = together([first], bare=1).sentence
        assert bare.endswith("and 1 upload without noise, which no epsilon covers")

    def test_check_inspect_and_log_say_the_total(self, noised, cli, monkeypatch):
        monkeypatch.setenv("MOORING_HOME", str(noised.root / "home-north"))
        job, file = noised.job_path, noised.root / "north.mooring"
        code, out, _ = cli("train", job, "--data", noised.data("north"), "--site", "north", "--check")
        assert (code, "would have sent 2 uploads under noise" in " ".join(out.split())) == (0, True)
        assert "1 upload under noise: together epsilon 8" in " ".join(cli("inspect", file)[1].split())
        assert "1 upload under noise: together epsilon 8" in " ".join(cli("log")[1].split())
        monkeypatch.setenv("MOORING_HOME", str(noised.root / "home"))
        assert "under noise: together" not in " ".join(cli("inspect", file)[1].split())

    def test_words_of_other_fusions_are_rejected(self):
        from mooring.config import load

        with pytest.raises(ConfigError, match="privacy"):
            load(None, ["method=afl", PRIVATE])


class TestSecureSum:
    def test_the_model_is_that_of_the_open_sum_to_the_quantisation(self, images, secure, tmp_path):
        plain = federation(images, tmp_path / "open", sites=FOUR)
        for site in plain.sites:
            plain.train(site)
        secret, known = (each.fuse(*paths(each)).fused for each in (secure, plain))
        shown = ImageFolder(str(images / "north"), size=16, channels=1).train().images[:20]
        torch.testing.assert_close(secret.predictor(shown), known.predictor(shown), atol=1e-4, rtol=1e-4)
        assert secret.images_per_class == known.images_per_class
        assert max(list(summing(secure.job).step.values())[1:]) < 1e-6

    def test_what_a_site_sends_says_nothing_and_not_even_how_many_images(self, secure):
        file = read_upload(secure.root / "north.mooring")
        assert file.manifest.masked
        assert file.manifest.samples is None
        assert all(tensor.dtype == torch.int64 for tensor in file.upload.tensors.values())
        [counts] = [tensor for name, tensor in file.upload.tensors.items() if name.endswith(".counts")]
        assert (counts.abs() > 2**40).all()

    def test_a_missing_site_stops_it_until_all_others_have_revealed_their_masks(self, secure):
        left = ("north", "south", "west")
        three = paths(secure, *left)
        with pytest.raises(FederationError, match="east missing, and north, south, west has not revealed"):
            secure.fuse(*three)
        revealed = [secure.root / f"{site}.recovery.mooring" for site in left]
        for site, path in zip(left, revealed, strict=True):
            write_recovery(secure.job, site, ["east"], secure.identity(site), secure.log(site), path)
        with pytest.raises(FederationError, match="east missing, and south, west has not revealed"):
            secure.fuse(*three, revealed[0])
        made = secure.fuse(*three, *revealed, out="three.mooring")
        assert sum(made.fused.images_per_class) == 116  # 49 of north, 35 of south and 32 of west
        assert {row.site: row.verdict for row in made.fused.decisions}["east"] == "missing"
        assert secure.log("north").entries()[-1].action == "revealed"

    def test_a_recovery_is_for_the_coordinator_alone_and_of_this_job_alone(self, secure, images, tmp_path):
        path = tmp_path / "north.recovery.mooring"
        write_recovery(secure.job, "north", ["east"], secure.identity("north"), secure.log("north"), path)
        held = decode_container(path.read_bytes(), "recovery")
        assert b"east" not in held.payload
        assert json.dumps(held.manifest).count("east") == 1  # the name, not the seed
        other = federation(images, tmp_path / "other", sites=FOUR, secure_images=10**6)
        for site in ("north", "south", "west"):
            other.train(site)
        with pytest.raises(FederationError, match="is not a recovery file of a site of this job"):
            other.fuse(*paths(other, "north", "south", "west"), path)

    def test_only_a_site_of_a_secure_job_reveals_and_never_about_itself(self, secure, images, tmp_path):
        north, log = secure.identity("north"), secure.log("north")
        with pytest.raises(FederationError, match="is this site itself"):
            write_recovery(secure.job, "north", ["north"], north, log, tmp_path / "x")
        with pytest.raises(FederationError, match="names another key"):
            write_recovery(secure.job, "south", ["east"], north, log, tmp_path / "x")
        plain = federation(images, tmp_path / "open")
        with pytest.raises(FederationError, match="nothing is masked"):
            write_recovery(plain.job, "north", ["east"], plain.identity("north"), log, tmp_path / "x")

    def test_noise_and_masks_do_not_go_together_yet(self, images, tmp_path):
        with pytest.raises(FederationError, match="not combined with --epsilon"):
            federation(images, tmp_path / "both", PRIVATE, secure_images=10**6)


def test_a_key_may_be_given_as_a_file_and_the_commands_say_what_they_grant(cli, images, monkeypatch, tmp_path):
    monkeypatch.setenv("MOORING_HOME", str(tmp_path / "home"))
    assert cli("keys", "--out", "site.key")[0] == 0
    others = [f"--key={site}={own_identity(tmp_path / site).public}" for site in ("south", "east")]
    sites = ["--key=north=site.key", *others, "--sites=north,south,east"]
    small = ["--size=16", "--channels=1", "encoder.filters=4", f"--classes={','.join(CLASSES)}"]
    code, out, err = cli("plan", *small, *sites, "--secure-sum", "--out=secure.mooring")
    assert code == 0, err
    assert "secure sum" in out
    code, out, err = cli("plan", *small, *sites, "--epsilon=3", "--delta=1e-6", "--out=noise.mooring")
    assert code == 0, err
    assert "epsilon 3, delta 1e-06" in " ".join(out.split())
    assert cli("train", "noise.mooring", f"--data={images / 'north'}", "--site=north", "--yes")[0] == 0
    code, out, _ = cli("inspect", "north.mooring")
    assert "epsilon 3" in out
    assert "under noise" in out
    code, _, err = cli("plan", *small, *sites, "--epsilon=-3")
    assert code == 2
    assert "epsilon=-3.0: must be above 0" in err


def test_a_sum_of_all_leaves_no_site_out(secure):
    with pytest.raises(FederationError, match="south missing"):
        secure.fuse(*paths(secure), terms=Terms(without=("south",)))
