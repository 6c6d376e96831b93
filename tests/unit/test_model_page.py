"""The card and the page on a model: who contributed, how good it is, and nothing of a name executed."""

import re
from dataclasses import replace
from hashlib import sha256

import pytest
from federated import Federated, write_sites
from models import TOLD, model, write_held_out

from mooring.federation._assessment import assess
from mooring.federation._kept_uploads import read_kept
from mooring.federation._leave_one_out import accuracy_gain, without_each
from mooring.federation._model_file import load_model, save_model
from mooring.record import RunFolder
from mooring.reports._model_sections import Findings
from mooring.reports._models import model_card, model_report, write_model_page
from mooring.wording import percent_range


@pytest.fixture(scope="module")
def told():
    return model(TOLD)


def test_the_card_names_every_site_and_why_one_is_not_in_it(told):
    card = model_card(told)
    assert rf"| Nord \| \<b\> | 60 | 60.0 |  | {'cd' * 32} |" in card
    assert "- **not in it**: east (set aside: its moments are those of no images)" in card
    assert "| east | set aside: its moments are those of no images |" in card
    assert "| one | 40 |" in card
    assert "No test images were given" in card
    assert "probabilities: of images like those of the sites" in card
    assert "| mode | differential privacy: epsilon 3 |" in card
    assert "brought to 8 x 8 pixels, grey (fit: pad)" in card


def test_what_the_coordinator_was_told_of_a_site_stands_on_the_page(told):
    remark = "the job names no key for it"
    report = model_report(told, Findings(remarks=(("Nord | <b>", remark),)))
    assert ("look at", "Nord | <b>", remark) in [(line.badge, line.text, line.detail) for line in report.verdicts]
    table, _ = next(section.tables for section in report.sections if section.slug == "data")
    assert [row[3] for row in table.rows if row[0] == "Nord | <b>"] == [remark]


def test_the_page_says_how_good_it_is_and_escapes_names(told, tmp_path):
    found = assess(told, write_held_out(tmp_path / "held"))
    write_model_page(told, tmp_path / "page.html", Findings(found))
    page = (tmp_path / "page.html").read_text("utf-8")
    assert found.words in page
    assert found.for_new_images in page
    assert "held-out" not in page
    assert "Nord | &lt;b&gt;" in page
    assert "<b>" not in re.sub(r"<b>[\d.]+( of \d+| %|,\d+)?</b>", "", page)  # but for the page's own numbers
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert len(page) < 100_000  # nothing is drawn, so no library is inside: it can be mailed


def test_sites_can_be_numbered_and_no_name_stays(told, tmp_path):
    copied = replace(told.provenance.sites[2], reason="set aside: a copy of south, or of south-2")
    model = replace(told, provenance=replace(told.provenance, sites=(*told.provenance.sites[:2], copied)))
    found = assess(told, write_held_out(tmp_path / "held", ("south", "west")))
    card = model_card(model, Findings(found, remarks=(("south", "south is new"),), hide_sites=True))
    assert [name for name in ("Nord", "south ", "| south", "east", "west") if name in card] == []
    assert "| site 2 | 40 | 40.0 | site 2 is new |" in card
    assert "| site 3 | set aside: a copy of site 2, or of south-2 |" in card
    assert "| site 4 | " in card


def test_the_card_of_a_run_has_its_results_by_class_and_says_what_is_unknown(told, v12_run):
    result = RunFolder(v12_run).result
    card = model_card(load_model(v12_run / "model.mooring"), Findings(recorded=result, intended="post codes"))
    assert "| intended for | post codes |" in card
    rates = [(row[c], sum(row)) for c, row in enumerate(result.metrics.confusion)]
    assert all(f"| {result.classes[c]} | {right} of {n} |" in card for c, (right, n) in enumerate(rates))
    assert "its owner has not said" in model_card(told)


def test_probabilities_are_compared_with_what_came_true(told, tmp_path):
    found = assess(told, write_held_out(tmp_path / "held"))
    assert sum(row.right.n for row in found.bins) == found.right.n
    assert sum(row.right.right for row in found.bins) == found.right.right
    assert all(row.low <= row.confidence <= row.high for row in found.bins)
    assert "### By probability" in model_card(told, Findings(found))


def test_images_that_were_trained_on_are_no_test(told, tmp_path):
    found = assess(told, write_held_out(tmp_path / "held"))
    for seen, badge, tail in (
        (0, "tested", percent_range(found.right.interval)),
        (5, "no real test", "5 of them trained on"),
    ):
        report = model_report(told, Findings(replace(found, trained=seen)))
        assert report.verdicts[0].badge == badge
        assert report.cards[0].detail.endswith(f", {tail}")


def test_the_command_prints_the_card_and_writes_the_page(cli, told, tmp_path):
    save_model(tmp_path / "m.mooring", told.predictor, told.provenance)
    write_held_out(tmp_path / "held")
    code, out, _ = cli("model-card", "m.mooring")
    digest = sha256((tmp_path / "m.mooring").read_bytes()).hexdigest()
    findings = Findings(file_sha256=digest)
    assert (code, out.strip()) == (0, model_card(load_model(tmp_path / "m.mooring"), findings).strip())
    assert f"| SHA-256 of the file | {digest} |" in out
    code, out, _ = cli("model-card", "m.mooring", "--data", "held", "--out", "card.html")
    assert (code, out) == (0, "card.html\n")
    assert "How good it is" in (tmp_path / "card.html").read_text("utf-8")


def test_a_fusion_of_files_tells_what_each_site_adds(cli, tmp_path, monkeypatch):
    write_sites(tmp_path / "images")
    federation = Federated(tmp_path)
    files = [federation.train(site) for site in ("north", "south", "east")]
    held = write_sites(tmp_path / "held", {"elsewhere": (4, 4, 4, 4)})
    monkeypatch.setenv("MOORING_HOME", str(tmp_path / "home"))
    code, out, err = cli("fuse-files", "job.mooring", *files, "--report", "page.html", "--data", "held")
    assert (code, err) == (0, "")
    assert "page.html: a page for people" in out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert sha256((tmp_path / "model.mooring").read_bytes()).hexdigest() in page
    made = load_model(tmp_path / "model.mooring")
    found = assess(made, held)
    rows = without_each(made, read_kept(tmp_path / "model.mooring", federation.coordinator.identity.public), held)
    assert [row.site for row in rows] == ["north", "south", "east"]
    alone = federation.fuse(files[0], files[1], out="two.mooring")
    assert rows[2].found.right == assess(load_model(alone.path), held).right
    report = model_report(made, Findings(found, rows))
    (table,) = next(section.tables for section in report.sections if section.slug == "without")
    assert [row[-1] for row in table.rows] == [f"{accuracy_gain(found, row):+.1f}" for row in rows]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "What each site adds" in page
    assert found.words in page
    code, out, err = cli("fuse-files", "job.mooring", *files, "--data", "held", "--out", "other.mooring", "--report")
    assert (code, err) == (0, "")
    assert "other.html: a page for people" in out
    assert (tmp_path / "other.html").read_text("utf-8") == page
    code, _, err = cli("fuse-files", "job.mooring", *files, "--data", "held")
    assert (code, "add --report" in err) == (2, True)
