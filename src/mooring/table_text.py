"""Text as tables hold it: no characters that break a file, no formula for a spreadsheet, no digits that say nothing."""

import re

BREAKS = re.compile("[\r\v\f\x85\u2028\u2029]")  # lines end here for some readers, and not for others
STEERING = "\u202a-\u202e\u2066-\u2069"  # turn the direction of writing: a name would show as another one
UNPRINTABLE = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x9f{STEERING}\ud800-\udfff\ufffe\uffff]")
FORMULA = re.compile("'*[=+\\-@\t\n＝＋－＠]")
NUMBER = re.compile(r"[-+]?([0-9][0-9,]*\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?%?")
GUARD = "'"  # what spreadsheets themselves write before text that is no formula


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


def in_csv(cell: object) -> object:
    """A cell as it is written: text guarded, everything else as it is."""
    return guarded(cell) if isinstance(cell, str) else cell


def unguarded(text: str) -> str:
    """What a guarded cell says."""
    return text.removeprefix(GUARD) if text.startswith(GUARD) and FORMULA.match(text) else text


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
