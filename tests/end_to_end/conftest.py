import json
import sys

import pytest

from mooring.cli import main


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    """Run the command line as a user does, in an empty folder; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["mooring", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def run_json(cli):
    def run(*arguments):
        code, out, err = cli("run", *arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return run
