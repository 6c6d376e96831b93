"""The same command and seed write the same files: a change of the code must not change them.

Equal on every machine: experiment.yaml, fingerprints, jobs, partitions, keys and types of result.json, and the tensors
of uploads by name, type and shape. Equal on a machine whose bytes were recorded: uploads and all numbers of
result.json. `golden_runs.py` says how to record them.
"""

import json
from hashlib import sha256

import pytest
from golden_runs import (
    BANK,
    EXPECTED,
    METHODS,
    equal_everywhere,
    equal_on_one_machine,
    fingerprints,
    flat,
    golden_run,
    machine,
)

RECORDED = json.loads(EXPECTED.read_text("utf-8"))


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """The folder of a method's run; every method runs once."""
    folders = {}

    def folder(method):
        if method not in folders:
            folders[method] = golden_run(method, tmp_path_factory.mktemp("golden"))
        return folders[method]

    return folder


def assert_same(found, expected):
    """Every value, by its path, and the order of keys: it decides bytes too."""
    assert flat(found) == flat(expected)
    assert list(flat(found)) == list(flat(expected))


@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_depend_on_the_machine_is_the_same(method, folder_of):
    assert_same(equal_everywhere(method, folder_of(method)), RECORDED["everywhere"][method])


@pytest.mark.parametrize("method", METHODS)
def test_uploads_and_results_are_the_same_to_the_last_bit(method, folder_of):
    if machine() not in RECORDED["machines"]:
        pytest.skip(f"exact bytes of uploads and results: none are recorded for {machine()}")
    assert_same(equal_on_one_machine(folder_of(method)), RECORDED["machines"][machine()][method])


@pytest.mark.parametrize("method", METHODS)
def test_a_result_is_laid_out_as_before(method, folder_of):
    text = (folder_of(method) / "result.json").read_bytes().decode("utf-8")
    assert text == json.dumps(json.loads(text), indent=1) + "\n"


@pytest.mark.parametrize("method", [method for method in METHODS if method not in BANK])
def test_a_result_names_its_job_by_the_hash_of_the_text(method, folder_of):
    result = json.loads((folder_of(method) / "result.json").read_text("utf-8"))
    assert result["job_sha256"] == sha256(RECORDED["everywhere"][method]["job"].encode()).hexdigest()


def test_every_choice_has_the_same_fingerprint_and_configuration(tmp_path, monkeypatch):
    """Methods, and fusions, weightings, losses and other parts beside a method; new ones may be added."""
    monkeypatch.chdir(tmp_path)
    found = fingerprints()
    assert {settings: found.get(settings) for settings in RECORDED["fingerprints"]} == RECORDED["fingerprints"]
