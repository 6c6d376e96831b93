"""Damaged files are refused in one line, or read; `make fuzz` reads ten thousand."""

from fuzzing import BAD, TARGETS, damaged, share


def test_no_damaged_file_brings_a_traceback_a_hang_or_other_content_behind_a_checksum(worker):
    cases = share(worker, list(TARGETS), range(400), seed=7)
    assert [case for case in cases if case.kind in BAD] == []
    assert {case.kind for case in cases} == {"refused", "same", "other"}


def test_damage_can_be_made_again():
    content = bytes(range(256))
    assert damaged(content, "png", 1, 5) == damaged(content, "png", 1, 5)
    assert len({damaged(content, "png", 1, number) for number in range(200)}) > 150
