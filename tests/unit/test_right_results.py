"""What people read about a result is right: each test here failed before its mistake was corrected."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from report_folders import SHORT, fusion_of, relabelled, write_members
from small_results import small_result

from mooring import load
from mooring.config import load_plan
from mooring.events import ClientRecord
from mooring.record import Metrics, RoundRecord, RunFolder, write_record
from mooring.reports import sweep_tables
from mooring.reports._compose import compose
from mooring.reports._figure import Curves, Line
from mooring.reports._formats.pictures import draw
from mooring.reports._reading import collect_report_data
from mooring.reports._verdict import verdict_on
from mooring.sweeps._tables import tables_of
from mooring.wording import bound_text, percent

EVEN = tuple(tuple(36 if i == j else 0 for j in range(10)) for i in range(10))  # 36 test images of each class


def course(*accuracies, alone=None):
    """A result with this accuracy after each round, on ten equally frequent classes."""
    first = small_result(metrics=Metrics(accuracies[-1], confusion=EVEN))
    rounds = tuple(RoundRecord(i, Metrics(value, confusion=EVEN)) for i, value in enumerate(accuracies))
    if alone is not None:
        own = ClientRecord(0, len(rounds) - 1, accuracy=alone)
        rounds = (*rounds[:-1], replace(rounds[-1], clients=(own,)))
    return replace(first, accuracy=accuracies[-1], rounds=rounds, classes=tuple("0123456789"))


def test_a_run_that_fell_from_its_peak_gets_a_warning_and_the_next_command():
    verdict = verdict_on(course(0.56, 0.283, alone=0.267))
    assert not verdict.sound
    assert verdict.text == "warning: 49 % below its peak (56.0 % after round 1)"
    assert verdict.next_command("runs/a b") == "mooring doctor 'runs/a b'"


def test_a_run_whose_interval_holds_the_majority_class_baseline_gets_a_warning():
    verdict = verdict_on(course(0.11, alone=0.1))
    assert verdict.text.startswith("warning: its 95 % interval ")
    assert verdict.text.endswith("is not above the majority-class baseline (10.0 %)")


def test_a_run_that_is_no_better_than_local_only_is_sent_to_other_fusions():
    verdict = verdict_on(course(0.5, alone=0.6))
    assert verdict.text == "warning: not above local-only (60.0 %): fusing gained nothing"
    assert verdict.next_command("run") == "mooring fuse run"
    assert verdict_on(course(0.5, alone=0.5), fused=False).sound  # a control that fuses nothing


def test_a_run_that_keeps_nine_tenths_of_its_peak_is_sound():
    verdict = verdict_on(course(0.6, 0.55, alone=0.4))
    assert verdict.sound
    assert verdict.text == "above the majority-class baseline (10.0 %); above local-only (40.0 %)"


def test_the_card_of_a_run_says_the_accuracy_that_its_result_has(cli, v12_run):
    code, out, err = cli("model-card", v12_run)
    assert code == 0, err
    assert "not tested" not in out
    assert f"{percent(RunFolder(v12_run).result.accuracy)} right on" in out


def test_the_card_of_another_file_beside_a_result_claims_no_accuracy(cli, v12_run, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.mooring").write_bytes((v12_run / "model.mooring").read_bytes())
    assert "not tested" in cli("model-card", tmp_path / "run")[1]


def test_the_words_of_the_data_sources_are_not_broken_at_80_columns(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = cli("data")[1]
    assert all(len(line) <= 80 or " " not in line for line in out.splitlines())
    assert "(and, if you like, train_sites, classes)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("rounds=3", "training.rounds=3"),
        ("lr=0.5", "training.lr=0.5"),
        ("clients=3", "partition.clients=3"),
        ("alpha=0.5", "partition.alpha=0.5"),
        ("batch_size=7", "training.batch_size=7"),
    ],
)
def test_a_short_name_is_the_same_experiment_as_its_key(word, key):
    [short], [full] = load(overrides=[word]), load(overrides=[key])
    assert short.fingerprint() == full.fingerprint() != load()[0].fingerprint()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["run", "epochs=3"], "did you mean training.local_epochs?"),
        (["run", "seed=1-3"], "several are a sweep: mooring sweep seed=1..3"),
        (["sweep", "seed=1-3"], "mooring sweep seed=1..3"),
        (["run", "seed=1,2"], "mooring sweep seed=1,2"),
        (["run", "rounds=2", "training.rounds=3"], "give the same key twice"),
        (["settings", "lamda"], "did you mean 'lambda'?"),
        (["run", "method=fafi"], "method=fafi: unknown; did you mean 'v4'?"),
    ],
)
def test_a_near_miss_is_answered_with_what_was_meant(cli, words, answer):
    code, _, err = cli(*words)
    assert code == 2
    assert answer in err


def test_a_bound_that_no_training_reaches_is_called_unbounded():
    assert (bound_text(2.33e93), bound_text(12500.0), bound_text(None)) == ("unbounded", "1.25e+04", "-")


@pytest.fixture(scope="module")
def two_tracks(v12_run, tmp_path_factory):
    """fedavg-1, dense fused from its uploads for 600 server seconds, v7 and, in a track of its own, mooring."""
    folder = tmp_path_factory.mktemp("tracks")
    accuracies = {"fedavg-1": (0.3, 0.32), "v7": (0.5, 0.52), "mooring": (0.97, 0.98)}
    members, trained_by = {}, {}
    for method, values in accuracies.items():
        for seed, accuracy in enumerate(values, 1):
            name = f"{method}-seed{seed}"
            result = relabelled(v12_run, folder / "runs" / name, [f"method={method}", f"seed={seed}"], accuracy)
            members[name] = {"method": method, "seed": seed}
            if method == "fedavg-1":
                row = replace(fusion_of(result, "dense", 0.05), server_seconds=600.0)
                write_record(folder / "fused" / f"dense-seed{seed}.json", row)
                members[f"dense-seed{seed}"] = {"method": "dense", "seed": seed}
                trained_by[f"dense-seed{seed}"] = name
    factors = {"method": ["fedavg-1", "dense", "v7", "mooring"], "seed": [1, 2]}
    plan = {"settings": list(SHORT), "factors": factors, "baseline": "method=v7"}
    (folder / "sweep.yaml").write_text(json.dumps(plan))
    write_members(folder, members, "method=v7", trained_by=trained_by)
    return folder


@pytest.fixture(scope="module")
def tracks_report(two_tracks):
    return compose(collect_report_data(two_tracks))


def rows_of(report, slug):
    [table] = [table for table in report.tables if table.slug == slug]
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def answer(report, question):
    return next(one.text for one in report.answers if one.question == question)


def test_costs_have_a_row_for_every_experiment_and_say_whose_training_it_was(tracks_report):
    costs = {row["experiment"]: row for row in rows_of(tracks_report, "costs")}
    assert set(costs) == {"fedavg-1", "dense", "v7", "mooring"}
    assert costs["dense"]["client compute"] == "shared with fedavg-1"
    assert costs["fedavg-1"]["client compute"] == "own"
    assert costs["dense"]["server seconds"] == 600.0


def test_the_time_of_a_sweep_contains_fusions_of_shared_trainings(tracks_report):
    minutes = int(re.search(r"(\d+) minutes of computing", answer(tracks_report, "Made"))[1])
    assert minutes >= 20  # two fusions of ten minutes each


def test_results_charts_and_winners_are_apart_by_track(tracks_report):
    assert [row["experiment"] for row in rows_of(tracks_report, "results-trained-from-scratch")] == [
        "v7",
        "fedavg-1",
        "dense",
    ]
    assert [row["experiment"] for row in rows_of(tracks_report, "results-statistics-only")] == ["mooring"]
    forests = {figure.slug: figure.names for figure in tracks_report.figures if "final-accuracy" in figure.slug}
    assert forests["final-accuracy-statistics-only"] == ("mooring",)
    assert "mooring" not in forests["final-accuracy-trained-from-scratch"]
    best = answer(tracks_report, "Which is best")
    assert "Trained from scratch: v7" in best
    assert "Statistics only: mooring" in best
    assert "over v7" not in best
    assert [row["experiment"] for row in rows_of(tracks_report, "baseline")] == ["fedavg-1", "dense"]
    assert {card.label for card in tracks_report.cards} >= {
        "best accuracy, trained from scratch",
        "highest accuracy, statistics only",
    }


def test_tracks_are_compared_only_when_asked_for_and_the_report_says_so(two_tracks):
    report = compose(replace(collect_report_data(two_tracks), across_tracks=True))
    assert [row["experiment"] for row in rows_of(report, "results")][:2] == ["mooring", "v7"]
    assert rows_of(report, "results")[0]["track"] == "statistics only"
    assert answer(report, "Which is best").startswith("Across tracks: mooring")
    [table] = [table for table in report.tables if table.slug == "results"]
    assert table.title == "Results: across tracks"
    assert "Across tracks, which use different resources" in table.note


def test_the_terminal_keeps_tracks_apart_too(two_tracks):
    plan = load_plan(two_tracks / "sweep.yaml")
    tables = tables_of(plan, [run.record for run in collect_report_data(two_tracks).members])
    shown = {table.title: [row[0] for row in table.rows] for table in sweep_tables(plan, tables)}
    assert shown == {"trained from scratch": ["v7", "fedavg-1", "dense"], "statistics only": ["mooring"]}
    [other] = [row for row in tables.summary if row.track == "statistics only"]
    assert other.difference.mean is None  # the baseline is of another track
    assert [lead.best.factors["method"] for lead in tables.leads] == ["v7"]
    [itself] = [row for row in tables.summary if row.factors["method"] == "v7"]
    assert (itself.difference.mean, itself.difference.low) == (None, None)


def test_an_experiment_that_was_fused_once_is_drawn_over_rounds_as_a_point(tracks_report):
    [course] = [figure for figure in tracks_report.figures if figure.slug == "accuracy-trained-from-scratch"]
    [dense] = [line for line in course.lines if line.name == "dense"]
    assert len(dense.x) == 1
    assert course.layout == "panels"
    assert "A single point: fused after the last round only (dense)" in course.caption


def test_what_speaks_against_experiments_is_said_at_the_top(tracks_report):
    assert "dense, 2 of 2 runs: " in answer(tracks_report, "What to mistrust")


def test_one_method_has_one_colour_in_all_charts(tracks_report):
    colours = {}
    for figure in tracks_report.figures:
        for line in getattr(figure, "lines", ()):
            if line.name in ("v7", "fedavg-1", "dense"):
                colours.setdefault(line.name, set()).add(line.colour)
        for name, colour in zip(getattr(figure, "names", ()), getattr(figure, "colours", ()), strict=False):
            colours.setdefault(name, set()).add(colour)
    assert all(len(found) == 1 for found in colours.values())
    assert len({*map(min, colours.values())}) == len(colours)


def test_one_figure_is_one_file(cli, sweep_folder, two_tracks, tmp_path):
    code, out, err = cli("report", sweep_folder, "--figure", "accuracy", "--format", "pdf", "--out", tmp_path / "a.pdf")
    assert code == 0, err
    assert out.split() == [str(tmp_path / "a.pdf")]
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    code, _, err = cli("report", two_tracks, "--figure", "acuracy")
    assert code == 2
    assert "did you mean 'accuracy" in err


def test_a_figure_of_five_panels_has_no_empty_ones(two_tracks):
    line = Line("a", (1.0, 2.0), (0.1, 0.2), 0)
    lines = tuple(replace(line, name=name) for name in "abcde")
    shown = draw(Curves("accuracy", "", "", "round", "accuracy", lines, layout="panels")).get_axes()
    assert sum(axes.get_visible() for axes in shown) == 5
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in shown[:5]] == [False, True, True, True, True]


def test_an_svg_has_a_role_and_a_title(cli, two_tracks, tmp_path):
    name = "final-accuracy-trained-from-scratch"
    assert cli("report", two_tracks, "--figure", name, "--format", "svg", "--out", tmp_path / "a.svg")[0] == 0
    text = (tmp_path / "a.svg").read_text()
    assert '<svg role="img" ' in text
    assert "<title>Accuracy after the last round: trained from scratch. test accuracy: v7" in text


def test_one_table_is_a_bare_tabular_with_a_group_for_each_track(cli, two_tracks, tmp_path):
    code, out, err = cli("report", two_tracks, "--table", "results", "--format", "latex", "--out", tmp_path / "r.tex")
    assert code == 0, err
    text = Path(out.strip()).read_text()
    assert text.startswith("\\begin{tabular}{l")
    assert text.rstrip().endswith("\\end{tabular}")
    assert "documentclass" not in text and "caption" not in text
    assert text.count("\\multicolumn") == 2


def test_methods_begin_with_a_dozen_by_track_one_line_each(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = cli("methods")[1].splitlines()
    assert len(lines) <= 20
    assert all(len(line) <= 80 and not line.endswith("...") for line in lines)
    assert [line for line in lines if not line.startswith(" ")][:-1] == [
        "trained from scratch",
        "frozen encoder",
        "public",
        "statistics only",
    ]
    assert "mooring methods --all" in lines[-1]
    assert "hypergradient-held-out" in cli("methods", "--all")[1]


def test_show_explains_a_method_before_its_tree(cli):
    out = cli("show", "v12")[1]
    comments, _, tree = out.partition("method:\n")
    assert "lambda: own_loss = 1/2 [ e^-u L_b + DATA(p) e^-v L_a + u + PRIOR(p) v ]" in comments
    assert "source: lab note 5" in comments
    assert "for: lambda: FAFI with prototypes pulled to a simplex" in " ".join(comments.split())
    assert all(line.startswith("# ") and len(line) <= 80 for line in comments.splitlines())
    assert "name: v12" in tree


def test_a_study_explains_itself(cli):
    out = cli("study")[1]
    assert out.startswith("A study runs a lab note again and decides each of its claims")
    assert "mooring study 5" in out
    assert "..." not in out
    assert len(out.splitlines()) <= 23


def test_a_run_ends_with_accuracy_verdict_and_next_command(cli):
    quick = ("rounds=1", "training.local_epochs=1", "data.limit=200", "engine.workers=1", "out=run")
    out = " ".join(cli("run", "method=fedavg-1", *quick)[1].split())
    assert "trained from scratch" in out
    assert re.search(r"! fedavg-1: \d+\.\d % \(95 % CI [\d.]+-[\d.]+ %, 360 images\), warning: ", out)
    assert re.search(r"next: mooring (doctor|fuse) run$", out)


def test_an_answer_about_several_experiments_has_a_line_for_each(tracks_report):
    best = answer(tracks_report, "Which is best").splitlines()
    assert [line.partition(":")[0] for line in best[:2]] == ["Trained from scratch", "Statistics only"]
    assert all(line.endswith(".") for line in answer(tracks_report, "What to mistrust").splitlines())
