"""What users can name stays: commands, options, methods, parts, settings, formats and public names."""

from pathlib import Path

from capabilities import capabilities

HERE = Path(__file__).parent


def lines_of(name):
    lines = (HERE / name).read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def test_every_capability_is_still_there_unless_it_was_removed_on_purpose():
    missing = lines_of("capabilities.txt") - set(capabilities())
    assert sorted(missing - lines_of("removed_on_purpose.txt")) == []


def test_only_a_missing_capability_is_listed_as_removed():
    removed = lines_of("removed_on_purpose.txt")
    assert sorted(removed - lines_of("capabilities.txt")) == [], "never was a capability: no such line"
    assert sorted(removed & set(capabilities())) == [], "is still there"
