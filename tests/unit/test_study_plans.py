"""The five studies: they load, every run they plan can be built, and every claim is decided by a rule."""

import json
import re
from dataclasses import fields, replace

import pytest
import torch
from study_records import study_of

from mooring.config._plan import check_plan
from mooring.errors import ConfigError
from mooring.events import ClientRecord
from mooring.losses import LOSSES
from mooring.methods import METHODS
from mooring.notes._evidence import CONSTANTS, DERIVED, Evidence
from mooring.notes._measures import Fused
from mooring.notes._page import page
from mooring.notes._plan import load_study, study_file
from mooring.notes._plan import study_files as found
from mooring.notes._run_study import findings, plans, records_beside, reject_varied_keys
from mooring.notes._study_record import read_study, write_study
from mooring.notes._tables import ByClient, ByRound

NUMBERS = ("1", "2", "3", "4", "5")
CLASSES = {"digits": 10, "cifar10": 10, "cifar100": 100, "svhn": 10, "fashion_mnist": 10}


def test_all_five_are_found():
    assert tuple(found()) == NUMBERS


def test_a_number_that_is_none_names_the_valid_ones():
    with pytest.raises(ConfigError, match="valid: 1, 2, 3, 4, 5"):
        study_file("6")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("scale", ["quick", "cpu", "full"])
def test_every_run_of_every_scale_can_be_built(number, scale):
    study = study_of(number)
    planned = dict(plans(study, getattr(study.scales, scale), ()))
    assert planned
    for each in planned.values():
        check_plan(each)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("scale", ["quick", "cpu", "full"])
def test_every_network_has_room_for_the_anchors_of_its_classes(number, scale):
    """A simplex of C anchors needs C - 1 features; without the images nothing else would say so."""
    study = study_of(number)
    for each in dict(plans(study, getattr(study.scales, scale), ())).values():
        experiment = each.experiment_at(next(iter(each.points())))  # no study varies its network or its images
        with torch.device("meta"):
            _, features = experiment.model.build((3, 32, 32), torch.Generator())
        assert features >= CLASSES[experiment.data.source] - 1


def experiments(number, scale):
    study = study_of(number)
    for name, plan in plans(study, getattr(study.scales, scale), ()):
        yield from ((name, plan.experiment_at(point)) for point in plan.points())


LAMBDA_OF_V7 = {"2": 5.0, "3": 20.0, "4": 20.0}  # CIFAR-10, CIFAR-100, CIFAR-100


@pytest.mark.parametrize("number", NUMBERS)
def test_the_full_scale_has_the_settings_of_the_published_runs(number):
    for name, experiment in experiments(number, "full"):
        assert experiment.training.optimizer == "per-round"
        assert experiment.training.batch_size == (256 if number == "5" else 512)
        if experiment.name == "v7":
            assert experiment.method.client.align.weight.base.value == LAMBDA_OF_V7[number]
        if experiment.name == "v7-constant" and name in ("rules", "others"):
            assert experiment.method.client.align.weight.value == LAMBDA_OF_V7[number]


def test_the_published_numbers_of_v7_and_v9_stand_beside_the_annealed_rules():
    """The logs behind 58.77 and 59.04 per cent are headed "Lambda Annealing"."""
    study = study_of("2")
    rows = {row.of: row.note for table in study.tables for row in getattr(table, "rows", ()) if hasattr(row, "of")}
    assert (rows["rules method=v7"][0], rows["rules method=v9"][0]) == (0.5877, 0.5904)
    assert not rows["rules method=v7-constant"]
    assert not rows["rules method=v9-constant"]
    text = " ".join(study.about.split())
    assert "58.77 and 59.04 per cent come from code that anneals lambda (v7, v9)" in text


def test_the_published_numbers_of_v11_stand_beside_the_rule_that_ran():
    study = study_of("3")
    [accuracies, *lambdas] = study.tables
    rows = {row.of: row.note for row in accuracies.rows}
    assert rows["learned method=v11-rescaled-linear"] == ("linear", 0.3835)
    assert rows["learned method=v11-rescaled-cosine"] == ("cosine", 0.3851)
    assert [table.of for table in lambdas] == [
        "learned method=v11-rescaled-linear",
        "learned method=v11-rescaled-cosine",
    ]
    ran = {name: METHODS[f"v11-as-run-{name}"].client.align.weight for name in ("linear", "cosine")}
    for _, experiment in experiments("3", "full"):
        schedule = experiment.name.removeprefix("v11-rescaled-")
        if schedule in ran:
            start = replace(ran[schedule].sigma.start, maximum=20.0)
            assert experiment.method.client.align.weight == replace(
                ran[schedule], sigma=replace(ran[schedule].sigma, start=start)
            )


@pytest.mark.parametrize("number", NUMBERS)
def test_nothing_is_decided_without_data(number, tmp_path):
    study = study_of(number)
    nothing = Evidence({sweep.name: () for sweep in study.sweeps})
    told = findings(study, "quick", [], nothing)
    assert {row.verdict for row in told.verdicts} == {"was not run"}
    assert {row.id for row in told.verdicts} == {claim.id for claim in study.claims}
    write_study(tmp_path, told)
    assert read_study(tmp_path) == told
    text = page(replace(told, missing=("a/b",)))
    assert "a/b" in text
    assert all(row.documented in text for row in told.verdicts)


@pytest.mark.parametrize("number", NUMBERS)
def test_what_is_measured_is_what_clients_record(number):
    """A name that nobody records would only ever say that it cannot be seen."""
    study = study_of(number)
    named = re.findall(r"\b(?:field|by|trigger|part|whole): ([\w-]+)", study_file(number).read_text("utf-8"))
    columns = [name for table in study.tables if isinstance(table, ByClient) for name in table.measured.values()]
    assert named
    assert {*named, *columns} <= {field.name for field in fields(ClientRecord)} | {*DERIVED, *CONSTANTS, *LOSSES}


@pytest.mark.parametrize("number", NUMBERS)
def test_claims_quote_the_note_or_say_that_they_are_ours(number):
    for claim in study_of(number).claims:
        assert bool(claim.phrase) != (claim.where == "not in the note"), claim.id


@pytest.mark.parametrize("number", NUMBERS)
def test_every_sentence_that_asserts_something_is_on_the_page(number):
    study = study_of(number)
    text = page(findings(study, "quick", [], Evidence({sweep.name: () for sweep in study.sweeps})))
    assert len(study.sentences) > 20
    for sentence in study.sentences:
        assert sentence.words in text
        assert sentence.reason in text
        assert all(f"`{id_}`" in text for id_ in sentence.claims)


@pytest.mark.parametrize(
    ("found", "instead", "problem"),
    [
        ("claims: [climbs-first]", "claims: [climbs-frist]", "there is no claim 'climbs-frist'; did you mean"),
        ("claims: [climbs-first]", "claims: []", "needs its claims, or the reason why it has none"),
        (
            "claims: [climbs-first]",
            "claims: [collapse]",
            "claim climbs-first: quotes the note, and no sentence names it",
        ),
    ],
)
def test_a_sentence_without_its_claim_is_an_error(found, instead, problem, tmp_path):
    text = study_file("5").read_text("utf-8")
    assert text.count(found) == 1
    (tmp_path / "9-x.yaml").write_text(text.replace(found, instead), "utf-8")
    with pytest.raises(ConfigError, match=re.escape(problem)):
        load_study(tmp_path / "9-x.yaml")


def test_a_page_shows_every_scale_that_lies_beside_it(tmp_path):
    study = study_of("5")
    nothing = Evidence({sweep.name: () for sweep in study.sweeps})
    quick, cpu = (findings(study, scale, [], nothing) for scale in ("quick", "cpu"))
    old = replace(cpu, verdicts=tuple(row for row in cpu.verdicts if row.id != "dominated"))  # of an older study file
    write_study(tmp_path / "5-cpu", old)
    scales = records_beside(quick, tmp_path / "5-quick")
    assert [told.scale for told in scales] == ["quick", "cpu"]
    text = page(quick, scales)
    assert quick.command in text
    assert cpu.command in text
    assert "| claim | documented | quick | cpu | verdict | why |" in text
    rows = {row.split("`")[1]: row for row in text.splitlines() if row.startswith("| `")}
    unseen = "was not run"
    assert f"quick: **{unseen}**; cpu: **{unseen}**" in rows["runaway"]
    assert f"| - | - | **{unseen}** |" in rows["dominated"]
    assert [told.scale for told in records_beside(quick, tmp_path / "elsewhere" / "s")] == ["quick"]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("scale", ["quick", "cpu", "full"])
def test_what_a_table_prints_by_round_is_fused_in_that_round(number, scale):
    study = study_of(number)
    settings = dict(word.split("=", 1) for word in getattr(study.scales, scale).settings)
    if "training.snapshots" not in settings:
        return
    kept, last = json.loads(settings["training.snapshots"]), int(settings["training.rounds"]) - 1
    for table in study.tables:
        if isinstance(table, ByRound) and any(isinstance(column.measure, Fused) for column in table.measured):
            asked = {round(row[0] / (table.note_rounds - 1) * last) for row in table.rows}
            assert asked <= set(kept), table.title


def test_settings_that_a_study_varies_itself_are_rejected():
    study = study_of("1")
    with pytest.raises(ConfigError) as error:
        reject_varied_keys(study, ["partition.alpha=0.3", "seed=9", "training.rounds=2"])
    assert len(error.value.problems) == 2
    assert "partition.alpha=0.3: study 1 sets this by its sweep 'bank'" in error.value.problems[0]
    assert "write seeds=1,2" in error.value.problems[1]


def test_a_mistake_in_a_study_names_its_place(tmp_path):
    text = study_file("5").read_text("utf-8").replace("kind: correlation", "kind: corelation", 1)
    (tmp_path / "9-x.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="did you mean 'correlation'"):
        load_study(tmp_path / "9-x.yaml")


def test_a_claim_about_runs_that_nobody_makes_is_an_error(tmp_path):
    text = (
        study_file("5")
        .read_text("utf-8")
        .replace("of: explosion method=v12 fusion", "of: explosion method=v13 fusion", 1)
    )
    (tmp_path / "9-x.yaml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="no sweep runs it"):
        load_study(tmp_path / "9-x.yaml")
