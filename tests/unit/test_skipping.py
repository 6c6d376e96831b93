"""On a machine without a browser the suite passes, and says what it did not test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]


@pytest.mark.parametrize(("content", "why"), [(None, "no chromium on the PATH"), ("#!/bin/sh\nexit 1\n", "cannot be")])
def test_without_a_browser_its_tests_are_skipped_and_one_line_says_so(content, why, tmp_path):
    if content is not None:
        (tmp_path / "chromium").write_text(content)
        (tmp_path / "chromium").chmod(0o755)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/browser"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    shown = subprocess.run(
        command, cwd=HOME, env=environment | {"PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stdout
    [line] = [line for line in shown.stdout.splitlines() if line.startswith("NOT TESTED")]
    assert line.startswith("NOT TESTED: pages in a browser: ")
    assert why in line
    assert "passed" not in shown.stdout
