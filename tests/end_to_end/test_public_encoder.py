"""An encoder that the server trains on public images travels with the job; everything else is sums."""

import json
from pathlib import Path

import pytest
import torch

from mooring import fuse, load, run_experiment
from mooring.errors import MooringError
from mooring.execution._prepare import point_to_encoder
from mooring.fusion import decode_predictor, encode_predictor
from mooring.fusion._base import Server
from mooring.models._feature_maps import Pixels, PublicEncoder, RandomFilters
from mooring.record import RunFolder

SHORT = ("method=public-encoder", "encoder.epochs=1", "encoder.beside.filters=16", "data.limit=400")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public") / "run"
    (experiment,) = load(overrides=[*SHORT, "engine.workers=1", f"out={folder}"])
    return experiment, run_experiment(experiment), folder


def test_the_encoder_is_a_download_named_by_the_job_and_the_same_for_any_number_of_workers(finished, tmp_path):
    _, one, folder = finished
    (experiment,) = load(overrides=[*SHORT, "engine.workers=2", f"out={tmp_path / 'two'}"])
    two = run_experiment(experiment)
    assert one.download_bytes == (folder / "encoder.safetensors").stat().st_size
    assert one.files["encoder.safetensors"] == two.files["encoder.safetensors"]
    assert one.job_sha256 == two.job_sha256
    assert [upload.sha256 for upload in one.uploads] == [upload.sha256 for upload in two.uploads]
    assert one.partition.public == 40
    assert all(upload.round == 0 for upload in one.uploads)


def test_another_encoder_is_another_job_and_another_name_on_the_wire(finished, tmp_path):
    _, one, folder = finished
    (experiment,) = load(overrides=[*SHORT, "seed=2", "engine.workers=1", f"out={tmp_path / 'other'}"])
    other = run_experiment(experiment)
    assert other.job_sha256 != one.job_sha256
    names = [
        set(RunFolder(where).upload(result.uploads[0]).tensors)
        for where, result in ((folder, one), (tmp_path / "other", other))
    ]
    assert names[0].isdisjoint(names[1])


def test_fusing_again_finds_the_encoder_in_the_folder(finished):
    experiment, result, folder = finished
    (row,) = fuse(folder, [experiment.method.fusion])
    assert (row.accuracy, row.track) == (result.accuracy, "public")
    assert sum(upload.bytes for upload in result.uploads) == row.upload_bytes  # nothing was computed once more


def test_an_encoder_that_is_there_is_taken_and_asks_for_no_public_images(finished, tmp_path):
    experiment, _, folder = finished
    head = point_to_encoder(experiment.method.fusion, folder / "encoder.safetensors")
    assert (experiment.method.fusion.asks, head.asks) == (frozenset({"public"}), frozenset())
    assert point_to_encoder(head, tmp_path / "another.safetensors") == head
    assert point_to_encoder(experiment.method.fusion, tmp_path / "none.safetensors") == experiment.method.fusion


def test_a_saved_predictor_carries_the_encoder(finished, tmp_path):
    from mooring.execution import prepare
    from mooring.fusion import fuse as fused

    experiment, result, folder = finished
    federation, job = prepare(experiment)
    head = point_to_encoder(experiment.method.fusion, folder / "encoder.safetensors")
    uploads = [RunFolder(folder).upload(record) for record in result.uploads]
    predictor = fused(head, uploads, Server(job.blueprint))
    loaded = decode_predictor(encode_predictor(predictor)).predictor
    assert loaded.map.path.startswith("sha256:")
    images = federation.train.images[:10]
    assert torch.equal(loaded(images), predictor(images))


def test_what_stands_beside_is_a_choice(make_job, tmp_path):
    blueprint = make_job().blueprint
    alone = PublicEncoder(beside=None).size(blueprint)
    assert alone == 4 * (16 + 16 + 32)  # stem and two blocks, four regions
    assert PublicEncoder(beside=Pixels()).size(blueprint) == alone + 64
    assert PublicEncoder(beside=RandomFilters(2)).size(blueprint) == alone + 16


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["data.public_ratio=0"], "fusion=linear-head: needs public images and this run has none"),
        (["encoder.epochs=0"], "method.fusion.map.epochs=0: must be 1 or more"),
    ],
)
def test_what_cannot_be_is_rejected(cli, words, told):
    code, _, err = cli("run", *SHORT[:1], *words, "out=here")
    assert code == 2
    assert told in err
    assert not Path("here").exists()


def test_another_rule_over_the_untrained_map_says_what_trains_it(make_job):
    with pytest.raises(MooringError, match="map=public-encoder: it has not been trained; run method=public-encoder"):
        PublicEncoder().build(make_job().blueprint)


def test_its_progress_is_told(cli, tmp_path):
    code, out, _ = cli("run", *SHORT, "engine.workers=1", "out=here", "--json")
    assert code == 0
    assert json.loads(out)["download_bytes"] > 0
