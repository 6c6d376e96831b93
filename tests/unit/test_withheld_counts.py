"""A federation whose sites do not tell how many images they have."""

import json
from dataclasses import replace

import pytest
import torch
from federated import CLASSES, JOB_WORDS, Federated, write_sites

from mooring.config import load
from mooring.errors import FederationError
from mooring.federation._container import decode_container
from mooring.federation._job_file import read_job
from mooring.federation._model_file import load_model
from mooring.federation._plan import plan
from mooring.federation._train import folder_of, preview
from mooring.federation._upload_file import encode_file, read_upload
from mooring.federation._withheld_counts import BATCHES, without_counts
from mooring.reports._models import model_card
from mooring.uploads._codec import Limits, header_facts, header_of

SHORT = ("training.rounds=1", "training.local_epochs=1", "training.batch_size=8", "data.size=8", "data.channels=1")
IMAGES = {"north": (6, 6, 7, 0), "south": (9, 5, 0, 8)}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("withheld")
    write_sites(root / "images", IMAGES, side=8)
    federated = Federated(root, tuple(IMAGES), ("method=v7", *SHORT))
    federated.job_path.write_bytes(federated.planned(counts="withheld"))
    for site in IMAGES:
        federated.train(site)
    return federated


@pytest.fixture(scope="module")
def model(made):
    return made.fuse(made.root / "north.mooring", made.root / "south.mooring")


def test_no_count_is_anywhere_in_the_file(made):
    """Nor what follows from one: an accuracy is a ratio of counts, and a batch norm counts its batches."""
    data = (made.root / "north.mooring").read_bytes()
    held = decode_container(data, "upload")
    assert (held.manifest["samples"], held.manifest["metrics"], held.manifest["small_classes"]) == (None, {}, False)
    assert header_facts(header_of(held.payload, Limits(), "upload"), "upload")["samples"] == 0
    tensors = read_upload(made.root / "north.mooring").upload.tensors
    counters = [tensor for tensor in tensors.values() if not tensor.is_floating_point()]
    assert counters
    assert all(int(tensor) == 0 for tensor in counters)


def test_what_was_learned_is_as_if_counts_were_told(made, tmp_path):
    """Only counters differ from the upload of the same job with counts."""
    told = tmp_path / "told.mooring"
    told.write_bytes(made.planned())
    open_ = read_upload(made.train("north", read_job(told), name="told-north.mooring")).upload
    closed = read_upload(made.root / "north.mooring").upload
    assert open_.samples == sum(IMAGES["north"])
    assert any(name.endswith(BATCHES) and int(tensor) for name, tensor in open_.tensors.items())
    for name, tensor in without_counts(open_).tensors.items():
        assert torch.equal(tensor, closed.tensors[name]), name


def test_every_site_weighs_the_same_and_nobody_is_told_more(made, model):
    """Feature ensembles weigh clients by their shares of the images; here all shares are one half."""
    assert [(row.verdict, row.samples, row.weight) for row in model.fused.decisions] == [("used", None, None)] * 2
    found = load_model(model.path)
    assert found.predictor.shares.tolist() == [0.5, 0.5]
    assert [(site.samples, site.weight) for site in found.provenance.sites] == [(None, None)] * 2
    assert "no site says how many images it has" in found.provenance.protections[0]
    card = model_card(found)
    assert "counts withheld" in card
    assert "| north | withheld | – |" in card
    assert "training images" not in card


def test_a_site_that_tells_its_counts_all_the_same_is_set_aside(made, tmp_path):
    file = read_upload(made.root / "north.mooring")
    inside = replace(file.upload, samples=19)
    lie = encode_file(replace(file.manifest, samples=19), inside, made.identity("north").key)
    (tmp_path / "lie.mooring").write_bytes(lie)
    done = made.fuse(tmp_path / "lie.mooring", made.root / "south.mooring", out="one.mooring")
    [reason] = [row.reason for row in done.fused.decisions if row.verdict == "set aside"]
    assert reason == "it contains counts, which the job withholds"


def test_a_check_says_what_is_withheld(made):
    found = preview(made.job, folder_of(made.job, "north", made.data("north")))
    assert found.reveals[-1] == "not how many images there are, nor what training measured: the job withholds counts"


def test_what_is_computed_with_cannot_be_withheld(made):
    for words, reason in (
        (["method=mooring", "encoder=none"], r"mooring computes with them \(it uploads moments\); so do .*fedproto"),
        (["method=regmean"], r"regmean computes with them \(it uploads grams\)"),
        (["method=v7", "fusion=class-expert"], r"v7 computes with them \(it uploads label-counts\)"),
    ):
        (experiment,) = load(None, [*JOB_WORDS, *words, "data.size=8", "data.channels=1"])
        with pytest.raises(FederationError, match=f"--withhold-counts: {reason}"):
            plan(experiment, CLASSES, ("a", "b"), made.coordinator.identity, counts="withheld")
    with pytest.raises(FederationError, match="a secure sum hides every site's counts"):
        made.planned(counts="withheld", secure_images=1000)


def test_inspect_copes_with_what_is_withheld(made, model, cli):
    code, out, _ = cli("inspect", made.root / "north.mooring", "--json")
    rows = dict(json.loads(out)["rows"])
    assert (code, rows["images"]) == (0, "withheld: the file does not tell how many there are")
    assert "of each class" not in rows
    rows = json.loads(cli("inspect", model.path, "--json")[1])["rows"]
    assert [row for row in rows if not row[0]] == [["", "north: images withheld"], ["", "south: images withheld"]]
    assert not any(row[0] == "images" for row in rows)
    code, out, _ = cli("inspect", made.job_path)
    assert (code, "withheld" in out) == (0, True)
