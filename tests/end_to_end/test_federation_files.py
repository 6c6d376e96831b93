"""Three sites in three processes with homes of their own and no network: the same bytes as a simulation."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from federated import CHEAP, CLASSES, IMAGES, write_sites

import mooring
from mooring import load, run_experiment
from mooring.data._image_tree import divide, list_classes
from mooring.federation._container import read_container
from mooring.federation._job_file import read_job
from mooring.federation._keys import HOME, own_identity

SITES = sorted(IMAGES)
HELD_OUT = 0.2
KEYS = [word for site in "nse" for word in ("--key", f"{site}={ord(site):02x}" + "ab" * 31)]
SECURE_AND_NOISED = ("plan", "--classes", "a,b", "--sites", "n,s,e", "--size", 16, *KEYS, "--secure-sum", "--epsilon=3")
COMMAND = "import sys; from mooring.cli import program; program()"


def no_network() -> list[str]:
    """What runs a command without any network, where the system lets a test do that."""
    for words in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return words
        except OSError:
            break
    return []


def at_site(site: str, here: Path, *words: str) -> "subprocess.Popen[str]":
    """A command at a site: another process, another home, no network."""
    sources = str(Path(mooring.__file__).parents[1])
    settings = {HOME: str(here / f"home-{site}"), "PYTHONPATH": sources, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [*no_network(), sys.executable, "-c", COMMAND, *words],
        cwd=here,
        env=os.environ | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def simulated(tmp_path_factory) -> Path:
    """A simulated run of all sites in one process, and the folders it read: everybody/<site>/<class>/*."""
    root = tmp_path_factory.mktemp("simulated")
    write_sites(root / "everybody")
    words = ["data.layout=sites", f"data.held_out={HELD_OUT}", f"data.root={root / 'everybody'}", "partition=sites"]
    words += ["data.source=image_folder", "engine.workers=1", f"out={root / 'run'}"]
    (experiment,) = load(None, ["method=mooring", "training.snapshots=last", *CHEAP, *words])
    run_experiment(experiment)
    return root


def test_by_file_or_in_one_process_the_model_is_the_same_to_the_byte(simulated, cli, tmp_path):
    everybody = simulated / "everybody"
    files = [file for site in SITES for file in list_classes(everybody / site, Counter(), site)]
    for file in divide(files, everybody, HELD_OUT)[0]:  # what the simulation trains on is what the sites have
        own = tmp_path / "images" / file.path.relative_to(everybody)
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file.path, own)
    public = {site: own_identity(tmp_path / f"home-{site}").public for site in SITES}
    keys = [word for site in SITES for word in ("--key", f"{site}={public[site]}")]
    names = ["--classes", ",".join(CLASSES), "--sites", ",".join(SITES), *keys]
    code, out, err = cli("plan", *names, "--size", 16, "--channels", 1, "--minimum", 5, "encoder.filters=8")
    assert code == 0, err
    assert "3 with a key" in out
    working = [
        at_site(
            *(site, tmp_path, "train", "job.mooring", "--data", f"images/{site}"),
            *("--site", site, "--yes", "--accept-disclosure"),
        )
        for site in SITES
    ]
    for process in working:
        _, told = process.communicate()
        assert process.returncode == 0, told
    code, out, err = cli("fuse-files", "job.mooring", *(f"{site}.mooring" for site in SITES), "--need", 3)
    assert code == 0, err
    assert out.count("used") == 3
    assert "heads from the same sums" in out
    assert "within-class (own)" in out
    for number, site in enumerate(SITES):
        simulated_upload = simulated / f"run/uploads/round-000/client-{number:04d}.safetensors"
        assert read_container(tmp_path / f"{site}.mooring", "upload").payload == simulated_upload.read_bytes()
    model, run_model = (
        read_container(path, "model") for path in (tmp_path / "model.mooring", simulated / "run/model.mooring")
    )
    assert model.payload == run_model.payload
    assert (model.manifest["origin"], run_model.manifest["origin"]) == ("federation", "simulation")
    code, out, err = cli("log", "--verify")
    assert code == 0, err
    assert "5 lines" in out


@pytest.fixture
def office(cli, tmp_path):
    """One account that plays everybody: a job, images, an upload of north."""
    write_sites(tmp_path / "images", {"north": (6, 5, 8, 0), "south": (5, 5, 5, 5)}, side=16)
    words = ["--classes", ",".join(CLASSES), "--sites", "north,south", "--size", 16, "--channels", 1]
    words += ["--minimum", 5]
    code, _, err = cli("plan", *words, "encoder.filters=8")
    assert code == 0, err
    return cli


def test_a_site_sees_what_it_does_before_and_after(office, tmp_path):
    train = ("train", "job.mooring", "--data", "images/north", "--site", "north")
    code, out, _ = office(*train, "--check")
    assert code == 0
    assert "north would train on 19 images" in out
    assert "how many images of each class the site has" in out
    assert not (tmp_path / "north.mooring").exists()
    assert "not approved" in office(*train)[2]
    assert "images can be rebuilt" in out
    assert office("approve", "job.mooring")[0] == 0
    code, _, err = office(*train)
    assert (code, "--accept-disclosure" in err) == (2, True)
    assert not (tmp_path / "north.mooring").exists()
    train = (*train, "--accept-disclosure")
    assert office(*train)[0] == 0
    assert "exists already" in office(*train)[2]
    assert office(*train, "--again")[0] == 0
    code, out, _ = office("inspect", "north.mooring")
    assert code == 0
    assert "smallest class" in out
    assert "five, 5 images" in out
    assert "what leaves the site" in out
    assert json.loads(office("inspect", "north.mooring", "--json")[1])["kind"] == "upload"
    _, out, _ = office("inspect", "job.mooring")
    assert "a job" in out
    assert "how many images of each class the site has" in out  # what will be uploaded, before anybody approves
    assert "approved" in office("log")[1]
    done = [entry["action"] for entry in json.loads(office("log", "--json")[1])["entries"]]
    assert done == ["planned", "approved", "trained", "trained"]


def test_fuse_says_who_was_set_aside_and_a_late_site_joins(office, tmp_path):
    for site in ("north", "south"):
        code, _, err = office(
            "train", "job.mooring", f"--data=images/{site}", "--site", site, "--yes", "--accept-disclosure"
        )
        assert code == 0, err
    (tmp_path / "broken.mooring").write_bytes(b"MOORING1 and nothing else")
    code, out, err = office("fuse-files", "job.mooring", "north.mooring", "broken.mooring", "--json")
    assert code == 0, err
    assert [(row["site"], row["verdict"]) for row in json.loads(out)["sites"]] == [
        ("north", "used"),
        ("south", "missing"),
        ("broken.mooring", "set aside"),
    ]
    assert "2 are needed" in office("fuse-files", "job.mooring", "north.mooring", "--need", 2)[2]
    code, out, err = office("fuse-files", "--into", "model.mooring", "south.mooring")
    assert code == 0, err
    assert out.count("used") == 2
    code, out, err = office("fuse-files", "--into", "model.mooring", "--without", "north")
    assert code == 0, err
    assert "left out" in out
    for words, told in (
        (("fuse-files",), "no file is named"),
        (("fuse-files", "job.mooring", "north.mooring", "--fusion", "analytic"), "no such option: --fusion"),
        (("fuse-files", "."), "fuse a run with: mooring fuse ."),
        (("fuse-files", "nothing.mooring", "north.mooring"), "cannot be read"),
        (("fuse-files", "--into", "model.mooring"), "nothing is to change"),
        (("train", "north.mooring", "--data", ".", "--site", "north"), "is an upload, not a job"),
        (("plan", "--classes", "a,b", "--sites", "n", "--key", "n"), "must be SITE=KEY"),
        (("plan", "--classes", "a,b", "--sites", "n", "--method", "v4,v7"), "one method"),
        (SECURE_AND_NOISED, "not combined with --epsilon"),
        (("inspect", "images"), "not a regular file"),
    ):
        code, _, err = office(*words)
        assert code == 2, words
        assert told in err
        assert len(err.splitlines()) == 1


def test_the_method_of_a_job_can_be_a_setting_too(cli, tmp_path):
    words = ("plan", "--classes", "a,b", "--sites", "north", "--size", 16, "--channels", 1)
    assert cli(*words, "method=v7", "--out", "word.mooring")[0] == 0
    assert cli(*words, "--method=v7", "--out", "option.mooring")[0] == 0
    assert len({read_job(tmp_path / f"{name}.mooring").work for name in ("word", "option")}) == 1
    code, _, err = cli(*words, "--method=v4", "method=v7")
    assert (code, "method=v4 and method=v7: give the same key twice" in err) == (2, True)


def test_a_setting_says_more_of_what_an_option_names(cli):
    """`--encoder none` chose the map anew and dropped a setting of it that stood on the same line."""
    names = ("plan", "--classes", "a,b", "--sites", "north", "--size", 16, "--channels", 1, "--encoder", "none")
    assert cli(*names, "encoder.filters=8")[0] == 0
    assert {part.map.filters for part in read_job(Path("job.mooring")).work.needs} == {8}


def test_names_are_text_wherever_they_are_shown(cli, tmp_path):
    """Formulas, markup and scripts are names of classes like others: nobody computes, colours or runs them."""
    names = ("=1+1", "<script>alert(1)", "[red]x")
    write_sites(tmp_path / "images", {"north": (5, 6, 7, 0)}, side=16)
    for label, own in zip(CLASSES, names, strict=False):
        (tmp_path / "images/north" / label).rename(tmp_path / "images/north" / own)
    words = ["--sites", "north", "--size", 16, "--channels", 1, "--minimum", 5, "encoder.filters=8"]
    assert cli("plan", "--classes", ",".join(names), *words)[0] == 0
    code, out, err = cli("train", "job.mooring", "--data", "images/north", "--site", "north", "--check")
    assert code == 0, err
    assert all(name in out for name in names)
    train = ("train", "job.mooring", "--data", "images/north", "--site", "north", "--yes", "--accept-disclosure")
    assert cli(*train)[0] == 0
    assert "[red]x 7" in cli("inspect", "north.mooring")[1]
    page = ("--report", "page.html", "--data", "images/north")
    code, out, err = cli("fuse-files", "job.mooring", "north.mooring", *page)
    assert code == 0, err
    assert "<script>alert" not in (tmp_path / "page.html").read_text("utf-8")
    assert cli("predict", "model.mooring", "images/north", "--csv", "out.csv")[0] == 0
    assert "'=1+1" in (tmp_path / "out.csv").read_text("utf-8")
    assert "\n=1+1" not in (tmp_path / "out.csv").read_text("utf-8")
