"""From the lines of the published code to what they say."""

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from mooring.errors import StoreError
from mooring.notes import log_lines as lines
from mooring.notes.log_state import LogState, parse_count
from mooring.notes.logged import Logged
from mooring.wording import printable

MOST_CONFIG_LINES = 400  # of a configuration that was printed over several lines
REMEDY = "name a log of the published code that has finished at least one round"


def read_logs(path: Path) -> list[Logged]:
    """Every experiment of the file that says anything about a round; an error says what is missing if none does."""
    try:
        text = decoded(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name a log of the published code") from None
    try:
        drafts = [draft for draft in sections(text) if draft.began]
    except StoreError as error:
        raise StoreError(f"{path}: {error.problem}", error.remedy) from None
    if not drafts:
        raise StoreError(f"{path}: {'is empty' if not text.strip() else NO_LINE}", REMEDY)
    missing = {i: lack for i, draft in enumerate(drafts, 1) if (lack := draft.missing)}
    if len(missing) == len(drafts):
        raise StoreError(f"{path}: {'; '.join(dict.fromkeys(missing.values()))}", REMEDY)
    left_out = tuple(f"experiment {i} of the same file was left out: it {lack}" for i, lack in missing.items())
    return [replace(draft.finished(), left_out=left_out) for draft in drafts if not draft.missing]


NO_LINE = "holds no round of the published code ('Round 0 starts'), no method ('Oneshot...') and no configuration"


def decoded(content: bytes) -> str:
    """UTF-8, or UTF-16 as a Windows shell writes it; letters of other encodings are replaced, numbers survive."""
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", errors="replace")


def sections(text: str) -> Iterator[LogState]:
    """Some files are several logs one after another.

    A configuration begins a new one; so does the header of another method, or round 0, after rounds have been logged.
    """
    draft, rows, skip = LogState(), text.splitlines(), 0
    for i, row in enumerate(rows):
        if skip:  # the configuration goes on
            skip -= 1
            continue
        said = lines.message(row)
        config = lines.CONFIG.search(row)
        header = None if config else lines.HEADER.match(said)
        if config or draft.ends_before(said, header):
            yield draft
            draft = draft.following(config is None)
        draft.lines.append(row)
        if config:
            found, configured, skip = read_dictionary(config[1], rows[i + 1 : i + 1 + MOST_CONFIG_LINES])
            draft.configure(found, configured)
            draft.lines += rows[i + 1 : i + 1 + skip]
        elif header:
            draft.head(header)
        else:
            take(said, draft)
    yield draft


def read_dictionary(first: str, following: list[str]) -> tuple[dict[str, Any], str, int]:
    """The dictionary that begins here, whether it can be read, and how many of the following lines belong to it."""
    text = first.rstrip()
    for used, row in enumerate(["", *following]):
        text += row
        if text.count("{") > text.count("}"):
            continue
        value = lines.literal(text)
        return (value, "read", used) if value is not None else ({}, "it is no dictionary of plain values", 0)
    return {}, "it is cut off", 0


def take(said: str, draft: LogState) -> None:
    """Add what one line says."""
    for form, read in READERS:
        if found := form.search(said):
            read(draft, found)
            return
    if lines.DICT.fullmatch(said):
        draft.add_settings(lines.literal(said) or {})
    elif lines.FAILURE.match(said):
        draft.failure = printable(said)[:200]


def on_round(draft: LogState, found: re.Match[str]) -> None:
    draft.begin_round(parse_count(found[1]), found[2])


def on_client(draft: LogState, found: re.Match[str]) -> None:
    draft.client = parse_count(found[1])
    draft.seen.add(draft.client)


def on_epoch(draft: LogState, found: re.Match[str]) -> None:
    if draft.client is not None:
        draft.number(draft.client, "loss", found[2])  # a sum of all terms over all batches: only whether it is finite
        own = {"train_accuracy": draft.number(draft.client, "train accuracy", found[3])}
        draft.add(draft.client, **own, accuracy=draft.number(draft.client, "accuracy", found[4]))


def on_sigmas(draft: LogState, found: re.Match[str]) -> None:
    client = parse_count(found[1])
    draft.sigmas = True
    draft.add(
        client,
        sigma_local=draft.number(client, "sigma_local", found[2]),
        sigma_align=draft.number(client, "sigma_align", found[3]),
        lambda_raw=draft.number(client, "lambda_raw", found[4]),
        schedule_factor=draft.factor,
    )


def on_state(draft: LogState, found: re.Match[str]) -> None:
    client = parse_count(found[1])
    draft.states |= found[3] is not None
    draft.bare_states |= found[3] is None
    draft.add(client, lambda_raw=draft.number(client, "lambda_raw", found[2]))
    if found[3] is not None:
        draft.add(client, schedule_factor=draft.number(client, "schedule_factor", found[3]))
    if found[4] is not None:
        draft.add(client, lambda_printed=draft.number(client, "lambda_printed", found[4]))


def on_accuracy(draft: LogState, found: re.Match[str]) -> None:
    name = printable(found[1]).strip(" ()")[:120] or "server"
    value = draft.number(None, "accuracy", found[2])
    draft.fused.setdefault(name, {}).setdefault(draft.round, float("nan") if value is None else value)


def on_anchors(draft: LogState, found: re.Match[str]) -> None:
    draft.anchors.append("etf" if found[1] else "random")
    draft.dimension = parse_count(found[3])


def on_samples(draft: LogState, found: re.Match[str]) -> None:
    draft.samples = int(found[1]) if len(found[1]) <= 15 else None


READERS: tuple[tuple[re.Pattern[str], Callable[[LogState, re.Match[str]], None]], ...] = (
    (lines.ROUND, on_round),
    (lines.CLIENT, on_client),
    (lines.EPOCH, on_epoch),
    (lines.SIGMAS, on_sigmas),
    (lines.STATE, on_state),
    (lines.ENTROPY, lambda draft, found: draft.entropy(found)),
    (lines.START, lambda draft, found: draft.start(parse_count(found[1]), found[2])),
    (lines.ACCURACY, on_accuracy),
    (lines.SAMPLES, on_samples),
    (lines.ANCHORS, on_anchors),
    (lines.SET, lambda draft, found: draft.set_lambda(found[1])),
    (lines.STRATEGY, lambda draft, found: draft.strategies.append(found[1].lower())),
    (lines.SIGMA_RATE, lambda draft, found: draft.remember(draft.sigma_rates, found[1])),
    (lines.GAMMA, lambda draft, found: draft.remember(draft.gammas, found[1])),
    (lines.CEILING, lambda draft, found: draft.remember(draft.ceilings, found[1])),
    (lines.PREHEATING, lambda draft, found: draft.preheated.append(found[1].upper())),
    (lines.TRAINING, lambda draft, found: draft.training.append(int(found[1][1:]))),
    (lines.BRACKETED, lambda draft, found: draft.bracketed.append(int(found[2][1:])) if found[2] else None),
    (lines.BANK, lambda draft, found: draft.bank.append((found[1] or found[2]).lower())),
    (lines.STAGE, lambda draft, found: draft.stages.append(int(found[1]))),
)
