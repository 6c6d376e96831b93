"""What a report says: tables with numbers that were added up by hand, and folders that are told when damaged."""

import json
import shutil
from dataclasses import replace
from math import sqrt

import pytest
import torch
from report_folders import fusion_of, relabelled, write_members

from mooring import load, run_experiment
from mooring.errors import ConfigError, MooringError
from mooring.events import ClientRecord
from mooring.methods import feature_maps_of
from mooring.models._feature_maps import EncoderFeatures
from mooring.models._flops import feature_flops, forward_flops
from mooring.models._network import Blueprint
from mooring.notes._reporting import NOTES_EXTENSION
from mooring.record import RunFolder, read_sweep, write_record, write_sweep
from mooring.record._files import sealed
from mooring.reports._compose import compose
from mooring.reports._figure import Curves
from mooring.reports._reading import collect_report_data
from mooring.reports._sections.costs import client_flops, flops, inference_flops
from mooring.reports._sections.prototypes import overall
from mooring.reports._table import Quoted, Spread, Table, cell_text, spread
from mooring.sweeps._summary import summarised


@pytest.fixture(scope="module")
def run_report(v12_run):
    return compose(collect_report_data(v12_run))


@pytest.fixture(scope="module")
def sweep_report(sweep_folder):
    return compose(collect_report_data(sweep_folder))


def table(report, slug):
    [found] = [table for table in report.tables if table.slug == slug]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def figures(report, slug):
    return [figure for figure in report.figures if figure.slug == slug]


def test_results_are_means_and_sample_deviations_over_seeds(sweep_report):
    v7, v12 = table(sweep_report, "results")
    assert (v7["experiment"], v7["n"], v7["seeds"]) == ("v7", 2, "1, 2")
    assert v7["accuracy"].mean == pytest.approx(0.6)
    assert v7["accuracy"].std == pytest.approx(0.2 / sqrt(2))
    assert v12["accuracy"].mean == pytest.approx(0.4)
    assert v12["accuracy"].std == pytest.approx(0.4 / sqrt(2))
    assert "fingerprints" not in v7  # they stand at the end, with the runs
    assert len({row["fingerprint"] for row in table(sweep_report, "runs")}) == 4
    half = 12.7062047 * 0.1  # t(1) at 97.5 %, times std / sqrt(2), and never outside [0, 1]
    assert (v7["95 % interval"].low, v7["95 % interval"].high) == (0.0, 1.0)
    assert 0.6 + half > 1


def test_the_baseline_is_compared_seed_by_seed(sweep_report):
    [line] = table(sweep_report, "baseline")
    assert line["experiment"] == "v12"
    assert line["difference"].mean == pytest.approx((-0.3 - 0.1) / 2)
    assert line["difference"].std == pytest.approx(0.2 / sqrt(2))
    assert (line["pairs won"], line["pairs"]) == (0, 2)
    half = 12.7062047 * 0.1  # t(1) at 97.5 %, times std / sqrt(2), and never outside [-1, 1]
    assert (line["95 % interval"].low, line["95 % interval"].high) == (-1.0, 1.0)
    assert -0.2 + half > 1


def test_runs_that_did_not_finish_are_named_and_not_counted(sweep_report):
    assert table(sweep_report, "unfinished") == [{"run": "v12-seed3", "why": "failed"}]
    assert len(table(sweep_report, "runs")) == 4


def test_the_band_is_one_deviation_around_the_mean(sweep_report):
    [figure] = figures(sweep_report, "accuracy")
    line = figure.lines[1]
    assert line.y[-1] == pytest.approx(0.4)
    assert line.band[0][-1] == pytest.approx(0.4 - 0.4 / sqrt(2))
    assert line.band[1][-1] == pytest.approx(0.4 + 0.4 / sqrt(2))


def test_a_trace_is_what_the_events_say(run_report, v12_run):
    [figure] = figures(run_report, "lambda")
    solid = {line.name: line for line in figure.lines if line.style == "solid"}
    told = [timed.event for timed in RunFolder(v12_run).events if isinstance(timed.event, ClientRecord)]
    last = [row for row in told if row.round == 1]
    assert len(last) == len(solid)
    for row in last:
        assert solid[f"client {row.client}"].y[-1] == pytest.approx(row.lambda_felt)
    dashed = [line for line in figure.lines if line.style == "dashed" and line.family]
    assert len(dashed) == len(solid)
    assert figure.scale == "log"


def test_losses_of_the_table_are_those_of_the_result(run_report, v12_run):
    rows = RunFolder(v12_run).result.last.clients
    for line, row in zip(table(run_report, "losses"), rows, strict=True):
        assert line["L_b"] == pytest.approx(row.base_loss)
        assert line["L_a"] == pytest.approx(row.align_loss)
        parts = [line[name] for name in ("cross-entropy", "supcon", "feature-to-prototype", "prototype-spread")]
        assert sum(parts) == pytest.approx(line["L_b"], rel=1e-5)


def test_the_share_of_prototypes_is_weighted_by_norm():
    norms = {0: (1.0, 3.0), 1: (3.0, 1.0), 2: (4.0, 4.0)}
    assert overall(norms) == pytest.approx({0: (1 / 8 + 3 / 8) / 2, 1: (3 / 8 + 1 / 8) / 2, 2: 1 / 2})
    assert overall({0: (0.0, 1.0)}) == {}


def test_shares_add_up_to_one(run_report):
    rows = table(run_report, "prototypes")
    assert sum(row["share of prototypes"] for row in rows) == pytest.approx(1)
    assert sum(row["share of images"] for row in rows) == pytest.approx(1)


def test_costs_are_sums_over_clients(run_report, v12_run):
    result = RunFolder(v12_run).result
    [line] = table(run_report, "costs")
    assert line["upload bytes"] == sum(upload.bytes for upload in result.uploads if upload.round == 1)
    assert line["inference passes"] == len(result.last.clients)
    assert line["client seconds"] >= line["slowest client (s)"] > 0


def test_flops_follow_images_views_and_epochs(v12_run, make_job):
    [run] = collect_report_data(v12_run).runs
    one = forward_flops(make_job().blueprint)
    assert client_flops(run) == 3 * one * 300 * 2 * 1 * 2


def test_clients_that_train_nothing_have_costs_too(tmp_path):
    words = ["method=mooring", "encoder=none", "data.limit=100", "engine.workers=1", f"out={tmp_path / 'run'}"]
    [experiment] = load(overrides=words)
    run_experiment(experiment)
    data = collect_report_data(tmp_path / "run")
    [own] = data.runs
    [line] = table(compose(data), "costs")
    assert line["client seconds"] >= line["slowest client (s)"] > 0
    [features] = feature_maps_of(experiment.method.fusion)
    plan = Blueprint(experiment.model, experiment.method.client.head, (1, 8, 8), own.result.classes, (0.0,), (1.0,))
    one = feature_flops(features, plan)
    d = features.size(plan)
    assert line["client FLOPs"] == 100 * (one + 2 * 10 * d + 2 * d * d)
    assert line["inference FLOPs"] == one > 0
    method = experiment.method
    unseen = replace(experiment, method=replace(method, fusion=replace(method.fusion, map=EncoderFeatures())))
    [group] = [replace(group, runs=(replace(own, experiment=unseen),)) for group in data.groups]
    assert flops(group, client_flops) == flops(group, inference_flops) == "not counted"


def test_flops_are_two_per_weight_and_place(make_job):
    """A convolution does 2 x weights x places operations, the prototypes 2 x C x d; nothing else multiplies."""
    network = make_job().blueprint.build(torch.Generator()).eval()
    places = {}
    layers = [layer for layer in network.modules() if isinstance(layer, torch.nn.Conv2d)]
    for layer in layers:
        layer.register_forward_hook(lambda layer, _, out: places.update({layer: out.shape[2] * out.shape[3]}))
    network(torch.zeros(1, 1, 8, 8))
    by_hand = sum(2 * layer.weight.numel() * places[layer] for layer in layers) + 2 * network.prototypes.numel()
    assert forward_flops(make_job().blueprint) == by_hand


def test_a_confusion_adds_up_to_one_in_every_row(run_report):
    [figure] = figures(run_report, "confusion")
    assert all(sum(row) == pytest.approx(1) for row in figure.values)


def test_the_partition_says_how_skewed_it_is(run_report):
    [figure] = figures(run_report, "partition")
    assert sum(map(sum, figure.values)) == 300
    assert "every image at 1.00 clients" in figure.caption


def test_other_fusions_stand_beside_the_own_one(v12_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(v12_run, folder)
    result = RunFolder(folder).result
    for kind in ("class-expert", "feature-ensemble"):
        write_record(folder / "fusions" / f"{kind}-1.json", fusion_of(result, kind, 0.9))
    rows = table(compose(collect_report_data(folder)), "fusions")
    assert [row["fusion"] for row in rows] == ["class-expert", "feature-ensemble (own)"]
    assert rows[0]["accuracy"] == Spread(0.9)


def test_a_study_begins_with_its_verdicts(study_folder):
    report = compose(collect_report_data(study_folder, extension=NOTES_EXTENSION))
    assert [verdict.badge for verdict in report.verdicts[:3]] == [
        "confirmed",
        "not confirmed",
        "cannot be seen at this scale",
    ]
    assert [card.value for card in report.cards[:3]] == ["1", "1", "1"]
    assert table(report, "documented")[0]["documented"] == "204658"
    assert table(report, "study-1")[0]["round"] == "0"


def test_a_study_keeps_the_words_of_the_note_and_of_its_author(study_folder):
    report = compose(collect_report_data(study_folder, extension=NOTES_EXTENSION))
    refuted = report.verdicts[1]
    assert refuted.quote.endswith("均衡点，σ")
    assert (refuted.rule, refuted.why) == ("100% not", "The sign is <i>wrong</i>: it grows.")
    assert table(report, "documented")[1]["in the note's words"] == refuted.quote
    assert table(report, "documented")[1]["why"] == f"{refuted.rule}. {refuted.why}"
    assert report.command == "mooring study 5 scale=quick seeds=1,2 data.root=/a_b"
    told = {row["what"]: row["value"] for row in table(report, "study")}
    assert told["scale"] == "quick: the digits."
    assert told["command"] == report.command


def test_a_study_without_its_sweeps_still_says_its_verdicts(study_folder, tmp_path):
    shutil.copy(study_folder / "study.json", tmp_path)
    report = compose(collect_report_data(tmp_path, extension=NOTES_EXTENSION))
    assert len(report.verdicts) == 3
    assert table(report, "unfinished")[0]["run"] == "pull"


def test_settings_tell_what_is_shared_from_what_differs(sweep_report):
    apart = {row["key"] for row in table(sweep_report, "settings-apart")}
    assert "method.name" in apart
    assert "training.lr" in {row["key"] for row in table(sweep_report, "settings")}
    assert not apart & {"seed", "out"}


def test_experiments_of_one_name_and_different_settings_are_told_apart(v12_run, tmp_path):
    for name, lr in (("a", 0.05), ("b", 0.1)):
        relabelled(v12_run, tmp_path / "runs" / name, ["method=v12", f"training.lr={lr}"], 0.5)
    (tmp_path / "sweep.yaml").write_text("factors: {}")
    write_members(tmp_path, {"a": {}, "b": {}})
    assert len(collect_report_data(tmp_path).groups) == 2


def test_a_sweep_over_two_factors_is_shown_as_papers_do(v12_run, tmp_path):
    accuracies = {("v7", "0.05"): 0.5, ("v7", "0.5"): 0.9, ("v12", "0.05"): 0.2, ("v12", "0.5"): 0.4}
    members = {}
    for (method, alpha), accuracy in accuracies.items():
        name = f"{method}-{alpha}"
        relabelled(v12_run, tmp_path / "runs" / name, [f"method={method}", f"partition.alpha={alpha}"], accuracy)
        members[name] = {"method": method, "partition.alpha": float(alpha)}
    (tmp_path / "sweep.yaml").write_text("factors: {method: [v7, v12], partition.alpha: [0.05, 0.5]}")
    write_members(tmp_path, members)
    report = compose(collect_report_data(tmp_path))
    assert table(report, "by-partition-alpha") == [
        {"experiment": "v7", "alpha=0.05": Spread(0.5), "alpha=0.5": Spread(0.9)},
        {"experiment": "v12", "alpha=0.05": Spread(0.2), "alpha=0.5": Spread(0.4)},
    ]
    assert collect_report_data(tmp_path).groups[0].label == "v7 · alpha=0.05"


def test_a_baseline_without_a_value_is_compared_with(v12_run, tmp_path):
    relabelled(v12_run, tmp_path / "runs/clip_None", ["training.clip=null"], 0.5)
    relabelled(v12_run, tmp_path / "runs/clip1", ["training.clip=1"], 0.75)
    (tmp_path / "sweep.yaml").write_text("factors: {training.clip: [null, 1]}\nbaseline: training.clip=None")
    members = {"clip_None": {"training.clip": None}, "clip1": {"training.clip": 1}}
    write_members(tmp_path, members, "training.clip=None")
    [line] = table(compose(collect_report_data(tmp_path)), "baseline")
    assert (line["difference"], line["pairs"]) == (Spread(0.25), 1)


def test_a_column_of_spreads_becomes_two_for_machines():
    counted = Table("t", "T", ("note", "x"), ((Quoted("1,204.50"), Spread(0.5, 0.1, 3)), (None, 2.0))).flat()
    assert counted.columns == ("note", "x", "x std", "x n")
    assert counted.rows == ((1204.5, 0.5, 0.1, 3), (None, 2.0, None, None))
    flat = Table("t", "T", ("name", "accuracy"), (("a", Spread(0.5, 0.1)), ("b", None))).flat()
    assert flat.columns == ("name", "accuracy", "accuracy std")
    assert flat.rows == (("a", 0.5, 0.1), ("b", None, None))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (Spread(0.73123, 0.1854), "0.731 ± 0.185"),
        (Spread(0.5), "0.500"),
        (Spread(0.5, 0.25, 2), "0.500 ± 0.250 (n = 2)"),
        (Quoted("0.7670"), "0.7670"),
        (1234567, "1,234,567"),
        (1577056.1, "1.58e+06"),
        (6308.2, "6,308"),
        (2.7e-6, "2.70e-06"),
        (0.0, "0.000"),
        (-0.25, "-0.250"),
        ("text", "text"),
    ],
)
def test_numbers_look_as_people_write_them(cell, text):
    assert cell_text(cell) == text


def test_a_spread_of_nothing_is_nothing():
    assert spread([None, None]) is None
    assert spread([1.0, None]) == Spread(1.0)


def test_only_few_clients_are_drawn_and_the_rest_is_told(run_report):
    for figure in run_report.figures:
        assert not isinstance(figure, Curves) or len({line.family or line.name for line in figure.lines}) <= 24


def test_a_damaged_round_is_told(v12_run, tmp_path):
    shutil.copytree(v12_run, tmp_path / "run")
    events = tmp_path / "run" / "events.jsonl"
    events.write_text(events.read_text().replace('"seconds": ', '"seconds": "long", "was": '))
    with pytest.raises(MooringError, match=r"events.jsonl: changed since it was written"):
        collect_report_data(tmp_path / "run")


VERDICT = {"id": "1", "claim": "x", "verdict": "confirmed"}
TABLE = {"title": "t", "columns": ["a"], "rows": []}
PLOT = {"title": "t", "y_title": "y", "lines": [{"x": "a", "y": "y"}]}


def study_with(**changes):
    """A study.json that says nothing but this."""
    texts = dict.fromkeys(("title", "note", "about", "scale", "scale_about", "command"), "")
    lists = {name: [] for name in ("settings", "seeds", "sweeps", "verdicts", "tables", "runs")}
    return json.dumps(sealed({"study": 1, **texts, **lists, **changes}))


def damaged(folder, name, text):
    (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("study.json", "{", "is not valid JSON"),
        ("study.json", "[]", "study.json: []: must be a mapping of"),
        ("study.json", "{}", "study.json: study: is required and missing"),
        ("study.json", study_with(verdicts=[VERDICT | {"verdict": "maybe"}]), "verdicts[0].verdict='maybe' is unknown"),
        (
            "study.json",
            study_with(verdicts=[{"id": "1", "verdict": "confirmed"}]),
            "verdicts.0.claim: is required",
        ),
        ("study.json", study_with(tables=[TABLE | {"rows": [["1", "2"]]}]), "study table 1: rows[0] does not fill 1"),
        (
            "study.json",
            study_with(tables=[TABLE | {"rows": [[[1]]]}]),
            "tables.0.rows.0.0=[1]: must be text, or a",
        ),
        ("study.json", study_with(tables=[TABLE | {"plots": [PLOT]}]), "draws the column 'y', which it has not"),
        ("study.json", study_with(sweeps="one"), "sweeps=one: must be a list"),
        ("sweep.yaml", "factors: 3", "factors: must map keys to lists of values"),
        ("sweep.yaml", "factors: {seed: [1]}\nbaseline: v4", "baseline=v4: is not a value of a factor"),
        ("sweep.yaml", "factors: {seed: [1]}", "no run of this sweep has finished"),
        ("experiment.yaml", "seed: 1", "this run is not finished"),
        ("result.json", "{}", "has format unknown, this version reads 2"),
        ("result.json", '{"format": 3}', "has format 3, this version reads 2"),
        ("result.json", '{"format": 2}', "method: is required and missing"),
        ("notes.txt", "x", "holds nothing to report on"),
    ],
)
def test_a_damaged_folder_is_told_in_one_line_with_a_remedy(tmp_path, name, text, told):
    with pytest.raises(MooringError) as error:
        collect_report_data(damaged(tmp_path, name, text), extension=NOTES_EXTENSION)
    assert told in str(error.value)
    assert error.value.remedy or isinstance(error.value, ConfigError), "a mistake in a file says itself what is valid"
    assert "\n" not in str(error.value)


def test_a_changed_record_of_a_sweep_is_rejected(sweep_folder, tmp_path):
    shutil.copytree(sweep_folder, tmp_path / "s")
    record = tmp_path / "s" / "sweep.json"
    changed = record.read_text().replace("failed", "finished")
    damages = {
        changed: "changed since it was written",
        "{": "is not valid JSON",
        "{}": "sweep.json: members: is required and missing",
    }
    for text, problem in damages.items():
        record.write_text(text)
        with pytest.raises(MooringError, match=problem):
            collect_report_data(tmp_path / "s")


def test_a_sweep_of_an_earlier_version_is_read_from_its_plan(sweep_folder, tmp_path):
    """It has no record: names and factors are those of its plan."""
    shutil.copytree(sweep_folder, tmp_path / "s")
    (tmp_path / "s" / "sweep.json").unlink()
    read, old = collect_report_data(sweep_folder), collect_report_data(tmp_path / "s")
    assert [(run.name, run.factors) for run in old.members] == [(run.name, run.factors) for run in read.members]
    assert old.baselines == read.baselines
    assert dict(old.unfinished) == {"v7-seed3": "not finished", "v12-seed3": "not finished"}


def test_the_tables_of_a_sweep_are_not_read_back(sweep_folder, tmp_path):
    shutil.copytree(sweep_folder, tmp_path / "s")
    (tmp_path / "s" / "results.csv").write_text("edited by hand")
    assert [len(group.runs) for group in collect_report_data(tmp_path / "s").groups] == [2, 2]


@pytest.fixture
def fused_sweep(v12_run, tmp_path):
    """Two methods trained for one fusion and fused by another, over two seeds; accuracies to be added up by hand."""
    trained = {("v7", 1): 0.5, ("v7", 2): 0.7, ("v12", 1): 0.2, ("v12", 2): 0.6}
    fused = {("v7", 1): 0.4, ("v7", 2): 0.8, ("v12", 1): 0.5, ("v12", 2): 0.6}
    members, trained_by = {}, {}
    for (method, seed), accuracy in trained.items():
        name = f"{method}-feature-ensemble-seed{seed}"
        result = relabelled(v12_run, tmp_path / "runs" / name, [f"method={method}", f"seed={seed}"], accuracy)
        members[name] = {"method": method, "fusion": "feature-ensemble", "seed": seed}
        other = f"{method}-class-expert-seed{seed}"
        write_record(tmp_path / "fused" / f"{other}.json", fusion_of(result, "class-expert", fused[method, seed]))
        members[other] = {"method": method, "fusion": "class-expert", "seed": seed}
        trained_by[other] = name
    factors = {"method": ["v7", "v12"], "fusion": ["feature-ensemble", "class-expert"], "seed": [1, 2]}
    (tmp_path / "sweep.yaml").write_text(json.dumps({"factors": factors, "baseline": "fusion=feature-ensemble"}))
    in_order = sorted(members, key=lambda name: [values.index(members[name][key]) for key, values in factors.items()])
    rows = {name: members[name] for name in in_order}
    write_members(tmp_path, rows, "fusion=feature-ensemble", trained_by=trained_by)
    return tmp_path


def test_what_was_only_fused_has_a_line_of_results(fused_sweep):
    report = compose(collect_report_data(fused_sweep))
    lines = {row["experiment"]: row for row in table(report, "results")}
    assert list(lines) == [
        "v7 · class-expert",
        "v7 · feature-ensemble",
        "v12 · class-expert",
        "v12 · feature-ensemble",
    ]  # best first
    assert lines["v12 · class-expert"]["accuracy"].mean == pytest.approx(0.55)
    assert lines["v7 · class-expert"]["n"] == 2
    assert [(card.value, card.label) for card in report.cards[:2]] == [
        ("8", "runs"),
        ("4", "experiments"),
    ]  # as results.csv counts them
    assert report.cards[0].detail == "4 trained, 4 fused from their uploads"
    assert table(report, "by-fusion")[0]["fusion=class-expert"].mean == pytest.approx(0.6)
    assert len(table(report, "runs")) == 4


def test_a_fusion_can_be_the_baseline_and_the_page_says_what_the_summary_says(fused_sweep):
    found = {row["experiment"]: row for row in table(compose(collect_report_data(fused_sweep)), "baseline")}
    assert list(found) == ["v7 · class-expert", "v12 · class-expert"]
    factors = ["method", "fusion", "seed"]
    runs = [member.record for member in collect_report_data(fused_sweep).members]
    for line in summarised(runs, factors, "fusion=feature-ensemble"):
        if line.factors["fusion"] == "class-expert":
            told, difference = found[f"{line.factors['method']} · class-expert"], line.difference
            assert told["difference"].mean == pytest.approx(difference.mean, abs=1e-12)
            interval = told["95 % interval"]
            assert (interval.low, interval.high) == pytest.approx((difference.low, difference.high))
            assert told["pairs"] == difference.pairs == 2
    assert found["v12 · class-expert"]["pairs won"] == 1


def test_a_fusion_of_an_earlier_call_with_fewer_clients_is_unfinished(fused_sweep):
    record = read_sweep(fused_sweep)
    rows = [
        replace(m, status="some clients failed") if m.name == "v12-class-expert-seed2" else m for m in record.members
    ]
    write_sweep(fused_sweep, replace(record, members=tuple(rows)))
    assert collect_report_data(fused_sweep).unfinished == (("v12-class-expert-seed2", "some clients failed"),)


def test_a_fusion_without_its_training_is_told(fused_sweep):
    shutil.rmtree(fused_sweep / "runs" / "v7-feature-ensemble-seed1")
    told = dict(collect_report_data(fused_sweep).unfinished)
    assert told["v7-class-expert-seed1"] == "the run that trained it is missing"


def test_a_damaged_fusion_is_told(fused_sweep):
    for text in ("{}", '{"format": 2}'):
        (fused_sweep / "fused" / "v7-class-expert-seed1.json").write_text(text)
        with pytest.raises(MooringError, match=r"v7-class-expert-seed1\.json: fusion: is required and missing"):
            collect_report_data(fused_sweep)


def test_trials_of_a_search_are_compared_trial_by_trial(v12_run, tmp_path):
    accuracies = {("0.0123456789", "v7"): 0.5, ("0.0123456789", "v12"): 0.6, ("0.07", "v7"): 0.1, ("0.07", "v12"): 0.4}
    members = {}
    for (lr, method), accuracy in accuracies.items():
        relabelled(v12_run, tmp_path / "runs" / f"{lr}-{method}", [f"method={method}", f"training.lr={lr}"], accuracy)
        members[f"{lr}-{method}"] = {"training.lr": float(lr), "method": method}
    write_members(tmp_path, members, "method=v7")
    search = {"trials": 2, "space": {"training.lr": {"low": 0.01, "high": 0.1}}}
    plan = {"factors": {"method": ["v7", "v12"]}, "baseline": "method=v7", "search": search}
    (tmp_path / "sweep.yaml").write_text(json.dumps(plan))
    found = {
        row["experiment"]: row["difference"].mean for row in table(compose(collect_report_data(tmp_path)), "baseline")
    }
    assert found == {"v12 · lr=0.01235": pytest.approx(0.1), "v12 · lr=0.07": pytest.approx(0.3)}
