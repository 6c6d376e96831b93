import json

import pytest


@pytest.fixture
def run_json(cli):
    def run(*arguments):
        code, out, err = cli("run", *arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return run
