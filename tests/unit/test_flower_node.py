"""What a node does when it is asked, without a network: verify first, train once, send the same bytes for ever."""

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mooring.config import load
from mooring.errors import FederationError
from mooring.events import ClientRecord, ClientResumed, silent
from mooring.federation._container import decode_container
from mooring.federation._job_file import read_job
from mooring.federation._keys import own_identity
from mooring.federation._log import Log
from mooring.federation._plan import plan
from mooring.federation._train import approve, folder_of, train_site
from mooring.federation._upload_file import read_upload
from mooring.flower_app._keys import make_keys
from mooring.flower_app._node import Node, job_for, node_of, upload_for
from mooring.uploads._codec import encode

SETTINGS = ("method=v7", "model=digits_net", "data.source=image_folder", "data.size=8", "data.channels=1")
SHORT = ("training.rounds=2", "training.local_epochs=1", "training.snapshots=last")


@pytest.fixture
def job_bytes(tmp_path):
    [experiment] = load(None, [*SETTINGS, *SHORT])
    data, _ = plan(experiment, ["a", "b"], ["north", "south"], own_identity(tmp_path / "coordinator"), minimum=5)
    return data


@pytest.fixture
def node(tmp_path):
    """North, with eight images of each class, that obeys the coordinator."""
    for label, grey in (("a", 40), ("b", 200)):
        folder = tmp_path / "images" / label
        folder.mkdir(parents=True)
        for number in range(8):
            pixels = np.random.default_rng(number).integers(grey - 30, grey + 30, (8, 8)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
    coordinator = own_identity(tmp_path / "coordinator").public
    return Node("north", str(tmp_path / "images"), coordinator, str(tmp_path / "home"))


def trainings(node):
    return [entry.action for entry in Log(node.place).entries()].count("trained")


def test_a_repeated_question_is_answered_with_the_same_bytes_and_no_training(node, job_bytes, tmp_path):
    first = upload_for(node, job_for(node, job_bytes))
    again = upload_for(node, job_for(node, job_bytes))
    assert first == again
    assert trainings(node) == 1
    (tmp_path / "north.mooring").write_bytes(first)
    assert read_upload(tmp_path / "north.mooring").manifest.site == "north"


def test_an_upload_that_is_damaged_on_the_nodes_disk_is_made_again(node, job_bytes):
    job = job_for(node, job_bytes)
    first = upload_for(node, job)
    [path] = (node.place / "flower").glob("*.mooring")
    path.write_bytes(first[:-1])
    assert len(upload_for(node, job)) == len(first)
    assert trainings(node) == 2


def test_a_job_of_another_key_is_rejected_before_anything_is_read(node, job_bytes, tmp_path):
    stranger = own_identity(tmp_path / "stranger").public
    with pytest.raises(FederationError, match="and the coordinator of this node is"):
        job_for(replace(node, coordinator=stranger, data="/nowhere"), job_bytes)
    with pytest.raises(FederationError, match="was changed after it was signed"):
        job_for(node, job_bytes[:-1] + bytes([job_bytes[-1] ^ 1]))
    assert not (node.place / "flower").exists()


def test_without_a_coordinator_only_what_the_site_has_approved_is_trained(node, job_bytes, tmp_path):
    careful = replace(node, coordinator="")
    with pytest.raises(FederationError, match="was not approved at the site; run `mooring approve JOB`"):
        job_for(careful, job_bytes)
    (tmp_path / "job.mooring").write_bytes(job_bytes)
    approve(read_job(tmp_path / "job.mooring"), Log(node.place))
    assert job_for(careful, job_bytes).site_names == ("north", "south")


def test_a_site_that_the_job_does_not_name_is_rejected(node, job_bytes):
    with pytest.raises(FederationError, match="site 'west': is not in this job"):
        job_for(replace(node, name="west"), job_bytes)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, "--node-config name: is required and missing; --node-config data: is required and missing; flower-"),
        ({"name": "north"}, "--node-config data: is required and missing"),
        ({"name": "north", "dta": "x"}, "--node-config dta=x: unknown key; did you mean 'data'?"),
        ({"name": "north", "data": 3}, "--node-config data=3: must be text"),
        ({"name": "north", "data": "x", "coordinator": "me"}, "coordinator='me': is not a public key"),
    ],
)
def test_a_mistake_in_the_nodes_configuration_is_one_line(config, problem):
    with pytest.raises(FederationError) as error:
        node_of(config)
    assert problem in str(error.value)


def test_a_node_killed_in_training_goes_on_from_its_state(node, job_bytes):
    job, calm = job_for(node, job_bytes), replace(node, home=f"{node.home}-calm")
    whole = upload_for(calm, job_for(calm, job_bytes))

    def kill(event):
        if isinstance(event, ClientRecord) and event.round == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upload_for(node, job, kill)
    told = []
    after = upload_for(node, job, told.append)
    assert [event.round for event in told if isinstance(event, ClientResumed)] == [1]
    assert tensors_of(after) == tensors_of(whole)


def test_a_node_killed_between_its_training_and_its_file_still_has_something_to_send(node, job_bytes):
    job = job_for(node, job_bytes)
    site = folder_of(job, "north", Path(node.data))
    upload, _ = train_site(job, site, site.shard(), node.place, silent)
    again, _ = train_site(job, site, site.shard(), node.place, silent)
    assert encode(upload) == encode(again)


def tensors_of(data):
    """The payload: codec bytes, without the manifest that tells when it was made."""
    return decode_container(data, "upload").payload


def test_keys_for_a_federation_are_private_and_never_written_over(tmp_path, monkeypatch):
    pytest.importorskip("cryptography", reason="Flower: the extra flower is not installed")
    monkeypatch.setenv("MOORING_HOME", str(tmp_path / "me"))
    made = make_keys(tmp_path / "keys", ["north", "south"], "127.0.0.1", 8123)
    for name in ("superlink.key", "north/key", "south/key"):
        assert stat.S_IMODE((made.folder / name).stat().st_mode) == 0o600
    assert (made.folder / "north/key.pub").read_bytes().startswith(b"ecdsa-sha2-nistp384 ")
    assert 'address = "127.0.0.1:8123"' in (made.home / "config.toml").read_text()
    assert (made.folder / "coordinator.pub").read_text() == own_identity(tmp_path / "me").public
    with pytest.raises(FederationError, match="is not empty; choose another folder"):
        make_keys(tmp_path / "keys", ["north"])
