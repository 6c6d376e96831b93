"""Names, choices and numbers in words."""

import re


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
