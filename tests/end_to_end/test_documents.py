"""The documents keep their word: commands and code run, links lead somewhere, every configuration key is named."""

import os
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

from mooring.config._parse import PART_KINDS
from mooring.data._digits import Digits
from mooring.methods import METHODS
from mooring.methods import _alignment as alignment

HOME = Path(__file__).parents[2]
DOCUMENTS = [HOME / "README.md", HOME / "CONTRIBUTING.md", HOME / "CHANGELOG.md", *sorted(HOME.glob("docs/**/*.md"))]
NETWORK = HOME / "docs/flower.md"  # its commands start servers: test_flower_network.py runs them
FEDERATION = HOME / "docs/federation.md"
PREDICTING = HOME / "docs/predicting.md"
SITES = HOME / "docs/sites.md"
PRIVACY = HOME / "docs/privacy.md"
README = HOME / "README.md"
STORIES = [
    README,
    HOME / "docs/quickstart.md",
    HOME / "docs/compare.md",
    HOME / "docs/report.md",
    SITES,
    FEDERATION,
    PREDICTING,
    PRIVACY,
]  # commands one after the other
QUICK = ("training.rounds=1", "training.local_epochs=1", "engine.workers=1")
FEW = "data.limit=150"  # of the digits; somebody's own images are few
PLAIN_FEATURES = ("encoder=none", "data.channels=1")  # for them: a large encoder has tests of its own
SHORTENED = {"run": (*QUICK, FEW), "sweep": (*QUICK, FEW, "seed=1", "partition.alpha=0.5", "--workers=1")}
FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:.*\n)*?)^```$", re.MULTILINE)


def blocks(document, info):
    return [found["text"] for found in FENCE.finditer(document.read_text("utf-8")) if found["info"].strip() == info]


def commands(document):
    """Every command of the sh blocks, continued lines joined, comments gone."""
    lines = "".join(blocks(document, "sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if shlex.split(line, comments=True)]


def told(document):
    """Every (command, what it prints) of the console blocks."""
    parts = "".join(blocks(document, "console")).split("$ ")[1:]
    return [part.partition("\n")[::2] for part in parts]


def each(what):
    """A test parameter for every such thing in every document."""
    found = [(document, thing) for document in DOCUMENTS for thing in what(document)]
    return [pytest.param(document, thing, id=f"{document.name}-{i}") for i, (document, thing) in enumerate(found)]


@pytest.fixture(scope="session")
def hospitals(tmp_path_factory):
    """Images at two sites, a folder for each class; read them, do not write into them."""
    home = tmp_path_factory.mktemp("images")
    lay_sites(home, Digits().train(), range(60))
    return home


@pytest.fixture
def desk(tmp_path, monkeypatch, hospitals):
    """A reader's folder: the configurations, images at two sites, and the files and methods that the text tells of."""

    def lay(document):
        (tmp_path / "configs").symlink_to(HOME / "configs")
        if document == SITES:
            lay_hospitals(tmp_path, Digits().train(), ("hospitals/north", "hospitals/south", "hospitals/east"))
        elif "hospitals" in document.read_text("utf-8"):
            shutil.copytree(hospitals, tmp_path / "hospitals", copy_function=os.link)
        if document == PREDICTING:
            lay_sites(tmp_path / "held_out", Digits().train(), range(120, 150))
        if document in (FEDERATION, PRIVACY):
            lay_hospitals(tmp_path, Digits().train())
        for text in blocks(document, "python"):
            if named := re.match(r"# (\w+\.py)\n", text):
                (tmp_path / named[1]).write_text(text)
        for text in [*blocks(document, "yaml"), *blocks(document, "text")]:
            if named := re.match(r"# (\w+\.(?:yaml|log))\n", text):
                (tmp_path / named[1]).write_text(text, "utf-8")
        for text in blocks(document, "python entry"):
            for name, method in eval(f"{{{text}}}", dict(vars(alignment))).items():
                monkeypatch.setitem(METHODS, name, method)
        monkeypatch.setattr(sys, "path", list(sys.path))  # where code of the reader's was found, nobody looks later

    yield lay
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)


def lay_sites(root, digits, numbers):
    for i in numbers:
        folder = root / ("north", "south")[i % 2] / digits.classes[digits.labels[i]]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(digits.images[i, 0].numpy()).save(folder / f"{i}.png")


def lay_hospitals(folder, digits, places=("north_images", "south_images", "east_images")):
    """Each hospital's images, one of them with names of its own, and some that nobody trains on."""
    names = {"south_images": ("Normal", "lung_inflammation")}
    for place, start in zip((*places, "held_out"), (0, 25, 45, 60), strict=True):
        for digit, label in enumerate(names.get(place, ("normal", "pneumonia"))):
            own = folder / place / label
            own.mkdir(parents=True)
            for i in (digits.labels == digit).nonzero().flatten().tolist()[start : start + 12 + 3 * digit]:
                Image.fromarray(digits.images[i, 0].numpy()).resize((64, 64)).save(own / f"{i}.png")


def words(command):
    """The arguments behind `mooring`, which finds code of the reader's in the reader's folder by itself."""
    first, *rest = shlex.split(command.removeprefix(home_of(command)), comments=True)
    assert first == "mooring", f"{command!r}: in a sh block only `mooring` and `make`, which the tests can run or check"
    return rest


def home_of(command):
    """`MOORING_HOME=north ` before a command: whose key and log it uses, on a page where one machine plays all."""
    found = re.match(r"MOORING_HOME=[\w-]+ ", command)
    return found[0] if found else ""


def to_run(document):
    return [command for command in commands(document) if not command.startswith("make ")]


def shortened(arguments):
    """The same command with little to do: its own word for a key gives way to ours; another engine has its own keys."""
    unfit = ["engine."] if any(word.startswith("engine=") for word in arguments) else []
    own_images = ("data=", "data.source=", "data.root=", "hospitals")
    unfit += [FEW] if any(word.startswith(own_images) for word in arguments) else []
    ours = [word for word in SHORTENED.get(arguments[0], ()) if not word.startswith(tuple(unfit))]
    if arguments[0] == "run" and {"data.root=hospitals", "hospitals"} & set(arguments):
        ours += PLAIN_FEATURES
    keys = {word.partition("=")[0] for word in ours}
    return [*(word for word in arguments if word.partition("=")[0] not in keys), *ours]


@pytest.fixture
def typed(cli, tmp_path, monkeypatch):
    """A command as the reader types it, shortened; what it prints goes into a file behind `>`."""

    def run(command):
        arguments, home = words(command), home_of(command).partition("=")[2].strip()
        monkeypatch.setenv("MOORING_HOME", str(tmp_path / (home or ".home")))
        file = tmp_path / arguments[-1] if ">" in arguments else None
        code, out, err = cli(*shortened(arguments[: arguments.index(">")] if file else arguments))
        healthy = (0, 1) if arguments[0] in ("doctor", "check") else (0,)  # shortened runs and few images have findings
        assert code in healthy, f"{command}: {err}"
        assert out
        if file:
            file.write_text(out, "utf-8")

    return run


@pytest.mark.parametrize(("document", "command"), each(lambda d: [] if d in (NETWORK, *STORIES) else to_run(d)))
def test_every_command_runs(document, command, typed, desk):
    desk(document)
    typed(command)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_a_story_runs_from_top_to_bottom(story, typed, desk):
    desk(story)
    for command in to_run(story):
        typed(command)


@pytest.mark.parametrize(("document", "example"), each(told))
def test_every_printed_answer_is_what_is_printed(document, example, cli):
    command, answer = example
    code, out, err = cli(*words(command))
    assert (out + err).split() == answer.split()
    assert code == (2 if answer.startswith("error") else 0)


@pytest.mark.parametrize(("document", "text"), each(lambda d: blocks(d, "python")))
def test_every_python_block_runs(document, text, tmp_path, monkeypatch, desk):
    """Beside the named files of its page; what is a test in it holds."""
    desk(document)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # as Python does for a script
    script = tmp_path / "block.py"
    script.write_text(text)
    found = runpy.run_path(str(script), run_name="__main__")  # as a reader's script: worker processes import it again
    for name, thing in found.items():
        if name.startswith("test_"):
            thing()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_a_folder_that_only_the_reader_can_have_is_said_to_be_the_readers(story):
    named = "held_out" in {word for command in commands(story) for word in shlex.split(command, comments=True)}
    assert not named or "`held_out` is a folder of your own" in story.read_text("utf-8")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_every_block_says_what_it_is(document):
    known = {"sh", "console", "python", "python entry", "text", "yaml"}
    assert {found["info"].strip() for found in FENCE.finditer(document.read_text("utf-8"))} <= known


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_every_make_target_exists(document):
    prose = "\n".join([*commands(document), *re.findall(r"`(make [^`]*)`", document.read_text("utf-8"))])
    named = set(re.findall(r"^make ([a-z-]+)", prose, re.MULTILINE))
    assert named <= set(re.findall(r"^([a-z-]+):", (HOME / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_every_link_and_picture_exists(document):
    text = FENCE.sub("", document.read_text("utf-8"))
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    inside = [link.partition("#") for link in links if not re.match(r"[a-z]+:", link)]
    missing = [path for path, _, _ in inside if path and not (document.parent / path).exists()]
    assert missing == []
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    own = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    assert {anchor for path, _, anchor in inside if anchor and not path} <= own


@pytest.mark.parametrize("family", PART_KINDS, ids=lambda family: family.__name__)
def test_the_page_names_every_kind(family):
    """Their keys and defaults are in its tables, which test_settings compares."""
    text = (HOME / "docs/configuration.md").read_text("utf-8")
    assert [kind for kind in PART_KINDS[family].kinds if f"`{kind}`" not in text] == []


@pytest.mark.parametrize("name", ["mooring.svg", "result.svg", "terminal.svg"])
def test_a_picture_needs_nothing_from_elsewhere(name):
    picture = (HOME / "docs" / name).read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in picture
    assert len(picture) < 20_000


def test_the_first_picture_is_drawn_from_the_table_and_the_partition():
    draw = runpy.run_path(str(HOME / "docs/make_result.py"))
    rows = draw["bars"](draw["TABLE"].read_text("utf-8"))
    assert len(rows) == 6
    assert list(dict.fromkeys(row.track for row in rows)) == ["trained from scratch", "statistics only", "control"]
    drawn = draw["picture"](draw["label_counts"](), rows)
    assert draw["PICTURE"].read_text("utf-8") == drawn, "run: python docs/make_result.py"
    assert draw["summary"](rows) in (HOME / "docs/index.md").read_text("utf-8")


def test_the_recorded_terminal_shows_what_the_command_prints_today(tmp_path):
    record = runpy.run_path(str(HOME / "docs/make_terminal.py"))
    command = record["COMMANDS"][0]
    drawn = record["picture"]([(command, record["output"](command, str(tmp_path)))])
    shown = re.findall(r"<text .*</text>", drawn)
    assert shown[1]
    assert shown == re.findall(r"<text .*</text>", record["PICTURE"].read_text("utf-8"))[: len(shown)]


def test_the_readme_is_short_and_has_three_doors():
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert all(f"**[docs/{door}.md](docs/{door}.md)**" in text for door in ("compare", "sites", "extend"))
