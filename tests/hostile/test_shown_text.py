"""Text of files is shown as it is: it steers no terminal and colours nothing."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from old_logs import CONFIG, log_of, v10_rounds
from rich.table import Table
from rich.text import Text

from mooring.cli.screen import Screen
from mooring.events import ClientFailed, Remark
from mooring.record import Absence, RunFolder, write_record, write_result
from mooring.record._events import event_line

EVIL = "[red]ward\x1b]0;owned\x1b\\\x1b[2J\x9b31m\u202e[/red]:cat:"
SPELLED = r"[red]ward\x1b]0;owned\x1b\\x1b[2J\x9b31m\u202e[/red]:cat:"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
RAW = ("\x1b", "\x07", "\x9b", "\u202e", "\N{CAT}")


def is_plain(text):
    return not any(sign in text for sign in RAW)


@pytest.fixture(scope="module")
def hostile(v12_run, tmp_path_factory):
    """A run whose every name and message is evil, sealed as its maker would."""
    folder = tmp_path_factory.mktemp("hostile") / "run"
    shutil.copytree(v12_run, folder)
    with (folder / "events.jsonl").open("a") as file:
        file.writelines(event_line(event, 0.0) for event in (Remark(EVIL), ClientFailed(0, EVIL, EVIL)))
    told = RunFolder(v12_run).result
    write_result(
        folder,
        replace(
            told,
            method=EVIL,
            dataset=EVIL,
            command=EVIL,
            date=EVIL,
            classes=tuple(f"{name}{EVIL}" for name in told.classes),
            sites=tuple(replace(site, name=f"{site.number}{EVIL}") for site in told.sites),
            absent=(Absence(1, EVIL),),
        ),
    )
    return folder


SHOWN = {  # how often the evil text can be read in full
    "doctor": 2,  # the method and the remark
    "watch --once": 0,
    "resume": 2,  # data set and absence; the method stands in a narrow column
    "report -f csv": 0,
    "verify": 0,
    "doctor --json": 0,
    "resume --json": 0,
}


@pytest.mark.parametrize("words", SHOWN)
def test_no_verb_passes_on_what_a_record_says_to_the_terminal(hostile, cli, words, tmp_path):
    shutil.copytree(hostile, tmp_path / "run")
    verb, *options = words.split()
    code, out, err = cli(verb, "run", *options)
    assert code in (0, 1), err
    assert is_plain(out + err)
    assert "".join(out.split()).count(SPELLED) >= SHOWN[words]


def test_colours_of_the_house_are_kept_and_no_other(hostile, cli, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    _, out, _ = cli("doctor", hostile)
    assert "\x1b[1m[red]ward" in out  # the method, bold
    assert is_plain(COLOUR.sub("", out))


def test_names_of_files_in_a_record_are_shown_as_they_are(hostile, cli, tmp_path):
    shutil.copytree(hostile, tmp_path / "run")
    result = RunFolder(tmp_path / "run").result
    write_record(tmp_path / "run" / "result.json", replace(result, files={f"{EVIL}.yaml": "00"}))
    code, out, err = cli("verify", "run")
    assert code == 1, err
    assert f"{SPELLED}.yaml: missing" in out
    assert is_plain(out)


def test_an_error_about_a_record_stays_one_line(hostile, cli):
    code, _, err = cli("run", "method=v4", f"out={hostile}")
    assert code == 2
    assert f"holds the result of another experiment ({SPELLED}" in err
    assert is_plain(err)
    write = replace(RunFolder(hostile).result, method="two\nerror: lines")
    shutil.copytree(hostile, "copy")
    write_result(Path("copy"), write)
    _, _, err = cli("run", "method=v4", "out=copy")
    assert len(err.splitlines()) == 1


def test_names_of_classes_are_shown_as_they_are(cli, tmp_path):
    images, labels = np.zeros((8, 4, 4), np.uint8), np.arange(8) % 2
    names = np.array(["[red]a\x1b[2J", "b"])
    parts = {"train_images": images, "train_labels": labels, "test_images": images, "test_labels": labels}
    np.savez(tmp_path / "own.npz", **parts, classes=names)
    words = ("data.source=arrays", "data.root=own.npz", "partition.kind=iid", "partition.clients=2")
    code, out, err = cli("partition", *words)
    assert code == 0, err
    assert is_plain(out)
    assert "[red]a" in out


def test_words_of_a_log_are_shown_as_they_are(cli, tmp_path):
    evil = "\\x1b]0;owned\\x07[red]"
    config = CONFIG.replace("{'dataset': {", f"{{'dataset': {{'data_name': '{evil}', ")
    assert config != CONFIG
    (tmp_path / "\x1b[2J.log").write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, config))
    code, out, err = cli("import", "\x1b[2J.log", "out=imported")
    assert code == 0, err
    assert is_plain(out)
    assert r"\x1b[2J.log: v10 on \x1b]0;owned\x07[red]" in out
    for words in (("doctor", "imported"), ("doctor", "--log", "\x1b[2J.log")):
        assert is_plain(cli(*words)[1])


def test_a_screen_obeys_nobody_but_the_house(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    Screen().print(EVIL, Text(EVIL, "bold"), style="dim", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column(EVIL)
    table.add_row(EVIL)
    Screen().print(table)
    out = capsys.readouterr().out
    assert COLOUR.sub("", out).count(SPELLED) == 4
    assert "\x1b[1;2m" in out
