"""How numbers and text are written wherever people read them: one wording of a count, a size, a share, an accuracy.

Below it is what tables need: no characters that break a file, no formula for a spreadsheet, no needless digits.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from io import StringIO

UNKNOWN = "-"
MOST_LISTED = 8
UNBOUNDED = "unbounded"
LARGEST_BOUND = 1e6  # of lambda: SGD cannot follow it so far in any setting of the notes
BREAKS = re.compile("[\r\v\f\x85\u2028\u2029]")  # lines end here for some readers, and not for others
STEERING = "\u202a-\u202e\u2066-\u2069"  # turn the direction of writing: a name would show as another one
UNPRINTABLE = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x9f{STEERING}\ud800-\udfff\ufffe\uffff]")
FORMULA = re.compile("'*[=+\\-@\t\n＝＋－＠]")
NUMBER = re.compile(r"[-+]?([0-9][0-9,]*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?%?")
GUARD = "'"  # what spreadsheets themselves write before text that is no formula


def plural(count: int, noun: str) -> str:
    """`1 run`, `1,200 runs`"""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def join_some(parts: Sequence[str], between: str = ", ") -> str:
    """The first eight: `a, b, c`, or `a, b, ... and 4 more`."""
    more = len(parts) - MOST_LISTED
    return between.join(parts[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def join_or(names: list[str]) -> str:
    """`a, b or c`"""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def class_words(cls: type, between: str = " ") -> str:
    """LossTerm -> loss term"""
    return re.sub("(?<=[a-z])(?=[A-Z])", between, cls.__name__).lower()


def number_text(number: float) -> str:
    """1000000 and 0.5"""
    return str(int(number)) if number == int(number) else f"{number:g}"


def duration(seconds: float) -> str:
    """`80 seconds`, `12 minutes`, `2.5 hours`"""
    if seconds < 90:
        return plural(max(1, round(seconds)), "second")
    return plural(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def clock(seconds: float) -> str:
    """`9 s`, `1:20`, `2:05:00`"""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours}:{minutes:02d}:{whole % 60:02d}"
    return f"{minutes}:{whole % 60:02d}" if minutes else f"{whole} s"


def round_number(index: int) -> int:
    """Records and lab notes number rounds from 0; people count them from 1."""
    return index + 1


def round_of(index: int, rounds: int) -> str:
    """`round 6 of 6`"""
    return f"round {round_number(index)} of {rounds}"


def client_name(client: int, site: str) -> str:
    """A client in a column of its own: its number, or the name of its site."""
    return str(client) if site in ("", f"client {client}") else site


def size(nbytes: float) -> str:
    """`46.1 kB`, `138 MB`"""
    units = ["B", "kB", "MB", "GB"]
    while nbytes >= 1000 and len(units) > 1:
        nbytes /= 1000
        units.pop(0)
    return f"{nbytes:.0f} {units[0]}" if nbytes >= 100 or units[0] == "B" else f"{nbytes:.1f} {units[0]}"


def number(value: float | None) -> str:
    """Three decimals where they say something, three digits elsewhere: `0.872`, `12,345`, `5.91e+05`"""
    if value is None:
        return UNKNOWN
    if value == 0 or 1e-3 <= abs(value) < 1000:
        return f"{value:.3f}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e5 else f"{value:.2e}"


def digits(value: float | None) -> str:
    """Three digits, for quantities of any size: `0.0872`, `1.23e+04`"""
    return "unknown" if value is None else f"{value:.3g}"


def bound_text(value: float | None) -> str:
    """A bound of lambda in three digits; `unbounded` where no training can get near it."""
    return "-" if value is None else UNBOUNDED if value > LARGEST_BOUND else digits(value)


def setting(value: object) -> str:
    """A value of a setting; a number that a search has drawn has more digits than a name needs."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def percent(share: float | None, decimals: int = 1) -> str:
    """`87.2 %`"""
    return UNKNOWN if share is None else f"{100 * share:.{decimals}f} %"


def percent_range(interval: tuple[float, float] | None) -> str:
    """`83.4-90.3 %`"""
    return UNKNOWN if interval is None else f"{100 * interval[0]:.1f}-{100 * interval[1]:.1f} %"


def accuracy_text(share: float, images: int | None) -> str:
    """`87.2 % (95 % CI 83.4-90.3 %, 360 images)`, the interval by Wilson; without images, the share alone."""
    if not images:
        return percent(share)
    from mooring.intervals import wilson  # `mooring --help` does not need it

    interval = percent_range(wilson(round(share * images), images))
    return f"{percent(share)} (95 % CI {interval}, {plural(images, 'image')})"


def printable(text: str) -> str:
    """The text with control characters written out: a bell becomes `\\x07`."""
    return UNPRINTABLE.sub(_written_out, BREAKS.sub(" ", text))


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def guarded(text: str) -> str:
    """The text as a CSV cell: with a quote before it where a spreadsheet would compute; numbers stay numbers."""
    plain = printable(text)
    return f"{GUARD}{plain}" if FORMULA.match(plain) and not NUMBER.fullmatch(plain) else plain


def csv_table(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as a spreadsheet reads it: text guarded, everything else as it is."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(guarded, columns))
    writer.writerows(map(in_csv, row) for row in rows)
    return text.getvalue()


def in_csv(cell: object) -> object:
    """A cell as it is written: text guarded, everything else as it is."""
    return guarded(cell) if isinstance(cell, str) else cell


def matching_digits(mean: str, std: float, alone: str) -> str:
    """A deviation with no finer digits than its mean's: beside `1.04`, 0.00077 is `0.00`.

    `alone` is how it is written by itself, and beside a mean that is nothing.
    """
    if finest(alone) >= finest(mean) or not float(mean.replace(",", "")):
        return alone
    digits, e, exponent = mean.partition("e")
    return f"{std * 10.0 ** -int(exponent or 0):,.{decimals(digits)}f}{e}{exponent}"


def finest(number: str) -> int:
    """The power of ten of the last digit: -2 of `1.04`, 3 of `5.91e+05`"""
    digits, _, exponent = number.partition("e")
    return int(exponent or 0) - decimals(digits)


def decimals(digits: str) -> int:
    return len(digits.partition(".")[2])
