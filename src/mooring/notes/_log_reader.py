"""Read logs of the published code, line by line."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from mooring.errors import StoreError
from mooring.notes import _log_lines as lines
from mooring.notes._logged import Logged, LogState, parse_count, remember
from mooring.wording import printable

MOST_CONFIG_LINES = 400  # of a configuration that was printed over several lines
REMEDY = "name a log of the published code that has finished at least one round"


def read_logs(path: Path) -> list[Logged]:
    """Every experiment of the file with at least one round; if there is none, an error says what is missing."""
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name a log of the published code") from None
    try:
        states = [state for state in sections(text) if state.began]
    except StoreError as error:
        raise StoreError(f"{path}: {error.problem}", error.remedy) from None
    if not states:
        raise StoreError(f"{path}: {'is empty' if not text.strip() else NO_LINE}", REMEDY)
    missing = {i: lack for i, state in enumerate(states, 1) if (lack := state.missing)}
    if len(missing) == len(states):
        raise StoreError(f"{path}: {'; '.join(dict.fromkeys(missing.values()))}", REMEDY)
    left_out = tuple(f"experiment {i} of the same file was left out: it {lack}" for i, lack in missing.items())
    return [replace(state.finished(), left_out=left_out) for state in states if not state.missing]


NO_LINE = "holds no round of the published code ('Round 0 starts'), no method ('Oneshot...') and no configuration"


def decoded(content: bytes) -> str:
    """The text in UTF-8, or UTF-16 as a Windows shell writes it; characters of other encodings are replaced."""
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", errors="replace")


def sections(text: str) -> Iterator[LogState]:
    """The experiments of a file, which may hold several logs one after another.

    A configuration begins a new one; so does the header of another method, or round 0, after rounds have been logged.
    """
    state, rows, skip = LogState(), text.splitlines(), 0
    for i, row in enumerate(rows):
        if skip:  # the configuration goes on
            skip -= 1
            continue
        said = lines.message(row)
        config = lines.CONFIG.search(row)
        header = None if config else lines.HEADER.match(said)
        if config or state.ends_before(said, header):
            yield state
            state = state.following(config is None)
        state.lines.append(row)
        if config:
            found, configured, skip = read_dictionary(config[1], rows[i + 1 : i + 1 + MOST_CONFIG_LINES])
            state.configure(found, configured)
            state.lines += rows[i + 1 : i + 1 + skip]
        elif header:
            state.head(header)
        else:
            take(said, state)
    yield state


def read_dictionary(first: str, following: list[str]) -> tuple[dict[str, Any], str, int]:
    """The dictionary that begins here, whether it can be read, and how many of the following lines it takes."""
    text = first.rstrip()
    for used, row in enumerate(["", *following]):
        text += row
        if text.count("{") > text.count("}"):
            continue
        value = lines.literal(text)
        return (value, "read", used) if value is not None else ({}, "it is not a dictionary of plain values", 0)
    return {}, "it is cut off", 0


def take(said: str, state: LogState) -> None:
    """Add the content of one line."""
    for form, read in READERS:
        if found := form.search(said):
            read(state, found)
            return
    if lines.DICT.fullmatch(said):
        state.add_settings(lines.literal(said) or {})
    elif lines.FAILURE.match(said):
        state.failure = printable(said)[:200]


def on_round(state: LogState, found: re.Match[str]) -> None:
    state.begin_round(parse_count(found[1]), found[2])


def on_client(state: LogState, found: re.Match[str]) -> None:
    state.client = parse_count(found[1])
    state.seen.add(state.client)


def on_epoch(state: LogState, found: re.Match[str]) -> None:
    if state.client is not None:
        state.number(state.client, "loss", found[2])  # a sum of all terms over all batches: only whether it is finite
        own = {"train_accuracy": state.number(state.client, "train accuracy", found[3])}
        state.add(state.client, **own, accuracy=state.number(state.client, "accuracy", found[4]))


def on_sigmas(state: LogState, found: re.Match[str]) -> None:
    client = parse_count(found[1])
    state.marks.sigmas = True
    state.add(
        client,
        sigma_local=state.number(client, "sigma_local", found[2]),
        sigma_align=state.number(client, "sigma_align", found[3]),
        lambda_raw=state.number(client, "lambda_raw", found[4]),
        schedule_factor=state.factor,
    )


def on_state(state: LogState, found: re.Match[str]) -> None:
    client = parse_count(found[1])
    state.marks.states |= found[3] is not None
    state.marks.bare_states |= found[3] is None
    state.add(client, lambda_raw=state.number(client, "lambda_raw", found[2]))
    if found[3] is not None:
        state.add(client, schedule_factor=state.number(client, "schedule_factor", found[3]))
    if found[4] is not None:
        state.add(client, lambda_printed=state.number(client, "lambda_printed", found[4]))


def on_accuracy(state: LogState, found: re.Match[str]) -> None:
    name = printable(found[1]).strip(" ()")[:120] or "server"
    value = state.number(None, "accuracy", found[2])
    state.fused.setdefault(name, {}).setdefault(state.round, float("nan") if value is None else value)


def on_samples(state: LogState, found: re.Match[str]) -> None:
    state.samples = int(found[1]) if len(found[1]) <= 15 else None


def bracketed_version(found: re.Match[str]) -> int | None:
    return int(found[2][1:]) if found[2] else None


READERS: tuple[tuple[re.Pattern[str], Callable[[LogState, re.Match[str]], None]], ...] = (
    (lines.ROUND, on_round),
    (lines.CLIENT, on_client),
    (lines.EPOCH, on_epoch),
    (lines.SIGMAS, on_sigmas),
    (lines.STATE, on_state),
    (lines.ENTROPY, lambda state, found: state.entropy(found)),
    (lines.START, lambda state, found: state.start(parse_count(found[1]), found[2])),
    (lines.ACCURACY, on_accuracy),
    (lines.SAMPLES, on_samples),
    (lines.SET, lambda state, found: state.set_lambda(found[1])),
    (lines.STRATEGY, lambda state, found: remember(state.marks.strategies, found[1].lower())),
    (lines.SIGMA_RATE, lambda state, found: remember(state.marks.sigma_rates, state.setting(found[1]))),
    (lines.GAMMA, lambda state, found: remember(state.marks.gammas, state.setting(found[1]))),
    (lines.CEILING, lambda state, found: remember(state.marks.ceilings, state.setting(found[1]))),
    (lines.PREHEATING, lambda state, found: remember(state.marks.preheated, found[1].upper())),
    (lines.BRACKETED, lambda state, found: remember(state.marks.bracketed, bracketed_version(found))),
    (lines.BANK, lambda state, found: remember(state.marks.bank, (found[1] or found[2]).lower())),
    (lines.STAGE, lambda state, found: remember(state.marks.stages, int(found[1]))),
)
