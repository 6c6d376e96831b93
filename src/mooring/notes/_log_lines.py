"""Patterns for the lines of the published code, independent of time stamps, log levels and spelling."""

import ast
import json
import re
from typing import Any

LONGEST_LINE = 20_000  # characters that are looked at, of all lines but configurations

NUMBER = r"([-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf(?:inity)?))"
LAMBDA = r"(?:lambda|\S{1,6})"  # a Greek letter, or what a wrong encoding made of it

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
STAMP = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[ T](\d\d:\d\d:\d\d)")
LEVEL = re.compile(
    r".*(?:\[\s*(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL)\s*\]"
    r"|(?:^|[\s|:-])(?:INFO|WARNING|WARN|ERROR|DEBUG|CRITICAL)(?= *[:|-])"
    r"(?:[ |:-]+(?:root|__main__|[\w.]+:[\w<>]+:\d+|[\w./\\]+\.py:\d+)(?=[ |:-]))?)[\s|:-]*"
)
STAMPED = re.compile(rf"\W*{STAMP.pattern}(?:[.,]\d+)?[\s\]|:-]*")


def pattern(text: str) -> re.Pattern[str]:
    """Upper or lower case, any number of blanks, a colon or an equals sign or neither."""
    return re.compile(text.replace(" ", r"\s+").replace("~", r"\s*[:=]?\s*"), re.IGNORECASE)


CONFIG = pattern(r"\bconfig(?:uration)?\s*[:=]\s*(\{.*)")
DICT = re.compile(r"\{['\"].*\}$")
HEADER = pattern(r"\W{0,3}(?<!\[)(?:one[\s_-]?shot[_-]?([a-z]+?)[_-]?(v_?\d+)?|(ot[\s_-]?fusion))(?![\w+\]])(.*)")
BRACKETED = pattern(r"\[one-?shot([a-z]+?)(v\d+)?\]")
SAMPLES = pattern(r"total assigned samples~(\d+)\s*$")
ROUND = pattern(r"\bround (\d+) starts?\b(?:.*annealing factor[^:=]*[:=]\s*" + NUMBER + ")?")
CLIENT = pattern(r"\bclient (\d+) starts? local train+ing")
EPOCH = pattern(
    rf"\bepoch (\d+)[\s,]*loss~{NUMBER}[\s;,]+train(?:ing)? acc(?:uracy)?~{NUMBER}[\s;,]+test acc(?:uracy)?~{NUMBER}"
)
SIGMAS = pattern(
    rf"\bclient (\d+) learned sigmas?\s*(?:->)?~l_local~{NUMBER}[\s,;]+l_align~{NUMBER}"
    rf"[\s.,;]*effective {LAMBDA}~{NUMBER}"
)
STATE = pattern(
    rf"\bclient (\d+) post-?\s*training state\s*(?:->)?~raw {LAMBDA}\s*[:=]\s*{NUMBER}"
    rf"(?:[\s|,;]*s\s*\(p\)~{NUMBER})?(?:[\s|,;]*truly effective[^:=]*[:=]\s*{NUMBER})?"
)
ENTROPY = pattern(
    rf"data entropy~{NUMBER}(?:[\s,;]*normali[sz]ed~{NUMBER})?(?:[\s,;]*(?:->)?\s*adaptive {LAMBDA}~{NUMBER})?"
)
START = pattern(rf"\bclient (\d+)\s*:?.{{0,80}}?\binitial[\s_]{LAMBDA}~{NUMBER}")
SET = pattern(rf"\blambda_align(?:_initial)?~{NUMBER}")
GAMMA = pattern(rf"\bgamma(?:_reg)?\b[^:={{}}\d]{{0,80}}[:=]\s*{NUMBER}")
CEILING = pattern(rf"\blambda_max(?:_threshold)?\b[^:={{}}\d]{{0,40}}[:=]\s*{NUMBER}")
STRATEGY = pattern(r"annealing strategy~(\w+)")
PREHEATING = pattern(r"pre-?heating (v\d+|aurora)\b")
SIGMA_RATE = pattern(rf"optimizer created.*\bsigma_lr~{NUMBER}")
BANK = pattern(r"public feature bank strategy is (enabled|disabled)|public feature bank (created)")
STAGE = pattern(r"running in stage (\d)")
ACCURACY = pattern(r"\bthe test accuracy\b(.*)[:=]\s*" + NUMBER + r"\s*$")
FAILURE = re.compile(r"^\s*(?:Traceback \(most recent|[\w.]*(?:Error|Exception|Interrupt)\b(?::|$))")


def message(line: str) -> str:
    """The message of a line, without colours, progress bars, time and level."""
    line = COLOURS.sub("", line)[:LONGEST_LINE]
    found = LEVEL.match(line) or STAMPED.match(line)
    return (line[found.end() :] if found else line).strip()


def literal(text: str) -> dict[str, Any] | None:
    """A dictionary as Python or JSON prints it, never evaluated; None if the text is not one or is cut off."""
    for read in (ast.literal_eval, json.loads):
        try:
            value = read(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(value, dict):
            return value
    return None
