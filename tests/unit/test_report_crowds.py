"""More clients, claims and files than anybody reads at once: summed up or folded, and nobody is left out."""

from statistics import median

import pytest
from report_folders import with_many_clients

from mooring.notes._reporting import NOTES_EXTENSION
from mooring.reports._compose import compose
from mooring.reports._figure import Curves
from mooring.reports._formats.html import page
from mooring.reports._reading import collect_report_data
from mooring.reports._section import Report, VerdictLine
from mooring.reports._sections.drawing import quantile
from mooring.reports._sections.training import base


def test_many_clients_are_drawn_as_quantiles_and_listed_in_folded_tables(v12_run, tmp_path):
    with_many_clients(v12_run, tmp_path / "run", 50)
    data = collect_report_data(tmp_path / "run")
    [run] = data.runs
    found = base(run)
    middle, lowest, highest = found.lines
    ends = [sorted(client.rounds[i].base_loss for client in run.clients) for i in range(2)]
    assert [middle.y[i] for i in range(2)] == [median(values) for values in ends]
    assert [(lowest.y[i], highest.y[i]) for i in range(2)] == [(values[0], values[-1]) for values in ends]
    low, high = middle.band
    assert all(ends[i][0] <= low[i] <= middle.y[i] <= high[i] <= ends[i][-1] for i in range(2))
    assert "Of 50 clients: the median" in found.caption
    told = compose(data)
    assert all(len(figure.lines) <= 7 for figure in told.figures if isinstance(figure, Curves))
    assert all(table.folded for table in told.tables if len(table.rows) >= 50)
    assert {len(table.rows) for table in told.tables if "client" in table.columns} == {50}


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.1, 1.4), (0.5, 3.0), (0.9, 4.6), (1.0, 5.0)])
def test_a_quantile_lies_between_its_neighbours(share, value):
    assert quantile([5.0, 1.0, 2.0, 4.0, 3.0], share) == pytest.approx(value)


def test_claims_that_cannot_be_seen_are_folded_where_they_are_many():
    seen = VerdictLine("good", "confirmed", "lambda grows")
    unseen = [VerdictLine("open", "cannot be seen at this scale", f"claim {i}") for i in range(12)]
    html = page(Report("Study", "", (), (*unseen[:6], seen, *unseen[6:]), ()))
    shown, folded = html.split('<details class="unseen">')
    assert "lambda grows" in shown
    assert "12 more: cannot be seen at this scale" in folded
    assert all(f"claim {i}<" in folded for i in range(12))
    assert '<details class="unseen">' not in page(Report("Study", "", (), (seen, *unseen[:6]), ()))


def test_a_figure_that_a_study_opens_with_is_not_drawn_twice(study_folder):
    report = compose(collect_report_data(study_folder, extension=NOTES_EXTENSION))
    assert report.picture
    assert not [figure for section in report.sections for figure in section.figures if figure in report.picture]
    slugs = [(figure.slug, figure.of) for figure in report.figures]
    assert len(set(slugs)) == len(slugs)
