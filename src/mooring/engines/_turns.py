"""In which order workers train clients: longest first, and some in two turns where whole clients would leave workers
idle at the end."""

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil

WORTH = 1.05  # times as long without: less is not worth a client's way from one worker to another


@dataclass(frozen=True)
class Turn:
    """A client from its start, or from where another worker has left it, to its end or until it is handed over."""

    client: int
    begun: int = 0  # steps before this turn
    until: int | None = None  # handed over at the first chance after so many steps; None: to its end
    state: bytes | None = None  # that the worker before has left


def turns(steps: Mapping[int, int], workers: int) -> list[Turn]:
    """The turns that can be given out at once; what is left of a client that is handed over is given out last.

    `steps` of every client, longest first: five clients of equal length keep two workers busy for three times their
    length when they stay whole, and for two and a half times when one of them is divided.
    """
    whole = [Turn(client) for client in steps]
    divided = wrapped(steps, workers)
    return (
        divided if WORTH * schedule_length(divided, steps, workers) < schedule_length(whole, steps, workers) else whole
    )


def wrapped(steps: Mapping[int, int], workers: int) -> list[Turn]:
    """No more than T = max(longest, sum / workers) for any worker (the wrap-around rule, McNaughton 1959): each is
    filled up to T, and the client that does not fit begins, before all others, with the next one."""
    most = max(*steps.values(), ceil(sum(steps.values()) / workers))
    first, rest, room = [], [], most
    for client, length in steps.items():
        if room == 0:
            room = most
        if length <= room:
            rest.append(Turn(client))
            room -= length
        else:
            first.append(Turn(client, until=length - room))
            room = most - (length - room)
    return first + rest


def schedule_length(given: list[Turn], steps: Mapping[int, int], workers: int) -> int:
    """Until the last worker has ended, in steps, if all steps take equally long."""
    waiting, busy, now = list(given), list[tuple[int, int, int | None]](), 0
    while waiting or busy:
        while waiting and len(busy) < workers:
            turn = waiting.pop(0)
            length = (turn.until or steps[turn.client]) - turn.begun
            heappush(busy, (now + length, turn.client, turn.until))
        now, client, until = heappop(busy)
        if until is not None:
            waiting.append(Turn(client, begun=until))
    return now
