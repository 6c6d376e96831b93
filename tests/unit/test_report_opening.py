"""The first screen of a report, numbers that cannot be misread, and runs that were made separately."""

import re
import shutil
from dataclasses import replace
from math import sqrt

import pytest
from report_folders import relabelled

from mooring.config import HOUSE_CODE
from mooring.errors import ConfigError
from mooring.intervals import wilson
from mooring.notes._reporting import report
from mooring.notes._study_record import DecidedClaim, MainNumber
from mooring.notes._study_report import opening_figures, study_report, verdict_line
from mooring.record import RunFolder, write_result
from mooring.reports import compare
from mooring.reports._accuracies import accuracy_interval
from mooring.reports._compose import compose
from mooring.reports._figure import INK, PALETTE
from mooring.reports._formats import FORMATS
from mooring.reports._formats.html import DARK, page
from mooring.reports._formats.pictures import COLUMN
from mooring.reports._reading import collect_report_data, collect_several
from mooring.reports._report_data import with_positive
from mooring.reports._sections.drawing import series
from mooring.reports._sections.findings import notes
from mooring.reports._table import Interval, Spread
from mooring.sweeps._summary import difference

LARGEST_RUN = 2_000_000  # bytes of a page


def told(report_, question):
    [found] = [answer for answer in report_.answers if answer.question == question]
    return found


def results(report_):
    [found] = [table for table in report_.tables if table.slug == "results"]
    return found


@pytest.fixture(scope="module")
def run_report(v12_run):
    return compose(collect_report_data(v12_run))


@pytest.mark.parametrize(
    ("right", "total", "low", "high"),
    [(38, 45, 0.7122, 0.9225), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_the_interval_is_wilsons(right, total, low, high):
    assert wilson(right, total) == pytest.approx((low, high), abs=1e-4)
    assert wilson(right, total, 0.5)[0] >= low


def test_a_page_answers_what_everybody_asks_first(run_report, v12_run):
    assert [answer.question for answer in run_report.answers] == [
        "What was run",
        "How good it is",
        "Problems",
        "What to do next",
        "Made",
    ]
    result = RunFolder(v12_run).result
    low, high = wilson(round(result.accuracy * result.test_images), result.test_images)
    good = told(run_report, "How good it is").text
    assert f"{100 * result.accuracy:.1f} %" in good
    assert f"{100 * low:.1f}-{100 * high:.1f} %" in good
    assert f"{result.test_images} test images" in good
    assert "no official test set" in good
    most = max(sum(row) for row in result.metrics.confusion) / result.test_images
    assert f"reaches {100 * most:.1f} %" in good
    assert "300 training images of digits" in told(run_report, "What was run").text


def test_what_is_noted_and_not_ill_is_named_too(v12_run):
    data = collect_report_data(v12_run)
    noted = [finding for finding in data.runs[0].diagnosis.findings if not finding.ill]
    assert noted
    told = notes(data)
    assert noted[0].words in told if len(noted) == 1 else all(finding.kind in told for finding in noted)


def test_what_to_do_next_can_be_pasted(run_report, v12_run):
    command = told(run_report, "What to do next").command
    assert command.startswith("mooring ")
    assert str(v12_run) in command


def test_the_first_screen_has_no_fingerprint(run_report, v12_run):
    fingerprint = RunFolder(v12_run).result.fingerprint[:8]
    html = page(run_report)
    assert fingerprint not in html[: html.index('id="accuracy"')]
    assert fingerprint in html[html.index('id="setup"') :]


def test_sites_and_classes_have_their_names_everywhere(v12_run, tmp_path):
    sites = tuple(replace(site, name=f"clinic {site.number}") for site in RunFolder(v12_run).result.sites)
    relabelled(v12_run, tmp_path / "run", ["method=v12"], 0.5, sites=sites)
    found = compose(collect_report_data(tmp_path / "run"))
    assert "clinic 0" in told(found, "What was run").text
    for table in found.tables:
        if "client" in table.columns:
            where = table.columns.index("client")
            assert {row[where] for row in table.rows} <= {site.name for site in sites}, table.slug
    names = {line.family for figure in found.figures if hasattr(figure, "lines") for line in figure.lines}
    assert "clinic 1" in names
    assert "client 1" not in names


def test_two_classes_are_counted_as_medicine_does(v12_run, tmp_path):
    folder = tmp_path / "run"
    result = relabelled(v12_run, folder, ["method=v12"], 0.8)
    metrics = replace(
        result.metrics,
        confusion=((50, 10), (10, 30)),
        per_class_accuracy=(5 / 6, 3 / 4),
        per_class_auc=(0.9, 0.9),
    )
    rounds = (replace(result.last, metrics=metrics),)
    write_result(folder, replace(result, classes=("well", "ill"), rounds=rounds, test_images=100))
    report = compose(collect_report_data(folder))
    [found] = [table for table in report.tables if table.slug == "one-class"]
    [row] = found.rows
    found_of_40, found_of_60 = (
        Interval(*wilson(n, of), f"over {of} images, one seed") for n, of in ((30, 40), (50, 60))
    )
    assert row == ("v12", "ill", Spread(0.75), found_of_40, Spread(pytest.approx(5 / 6)), found_of_60, Spread(0.9), 1)
    assert found.flat().columns[3:6] == (
        "sensitivity std",
        "sensitivity 95 % interval low",
        "sensitivity 95 % interval high",
    )
    words = "Of 'ill' against all others: sensitivity 75.0 % of 40, specificity 83.3 % of 60, AUC 0.900."
    assert words in told(report, "How good it is").text


def test_a_class_of_many_is_looked_for_once_it_is_named(v12_run):
    data = collect_report_data(v12_run)
    assert not [table for table in compose(data).tables if table.slug == "one-class"]
    [found] = [table for table in compose(with_positive(data, "7")).tables if table.slug == "one-class"]
    metrics = RunFolder(v12_run).result.metrics
    assert found.rows[0][:3] == ("v12", "7", Spread(metrics.per_class_accuracy[7]))
    assert found.rows[0][-2] == Spread(metrics.per_class_auc[7])
    [results] = [table for table in compose(with_positive(data, "7")).tables if table.slug == "results"]
    assert results.rows[0][results.columns.index("AUC of 7")] == Spread(metrics.per_class_auc[7])
    with pytest.raises(ConfigError, match="--positive seven: is not a class of the model"):
        with_positive(data, "seven")


def test_a_run_weighs_less_than_two_megabytes(run_report):
    assert 10_000 < len(page(run_report).encode()) < LARGEST_RUN


def test_a_winner_needs_pairs_that_all_agree(v12_run, tmp_path):
    """Differences of 0.30, 0.31 and 0.32 are settled; those of 0.1 and -0.1 are not."""
    accuracies = {"v7": (0.5, 0.5, 0.5), "v12": (0.80, 0.81, 0.82)}
    folders = [
        tmp_path / f"{method}-{seed}" for method, values in accuracies.items() for seed in range(1, len(values) + 1)
    ]
    for folder in folders:
        method, seed = folder.name.split("-")
        relabelled(v12_run, folder, [f"method={method}", f"seed={seed}"], accuracies[method][int(seed) - 1])
    won = compose(collect_several(folders, HOUSE_CODE))
    assert told(won, "Which is best").tone == "good"
    half = 4.30265273 * 0.01 / sqrt(3)
    interval = f"95 % interval {100 * (0.31 - half):+.1f} to {100 * (0.31 + half):+.1f}, 3 pairs of seeds"
    assert f"+31.0 points over v7 ({interval})" in told(won, "Which is best").text
    assert "v12 with 81.0 %, 95 % interval 78.5-83.5 % over 3 seeds: settled" in told(won, "Which is best").text
    [bold] = results(won).bold
    assert (results(won).rows[bold[0]][0], results(won).columns[bold[1]]) == ("v12", "accuracy")
    written = {kind: compare(folders, kind, tmp_path / kind).read_text() for kind in ("latex", "markdown")}
    assert written["latex"].count(r"\textbf{0.810 $\pm$ 0.010}") == 1
    assert "**0.810 ± 0.010**" in written["markdown"]
    [main] = re.findall(r"\\label\{tab:results\}.*?\\end\{table\}", written["latex"], re.DOTALL)
    assert RunFolder(folders[0]).result.fingerprint[:8] not in main


def test_nothing_is_bold_where_nothing_is_settled(sweep_folder, tmp_path):
    found = compose(collect_report_data(sweep_folder))  # v7 leads by 0.3 and 0.1
    assert told(found, "Which is best").text.startswith("Trained from scratch: no settled winner: v7 with 60.0 %")
    assert results(found).bold == frozenset()
    assert "no settled winner" in results(found).note
    latex = report(sweep_folder, "latex", tmp_path / "t.tex").read_text()
    assert r"\textbf" not in latex
    assert "no settled winner" in latex
    assert "seed=1..4" in told(found, "What to do next").command or "not finished" in told(found, "What was run").text


def test_runs_that_were_made_separately_are_told_apart_by_what_differs(v12_run, tmp_path, monkeypatch):
    for name, lr in (("a", 0.05), ("b", 0.1)):
        relabelled(v12_run, tmp_path / name, ["method=v12", f"training.lr={lr}"], lr)
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    data = collect_several([tmp_path / name for name in ("a", "b", "copy")], HOUSE_CODE)
    assert [group.label for group in data.lines] == ["v12 · lr=0.05", "v12 · lr=0.1"]
    assert [why for _, why in data.unfinished] == ["the same run as a"]
    monkeypatch.chdir(tmp_path)
    written = compare(["a", "b"])
    assert str(written) == "comparison.html"
    assert "mooring compare a b" in written.read_text()


def test_settings_of_training_are_nothing_to_a_method_that_trains_nothing(v12_run, tmp_path):
    relabelled(v12_run, tmp_path / "a", ["method=v12", "training.lr=0.05"], 0.5)
    relabelled(v12_run, tmp_path / "b", ["method=mooring", "training.lr=0.1"], 0.9)
    data = collect_several([tmp_path / "a", tmp_path / "b"], HOUSE_CODE)
    assert [group.label for group in data.lines] == ["v12 · lr=0.05", "mooring"]
    assert "rounds" not in told(compose(collect_report_data(tmp_path / "b")), "What was run").text


def test_one_folder_is_no_comparison(v12_run):
    with pytest.raises(ConfigError, match="two folders or more"):
        compare([v12_run])
    with pytest.raises(ConfigError, match="format=htm: unknown"):
        compare([v12_run, v12_run], "htm")


def test_a_claim_is_one_line_with_its_main_number():
    claim = DecidedClaim("x", "It rises.", "confirmed", number=MainNumber(Spread(456_000.0, 116_000.0, 3)))
    assert verdict_line(claim).number == "measured 4.56e+05 ± 1.16e+05"
    compared = replace(claim, number=MainNumber(Spread(-0.149, 0.067, 3), "difference"))
    assert verdict_line(compared).number == "difference -0.149 ± 0.067"
    assert verdict_line(replace(claim, number=None)).number == ""


def test_a_study_opens_with_what_every_experiment_reaches_where_lambda_does_not_move(study_folder):
    assert [figure.slug for figure in opening_figures(study_report(study_folder, HOUSE_CODE))] == ["final-accuracy"]


def test_a_study_opens_with_lambda_above_the_accuracies(study_folder, monkeypatch):
    monkeypatch.setattr("mooring.notes._study_report.LARGE_CHANGE", 0.0)  # in two rounds it hardly does
    lambdas, accuracies = opening_figures(study_report(study_folder, HOUSE_CODE))
    assert (lambdas.scale, lambdas.slug, accuracies.slug) == ("log", "picture-lambda", "accuracy-clients")
    assert accuracies.lines[0].name == "fused"
    colours = {line.family: line.colour for line in lambdas.lines}
    assert all(colours[line.family] == line.colour for line in accuracies.lines if line.colour != INK)


def test_intervals_stay_within_what_a_share_can_be():
    drawn = series("x", [[0.9, 1.0], [0.0, 0.1], [0.5], []], 0)
    assert drawn.intervals[0][1] == 1.0
    assert drawn.intervals[1][0] == 0.0
    assert drawn.intervals[2:] == (None, None)
    assert drawn.values == (pytest.approx(0.95), pytest.approx(0.05), 0.5, None)


def test_seeds_are_dots_and_every_experiment_is_drawn(sweep_folder):
    found = compose(collect_report_data(sweep_folder))
    [bars] = [figure for figure in found.figures if figure.slug == "final-accuracy"]
    assert bars.names == ("v7", "v12")
    assert bars.series[0].seeds == ((0.5, 0.7), (0.2, 0.6))
    assert len(set(bars.colours)) == 2
    [course] = [figure for figure in found.figures if figure.slug == "accuracy"]
    assert [line.colour for line in course.lines[:2]] == list(bars.colours)  # one colour per method


def luminance(shade):
    parts = [int(shade[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize(("shades", "paper"), [(PALETTE, "#ffffff"), (DARK, "#14171a")])
def test_every_colour_of_a_chart_can_be_seen(shades, paper):
    """WCAG 2.1, 1.4.11: 3:1 for graphics."""
    assert len(set(shades)) == 12
    for shade in shades:
        light, dark = sorted((luminance(shade), luminance(paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, shade


def test_a_figure_for_a_paper_is_as_wide_as_a_column(run_report, tmp_path):
    one_of_each = {type(figure): figure for figure in run_report.figures}
    section = replace(run_report.sections[0], figures=tuple(one_of_each.values()), tables=())
    FORMATS["pdf"].write(replace(run_report, sections=(section,)), tmp_path / "pdf")
    files = list((tmp_path / "pdf").iterdir())
    assert len(files) == len(one_of_each) == 3
    assert {path.suffix for path in files} == {".pdf"}
    for path in files:
        [width] = re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ", path.read_bytes())
        assert float(width) == pytest.approx(72 * COLUMN, abs=0.1), path.name


def test_seeds_that_change_nothing_leave_the_interval_to_the_images():
    same = Interval(*wilson(50, 100), "over 100 images, the same in 3 seeds")
    assert accuracy_interval([0.5, 0.5, 0.5], 100) == same
    assert accuracy_interval([0.5, 0.5], None) is None
    assert accuracy_interval([0.4, 0.6], 100).over == "over 2 seeds"


def test_accuracies_are_never_further_apart_than_one():
    told = difference([(0.9, 0.0), (0.0, 0.1)])
    assert (told.mean, told.low, told.high) == (0.4, -1.0, 1.0)
