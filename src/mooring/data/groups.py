"""Images that belong together, such as those of one patient: no group is ever cut into two parts.

Two images of one patient are alike in ways that have nothing to do with a disease. A model that was trained on one of
them knows the other: tested across such a cut, it looks better than it is on the next patient.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Stratum = TypeVar("Stratum", bound=Hashable)  # what a share is taken of: a class, or a class at a site


def take_groups(groups: Sequence[Mapping[Stratum, int]], wanted: Mapping[Stratum, int]) -> list[int]:
    """The positions of the groups that are taken, given how many images of each stratum they hold.

    One after the other: every group that brings sum_s |taken_s - wanted_s| down; then, where a stratum has none of
    those that it wants, its smallest group. Something of every stratum is left. Groups of one image are taken exactly
    as wanted: the first of each stratum.
    """
    total: Counter[Stratum] = Counter()
    for group in groups:
        total.update(group)
    taken: Counter[Stratum] = Counter()
    chosen: set[int] = set()

    def leaves(group: Mapping[Stratum, int]) -> bool:
        return all(taken[stratum] + count < total[stratum] for stratum, count in group.items())

    def change(group: Mapping[Stratum, int]) -> int:
        distances = ((taken[stratum] - wanted[stratum], count) for stratum, count in group.items())
        return sum(abs(distance + count) - abs(distance) for distance, count in distances)

    def take(position: int) -> None:
        chosen.add(position)
        taken.update(groups[position])

    for position, group in enumerate(groups):
        if change(group) < 0 and leaves(group):
            take(position)
    for stratum in (stratum for stratum, count in wanted.items() if count):
        if not taken[stratum]:
            left = [p for p, group in enumerate(groups) if p not in chosen and stratum in group and leaves(group)]
            if left:
                take(min(left, key=lambda position: sum(groups[position].values())))
    return sorted(chosen)
