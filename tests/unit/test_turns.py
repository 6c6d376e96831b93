"""In which order workers train clients: nobody waits longer than the wrap-around rule says, and every step is given."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from mooring.engines._worker import WORTH, Turn, schedule_length, turns, wrapped

LENGTHS = st.lists(st.integers(0, 300), min_size=1, max_size=12)


def longest_first(lengths):
    return dict(enumerate(sorted(lengths, reverse=True)))


def test_five_equal_clients_keep_two_workers_busy_for_two_and_a_half_lengths():
    steps = dict.fromkeys(range(5), 100)
    given_out = turns(steps, 2)
    assert [turn.until for turn in given_out if turn.until] == [50]
    assert given_out[0].until == 50  # so that it is done long before its other half is due
    assert schedule_length(given_out, steps, 2) == 250


def test_five_equal_clients_keep_four_workers_busy_for_one_length_and_a_quarter():
    steps = dict.fromkeys(range(5), 100)
    assert schedule_length(turns(steps, 4), steps, 4) == 125


def test_clients_that_fill_the_workers_anyway_stay_whole():
    for lengths, workers in (([100] * 50, 2), ([100] * 4, 2), ([1000, 100, 100], 2), ([100, 80], 4), ([7], 2)):
        assert turns(longest_first(lengths), workers) == [Turn(client) for client in range(len(lengths))]


@given(LENGTHS, st.integers(2, 6))
def test_every_client_is_given_out_once_and_divided_at_most_once(lengths, workers):
    steps = longest_first(lengths)
    for given_out in (turns(steps, workers), wrapped(steps, workers)):
        assert sorted(turn.client for turn in given_out) == sorted(steps)
        assert all(turn.until is None or 0 < turn.until < steps[turn.client] for turn in given_out)
        assert sum(turn.until is not None for turn in given_out) < workers


@given(LENGTHS, st.integers(2, 6))
def test_dividing_never_costs_and_the_bound_holds(lengths, workers):
    steps = longest_first(lengths)
    whole, chosen = ([Turn(client) for client in steps], turns(steps, workers))
    bound = max(*steps.values(), ceil(sum(steps.values()) / workers))
    assert bound <= schedule_length(chosen, steps, workers) <= schedule_length(whole, steps, workers)
    if chosen != whole:
        assert WORTH * schedule_length(chosen, steps, workers) < schedule_length(whole, steps, workers)
