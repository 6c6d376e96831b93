"""Every setting is described once: for the terminal, for the page, and for whoever misspells one."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from mooring.cli.help import as_setting
from mooring.cli.run import run
from mooring.config import load
from mooring.config._keys import SHORT
from mooring.config._part_kinds import PART_KINDS
from mooring.config._settings import NO_FIELDS, SECTIONS, all_settings, keys_ending, matching_keys, matching_settings
from mooring.errors import ConfigError
from mooring.schema import Count, Fraction, OpenFraction, Positive, Seed, sentence_of, shape_of

PAGE = (Path(__file__).parents[2] / "docs/configuration.md").read_text("utf-8")


def test_the_page_has_a_table_for_every_section():
    """python docs/make_reference.py writes them, and tests/unit/test_reference.py compares."""
    shown = {name for names in re.findall("<!-- settings: (.*) -->", PAGE) for name in names.split(", ")}
    assert shown == {section.name for section in SECTIONS}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_field_has_a_sentence(section):
    keys = {*SHORT, *(one.name for rows in NO_FIELDS.values() for one in rows)}
    for cls in section.kinds.values() or [section.cls]:
        assert [f.name for f in fields(cls) if not sentence_of(cls, f.name) and f.name not in keys] == []


def test_every_family_has_its_section():
    described = {section.cls for section in SECTIONS if section.kinds}
    keyless = {family for family, slot in PART_KINDS.items() if not any(fields(cls) for cls in slot.kinds.values())}
    assert described | keyless == set(PART_KINDS)
    assert set(SHORT) < {key for setting in all_settings() for key in setting.keys}


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (Count, "1 or more"),
        (Positive, "above 0"),
        (Fraction, "0 to 1"),
        (OpenFraction, "0 or more, below 1"),
        (Seed | None, "0 to 4294967295, or null"),
        (bool, "true or false"),
    ],
)
def test_a_range_is_told_in_words(annotation, told):
    assert shape_of(annotation).words == told


def test_a_part_of_a_name_finds_its_keys_and_a_word_its_sentences():
    assert {key for one in matching_settings("sigma.l") for key in one.keys} == {"sigma.lr", "sigma.lr_scale"}
    assert {key for one in matching_settings("Dirichlet_equal") for key in one.keys} == {
        "partition.clients",
        "partition.alpha",
    }
    assert [one.keys for one in matching_settings("experiment's `seed`".replace("`", ""))] == [("partition.seed",)]


def test_the_terminal_lists_settings(cli):
    code, out, _ = cli("settings", "engine.dev")
    assert code == 0
    assert "engine.device              auto         auto, cpu or cuda" in out
    assert max(map(len, out.splitlines())) <= 80
    [row] = json.loads(cli("settings", "engine.dev", "--json")[1])
    assert (row["keys"], row["default"]) == (["engine.device"], "auto")
    assert cli("settings", "no such thing")[0] == 2


def test_a_key_is_known_by_its_last_segment():
    assert keys_ending("device") == ["engine.device"]
    assert matching_keys("batch-size") == ["training.batch_size"]
    assert matching_keys("training-lr") == ["training.lr"]
    assert matching_keys("lr")[0] == "training.lr"
    assert matching_keys("agian") == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--seed", "3"], "--seed 3: is a setting, not an option; write seed=3"),
        (["--device=cuda"], "--device cuda: is a setting, not an option; write engine.device=cuda"),
        (["--seed", "x"], "--seed x: is a setting, not an option; write seed=... (x: must be a whole number)"),
        (["--seed", "1..3"], "--seed 1..3: is a setting, not an option; write seed=1..3"),
        (["--clients", "3"], "--clients 3: is a setting, not an option; write partition.clients=3"),
        (["--lr", "x"], "--lr x: is a setting, not an option; write training.lr=... (x: must be a number)"),
        (["--alpha", "method=v7"], "--alpha: is a setting, not an option; write alpha=..."),
    ],
)
def test_a_setting_written_as_an_option_is_answered_with_what_to_write(words, told):
    assert as_setting(words[0].partition("=")[0], words) == told


def test_wrong_spelling_is_met_half_way(cli):
    assert cli("run", "--seed", "3")[1:] == ("", "error: --seed 3: is a setting, not an option; write seed=3\n")
    assert cli("run", "--device", "meta")[2].endswith("engine.device=... (meta: must be auto, cpu or cuda)\n")
    assert cli("run", "save_minutes=3")[2] == "error: save_minutes=3: unknown key; did you mean engine.save_minutes?\n"
    assert "mooring settings weight" in cli("keys", "weight")[2]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("weight.max=3", "method.client.align.weight.max=3: unknown key; did you mean weight.maximum or "),
        ("weight.lr_scale=1", "method.client.align.weight.lr_scale=1: unknown key; did you mean sigma.lr_scale?"),
        ("guard.max=3", "guard.max=3: unknown key; did you mean weight.guard.maximum?"),
        ("client.weight.value=3", "client.weight.value=3: unknown key; did you mean weight.value?"),
        ("data.clients=3", "data.clients=3: unknown key; did you mean partition.clients or evaluate.clients?"),
        ("model.rounds=3", "model.rounds=3: unknown key; did you mean training.rounds?"),
        ("views.count=2", "views.count=2: unknown key; did you mean method.client.views.count?"),
        ("partition.client=3", "partition.client=3: unknown key; did you mean 'clients'?"),
        ("max=3", "max=3: unknown key; did you mean 'lambda_max'?"),
        ("weight.wobble=3", "method.client.align.weight.wobble=3: unknown key; valid: data, gradients, guard, "),
    ],
)
def test_a_nested_key_in_the_wrong_place_is_found_by_its_last_segment(word, told):
    with pytest.raises(ConfigError) as raised:
        load(overrides=["method=v12", word])
    [problem] = raised.value.problems
    assert problem.startswith(told)


def test_help_of_run_shows_settings_with_their_defaults():
    lines = [line.split()[0] for line in (run.__doc__ or "").splitlines() if line.startswith("      ")]
    shown = dict(line.split("=", 1) for line in lines)
    defaults = {key: setting.default for setting in all_settings() for key in setting.keys}
    assert len(shown) == 10
    assert {key: default for key, default in shown.items() if key != "fusion"} == {
        key: defaults[key] for key in shown if key != "fusion"
    }
