"""Classes that are probably one, spelled differently."""

import re
from collections.abc import Iterable, Mapping, Set
from difflib import SequenceMatcher

NEGATIONS = frozenset({"no", "non", "not", "without", "un", "normal", "healthy", "negative", "neg", "anti"})
LONG = 6  # letters of a name in which one wrong letter may be a typing error
RARE = 0.2  # of the images of the other spelling: a typing error is rare, `castle` and `cattle` are not


def propose_spelling(counts: Mapping[str, int], by_site: Iterable[Set[str]]) -> dict[str, str]:
    """Folder -> class, for every folder that seems to be another spelling of a class with more images.

    Two names are one class if they differ in case, blanks, `_`, `-`, or a plural; if they are long and differ in one
    letter that is not a digit, while one is rare or no site has both; or if one has all words of the other (`glioma`,
    `glioma_tumor`) and no site has both. A negation (`tumor`, `no_tumor`) is always another class.
    """
    together = [frozenset(names) for names in by_site]
    ranked = sorted(counts, key=lambda name: (-counts[name], len(name), name.swapcase()))
    found: dict[str, str] = {}
    for place, name in enumerate(ranked):
        kept = [other for other in ranked[:place] if other not in found]
        rare = {other: counts[name] <= RARE * counts[other] for other in kept}
        match = next((other for other in kept if same_class(name, other, rare[other], together)), None)
        if match is not None:
            found[name] = match
    return found


def same_class(name: str, other: str, rare: bool, together: list[frozenset[str]]) -> bool:
    one, two = words_of(name), words_of(other)
    if set(one) & NEGATIONS != set(two) & NEGATIONS:
        return False
    if "".join(one) == "".join(two):
        return True
    if [word for word in one if word.isdigit()] != [word for word in two if word.isdigit()]:
        return False
    apart = len(together) > 1 and not any({name, other} <= names for names in together)
    if one_letter_apart("".join(one), "".join(two)):
        return rare or apart
    return apart and (set(one) < set(two) or set(two) < set(one)) and bool(one and two)


def words_of(name: str) -> list[str]:
    """`Glioma_tumors` -> glioma, tumor; `ClassA2` -> class, a, 2"""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = re.findall(r"[0-9]+|[^\W\d_]+", parted.casefold())
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words]


def one_letter_apart(one: str, two: str) -> bool:
    """One letter more, less or other, or two exchanged."""
    if min(len(one), len(two)) < LONG or abs(len(one) - len(two)) > 1:
        return False
    changes = [
        change for change in SequenceMatcher(None, one, two, autojunk=False).get_opcodes() if change[0] != "equal"
    ]
    if len(one) == len(two) and sorted(one) == sorted(two):
        return sum(a != b for a, b in zip(one, two, strict=True)) == 2
    return len(changes) == 1 and max(changes[0][2] - changes[0][1], changes[0][4] - changes[0][3]) == 1
