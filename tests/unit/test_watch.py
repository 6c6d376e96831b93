"""A run in the terminal: what a frame says, and when watching ends."""

from mooring.cli.watch import going_on, log_sparkline, look, sparkline
from mooring.config import HOUSE_CODE
from mooring.record import in_use, locked


def test_a_sparkline_spans_its_blocks():
    assert sparkline([0.0, 0.5, 1.0, None], 0.0, 1.0) == "▁▅█ "
    assert sparkline([3.0, 3.0], 3.0, 3.0) == "▅▅"


def test_a_logarithmic_sparkline_climbs_by_decades():
    assert log_sparkline([1.0, 10.0, 1e7, 0.0], 1.0, 1e7) == "▁▂█ "


def test_a_finished_run_is_seen_whole(v12_run):
    title, record, rounds = look(v12_run, HOUSE_CODE)
    assert title == f"v12  {v12_run}  finished"
    assert rounds == 2
    assert sorted(record.fused) == [0, 1]
    assert len(record.clients) == record.result.clients
    assert all([row.round for row in client.rounds] == [0, 1] for client in record.clients)
    assert not going_on(v12_run)


def test_a_folder_is_in_use_for_as_long_as_it_is_locked(tmp_path):
    assert not in_use(tmp_path)
    with locked(tmp_path):
        assert in_use(tmp_path)
        assert going_on(tmp_path)
    assert not in_use(tmp_path)
