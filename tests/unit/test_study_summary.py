"""The ending of a study: a few plain lines that fit a terminal, made of what was measured."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest
from study_records import records, run_of, study_of

from mooring.cli.study import WIDTH, show_summary
from mooring.errors import ConfigError
from mooring.notes._evidence import Evidence
from mooring.notes._page import markdown_cell as cell
from mooring.notes._page import page
from mooring.notes._plan import load_study, study_file
from mooring.notes._run_study import findings
from mooring.notes._statistics import sample_text
from mooring.notes._study_summary import (
    Number,
    alternatives,
    count_phrase,
    images_of,
    mean_and_std_text,
    measured_text,
    rounded,
)
from mooring.record import RunFolder
from mooring.reports._table import Spread

NUMBERS = ("1", "2", "3", "4", "5")


def exploding(method, seed, lambdas, accuracies):
    """Two rounds of one client, as a run of study 5 records them."""
    factors = {"method": method, "fusion": "feature-ensemble", "seed": seed}
    fused = dict(enumerate(accuracies))
    return run_of(f"{method}-{seed}", factors, fused, records(lambda_raw=[lambdas]))


@pytest.fixture
def exploded():
    return Evidence(
        {
            "explosion": (
                exploding("v12", 1, (10.0, 2e6), (0.6, 0.2)),
                exploding("v12", 2, (14.0, 4e6), (0.5, 0.3)),
                exploding("v12-gamma", 1, (10.0, 3000.0), (0.6, 0.7)),
                exploding("v12-gamma", 2, (14.0, 5000.0), (0.7, 0.6)),
            ),
            "as-run": (),
            "features": (),
            "free": (),
            "sums": tuple(run_of(f"mooring-{seed}", {"method": "mooring", "seed": seed}, {0: 0.9}) for seed in (1, 2)),
        }
    )


def shown(told, capsys):
    show_summary(told)
    return capsys.readouterr().out.splitlines()


def test_one_epoch_is_an_epoch():
    words = ["{} clients", "{} epochs each", "label skew alpha {}"]
    assert [count_phrase(phrase, "1") for phrase in words] == ["1 client", "1 epoch each", "label skew alpha 1"]
    assert count_phrase("{} clients", "5 or 20") == "5 or 20 clients"


def test_the_ending_says_what_was_run_what_happened_and_what_held(exploded, capsys):
    told = findings(study_of("5"), "quick", [], exploded)
    lines = shown(replace(told, seeds=(1, 2)), capsys)
    assert len(lines) <= 16
    assert lines[0] == "Lab note 5 run again, scale quick: Explosions"
    text = " ".join(line.strip() for line in lines)
    assert "6 runs on digits, 5 clients, label skew alpha 0.05, 20 rounds, 2 epochs each; methods v12, " in text
    assert "over seeds 1, 2:" in text
    assert "runs away: confirmed 12.0 ± 2.8 in the first round, 3,000,000 ± 1,410,000 in the last (n = 2)" in text
    assert "collapses: confirmed 0.550 ± 0.071 in its best round, 0.250 ± 0.071 in the last (n = 2)" in text
    assert "stays bounded: confirmed 12.0 ± 2.8 in the first round, 4,000 ± 1,410 in the last (n = 2)" in text
    assert "above V12's: confirmed 0.700 ± 0.000 in its best round, 0.650 ± 0.071 in the last (n = 2)" in text
    assert lines[-4].endswith("`mooring` ends above V12: confirmed")
    assert lines[-3].startswith("  0.900 ± 0.000 where nobody trains")
    assert text.endswith(" was not run.")


def test_accuracies_say_on_how_many_images_and_what_guessing_gets(v12_run, capsys):
    words = "360 test images, of which guessing gets 0.103"
    result = RunFolder(v12_run).result
    assert images_of([result, None, result]) == words
    assert images_of([None]) == ""
    study = study_of("5")
    told = findings(study, "quick", [], Evidence({sweep.name: () for sweep in study.sweeps}))
    assert f"(accuracies on {words})" in shown(replace(told, tested=words), capsys)
    assert f"Accuracies at scale `quick` are on {words}." in page(replace(told, tested=words))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("scale", ["quick", "cpu", "full"])
def test_it_fits_a_terminal_in_every_study(number, scale, capsys):
    study = study_of(number)
    told = findings(study, scale, [], Evidence({sweep.name: () for sweep in study.sweeps}))
    lines = shown(told, capsys)
    assert max(map(len, lines)) <= WIDTH
    assert 10 <= len(lines) <= 16
    assert sum("no finished run records it" in line for line in lines) == len(study.highlights) >= 3


def test_n_stands_with_each_number_where_they_differ_in_it(exploded):
    of = {"v12": "explosion method=v12", "one": "explosion method=v12 seed=1"}
    measure = study_of("5").highlights[1].numbers[1].measure
    numbers = [Number("of both", of["v12"], measure), Number("of one", of["one"], measure)]
    assert measured_text(numbers, exploded) == "0.250 ± 0.071 of both (n = 2), 0.200 of one (n = 1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000"),
        (0.00012, "1.20e-04"),
        (0.12345, "0.123"),
        (-0.5, "-0.500"),
        (1.5, "1.50"),
        (12.34, "12.3"),
        (123.4, "123"),
        (5081234.0, "5,080,000"),
        (2.5e12, "2.50e+12"),
    ],
)
def test_numbers_are_written_as_people_write_them(value, text):
    assert rounded(value) == text


def test_what_varies_is_told_with_all_its_values():
    assert alternatives([5, 5]) == "5"
    assert alternatives([0.5, 0.1, None, 0.05]) == "0.5, 0.1 or 0.05"
    assert alternatives([None]) == ""


def test_a_highlight_of_a_claim_that_is_not_there_is_an_error(tmp_path):
    text = study_file("5").read_text("utf-8").replace("    claim: runaway", "    claim: runawai", 1)
    (tmp_path / "9-x.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="no claim 'runawai'; did you mean 'runaway'"):
        load_study(tmp_path / "9-x.yaml")


@pytest.mark.parametrize(
    ("numbers", "ending", "claim"),
    [
        ((1.04, 1.0411), "1.04 ± 0.00", "1.041 ± 0.001 (n = 2)"),
        ((0.028, 0.0284), "0.028 ± 0.000", "0.028 ± 0.000 (n = 2)"),
        ((11.9, 12.3), "12.1 ± 0.3", "12.100 ± 0.283 (n = 2)"),
        ((150.0, 152.5), "151 ± 2", "151 ± 2 (n = 2)"),
        ((100_000.0, 100_500.0), "100,000 ± 354", "1.00e+05 ± 0.00e+05 (n = 2)"),
        ((4e9, 4.1e9), "4.05e+09 ± 0.07e+09", "4.05e+09 ± 0.07e+09 (n = 2)"),
        ((-0.01, 0.01), "0.000 ± 0.014", "0 ± 0.014 (n = 2)"),
        ((-0.0001, 0.0001), "0.000 ± 1.41e-04", "0 ± 0.000141 (n = 2)"),
        ((0.0044, 0.0048), "0.005 ± 0.000", "0.00460 ± 0.00028 (n = 2)"),
        ((0.5,), "0.500", "0.500 (n = 1)"),
    ],
)
def test_a_deviation_has_no_finer_digits_than_its_mean(numbers, ending, claim):
    assert mean_and_std_text(dict(enumerate(numbers))) == ending
    assert sample_text(numbers) == claim
    std = stdev(numbers) if len(numbers) > 1 else None
    assert cell(Spread(fmean(numbers), std, len(numbers))) == claim
