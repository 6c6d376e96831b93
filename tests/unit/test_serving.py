"""A model over HTTP: what is asked is answered, what is hostile is refused in clear words, and Ctrl-C ends it."""

import json
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from medical_files import write_dicom
from models import TOLD, model, write_held_out
from PIL import Image
from served import LIMITS, PNG, SHA256, Served, picture, served

from mooring.data import ImageBytes, decode_image
from mooring.errors import ConfigError
from mooring.federation import save_model
from mooring.serving import listen

HOME = Path(__file__).parents[2]
COMMAND = "from mooring.cli import program; program()"
FORM = {"Content-Type": "multipart/form-data; boundary=x"}
PARTS = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n" * 2000 + b"--x--"


@pytest.fixture(scope="module")
def loaded():
    return model(TOLD)


@pytest.fixture(scope="module")
def server(loaded):
    with served(loaded) as running:
        yield running


def test_an_image_is_answered_as_the_command_answers_it(server, loaded, cli, tmp_path):
    save_model(tmp_path / "m.mooring", loaded.predictor, loaded.provenance)
    file = sorted(write_held_out(tmp_path / "held", each=1).rglob("*.png"))[0]
    [row] = json.loads(cli("predict", "m.mooring", file, "--json")[1])["predictions"]
    status, found, _ = server.post(file.read_bytes())
    assert status == 200
    assert found["model"] == SHA256
    assert found.keys() == row.keys() - {"file"} | {"model"}
    assert found["class"] == row["class"]
    assert all(found[name] == pytest.approx(row[name]) for name in ("probability", "all", "unusualness", "nearest"))


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "words"),
    [
        ("POST", "/predict", b"x" * (LIMITS.bytes + 1), PNG, 413, "more than 100 kB"),
        ("POST", "/predict", (b"x" * 60_000 for _ in range(3)), PNG, 413, "more than 100 kB"),  # of no announced size
        ("POST", "/predict", picture()[:60], PNG, 422, "cannot be read as an image"),
        ("POST", "/predict", b"%PDF-1.7", PNG, 422, "cannot be read as an image"),
        ("POST", "/predict", picture((2000, 2000)), PNG, 422, "2000 x 2000 pixels"),
        ("POST", "/predict", picture(), {"Content-Type": "text/html"}, 415, "Content-Type is text/html"),
        ("POST", "/predict", picture(), {}, 415, "Content-Type is missing"),
        ("POST", "/predict", PARTS, FORM, 415, "Content-Type is multipart/form-data"),
        ("POST", "/predict", b"", PNG, 400, "the body is empty"),
        ("GET", "/predict", None, {}, 405, "method not allowed"),
        ("PUT", "/health", b"x", {}, 405, "method not allowed"),
        ("GET", "/../etc/passwd", None, {}, 404, "not found"),
        ("GET", "/model", None, {"Host": "elsewhere.example"}, 421, "not elsewhere.example"),
    ],
)
def test_what_is_hostile_is_refused_in_clear_words(server, method, path, body, headers, status, words):
    found, answer, fields = server.ask(method, path, body, headers)
    assert (found, words in answer["error"], bool(answer["remedy"])) == (status, True, True), answer
    assert fields["x-content-type-options"] == "nosniff"
    assert server.post(picture())[0] == 200


def test_a_body_that_does_not_come_is_given_up(server):
    with server.half_sent() as connection:
        assert b" 408 " in connection.recv(1000)
    with server.half_sent() as connection:
        connection.close()
    assert server.ask()[:2] == (200, {"status": "ready"})


def test_what_a_class_rests_on_is_a_picture(server):
    status, found, _ = server.ask("POST", "/explain", picture(), PNG)
    assert (status, Image.open(BytesIO(found)).size) == (200, (384, 192))
    assert server.ask("POST", "/explain", b"%PDF-1.7", PNG)[0] == 422


def test_more_images_than_may_wait_are_sent_away(loaded):
    with served(loaded, replace(LIMITS, waiting=1, seconds=20)) as server, server.half_sent():
        status, answer, fields = server.post(picture())
        while status == 200:  # the first request may not have arrived yet
            status, answer, fields = server.post(picture())
        assert (status, answer["error"], fields["retry-after"]) == (503, "1 images are waiting", "1")


def test_of_many_at_once_none_is_lost(server):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: server.post(picture(colour=i))[:2], range(200)))
    assert {status for status, _ in found} == {200}
    assert [answer for _, answer in found[:8]] == [server.post(picture(colour=i))[1] for i in range(8)]


def test_the_description_names_every_address_and_every_refusal(server):
    _, tree, _ = server.ask(path="/openapi.json")
    operations = [(path, method) for path, methods in tree["paths"].items() for method in methods]
    later = [("/card", "get"), ("/health", "get")]
    assert operations == [("/predict", "post"), ("/explain", "post"), ("/model", "get"), *later]
    assert all(server.ask(path=path)[0] == 200 for path, method in operations if method == "get")
    described = tree["paths"]["/predict"]["post"]["responses"]
    assert {"200", "400", "408", "413", "415", "422", "503"} <= described.keys()
    schema = described["200"]["content"]["application/json"]["schema"]
    found = server.post(picture())[1]
    assert set(schema["required"]) <= schema["properties"].keys() == found.keys()
    assert found["class"] in schema["properties"]["class"]["enum"]
    assert server.ask(path="/model")[1]["classes"] == ["one", "seven", "zero"]


def test_a_dicom_image_is_read_from_memory_as_from_its_file(tmp_path):
    pytest.importorskip("pydicom")
    path = write_dicom(tmp_path / "scan.dcm", np.arange(64, dtype=np.uint16).reshape(8, 8), 12, "MONOCHROME2")
    assert (decode_image(ImageBytes(path.read_bytes()), 8, 1) == decode_image(path, 8, 1)).all()


def test_an_address_that_is_taken_is_one_line():
    with listen("127.0.0.1", 0) as taken, pytest.raises(ConfigError, match="cannot listen there"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(ConfigError, match=r"--host nowhere\.invalid"):
        listen("nowhere.invalid", 0)


def test_the_commands_of_the_page_are_answered_and_ctrl_c_ends_the_server_without_a_word(loaded, tmp_path):
    save_model(tmp_path / "hospital_run", loaded.predictor, loaded.provenance)
    page = (HOME / "docs/predicting.md").read_text("utf-8")
    serve, curl = (shlex.split(re.search(f"^{word}.*", page, re.MULTILINE)[0]) for word in ("mooring serve", "curl"))
    words = [sys.executable, "-c", COMMAND, *serve[1:], "--port", "0"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            server = Served(int(process.stdout.readline().split()[0].rpartition(":")[2]))
            assert server.ask("POST", urlsplit(curl[-1]).path, picture(), dict([curl[2].split(": ")]))[0] == 200
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=20) == ("", "")
        finally:
            process.kill()
    assert process.returncode == 0
