"""Good files, damaged at random, and what becomes of each when it is read: in a process with little room and time."""

import os
import random
import struct
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import fuzz_data
import fuzz_federation
import fuzz_forged
import fuzz_records
from fuzz_target import Target

from mooring.errors import MooringError

TARGETS: dict[str, Target] = {
    **fuzz_data.TARGETS,
    **fuzz_records.TARGETS,
    **fuzz_federation.TARGETS,
    **fuzz_forged.TARGETS,
}

ROOM = 2**31  # bytes of address space
SECONDS = 20  # of processor time: how busy the machine is decides nothing
PATIENCE = 15  # times as many seconds by the clock, for one that waits and computes nothing
START = 120  # seconds that a process may need to begin
EDGE = 200  # bytes at both ends, where formats say what they are: every second change falls there
LONGEST = 64  # bytes of a block
Kind = Literal["refused", "same", "other", "changed", "traceback", "hang"]
BAD: tuple[Kind, ...] = ("changed", "traceback", "hang")
KINDS: tuple[Kind, ...] = ("refused", "same", "other", *BAD)


@dataclass(frozen=True)
class Outcome:
    """`read` comes with the text of what was read, `refused` with the error's one line, the others with a reason."""

    kind: Literal["read", "refused", "traceback", "hang"]
    text: str


@dataclass(frozen=True)
class Case:
    """One damaged file, which its name, seed and number make again, and what became of it."""

    target: str
    seed: int
    number: int
    kind: Kind
    text: str


class Worker:
    """A process that reads bytes as a target does; it is replaced when it dies or does not answer."""

    def __init__(self) -> None:
        self._begin()

    def read(self, name: str, content: bytes, room: int = ROOM, apart: bool = False) -> Outcome:
        """`room` is the address space above what the process has anyway, within the limit for all.

        `apart`: in a child of the process, which has no more memory to use again than the process had.
        """
        self._pipe.send((name, content, room, apart))
        began = self._spent()
        try:
            for _ in range(PATIENCE):
                if self._pipe.poll(SECONDS):
                    return Outcome(*self._pipe.recv())
                if self._spent() - began > SECONDS:
                    break
            outcome = Outcome("hang", f"no answer after {self._spent() - began:.0f} s of processor time")
        except EOFError:
            self._process.join()
            outcome = Outcome("traceback", f"the interpreter died: exit code {self._process.exitcode}")
        self.close()
        self._begin()
        return outcome

    def seed(self, name: str) -> bytes:
        self._pipe.send((name, None, 0, False))
        return bytes(self._pipe.recv())

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _spent(self) -> float:
        """Processor seconds of the process; 0 once it is gone."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _begin(self) -> None:
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(START):
            raise TimeoutError("a worker did not start")
        self._pipe.recv()


def _serve(pipe: Connection) -> None:
    """Answer until nobody asks."""
    with TemporaryDirectory() as place:
        seeds: dict[str, bytes] = {}
        pipe.send("ready")
        while True:
            try:
                name, content, room, apart = pipe.recv()
            except EOFError:
                return
            folder = Path(place, str(list(TARGETS).index(name)))
            if name not in seeds:
                folder.mkdir()
                seeds[name] = TARGETS[name].seed(folder)
            if not apart:
                pipe.send(seeds[name] if content is None else _read(TARGETS[name], folder, content, room))
            elif os.fork() == 0:
                pipe.send(_read(TARGETS[name], folder, content, room))
                os._exit(0)
            else:
                os.wait()


def _read(target: Target, folder: Path, content: bytes, room: int) -> tuple[str, str]:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_AS, (min(ROOM, taken + room), hard))
    try:
        return "read", target.load(folder, content)
    except MooringError as error:
        told = str(error)
        return ("refused" if told and told.isprintable() else "traceback"), told or "an error without a word"
    except BaseException:
        return "traceback", traceback.format_exc()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def fuzz(names: list[str], count: int, seed: int, workers: int = 1) -> Iterator[Case]:
    """`count` damaged files, the targets in turn."""
    pool = [Worker() for _ in range(workers)]
    try:
        with ThreadPoolExecutor(workers) as threads:
            parts = [
                threads.submit(share, worker, names, range(first, count, workers), seed)
                for first, worker in enumerate(pool)
            ]
            for part in parts:
                yield from part.result()
    finally:
        for worker in pool:
            worker.close()


def share(worker: Worker, names: list[str], numbers: range, seed: int) -> list[Case]:
    """What one worker does of the work."""
    good = {name: worker.seed(name) for name in names}
    whole = {name: worker.read(name, good[name]) for name in names}
    for name, outcome in whole.items():
        assert outcome.kind == "read", f"{name}: its seed cannot be read: {outcome.text}"
    return [one(worker, names[number % len(names)], number, seed, good, whole) for number in numbers]


def one(worker: Worker, name: str, number: int, seed: int, good: dict[str, bytes], whole: dict[str, Outcome]) -> Case:
    outcome = worker.read(name, damaged(good[name], name, seed, number))
    kind: Kind = "other"
    if outcome.kind != "read":
        kind = outcome.kind
    elif outcome == whole[name]:
        kind = "same"
    elif TARGETS[name].checked:
        kind = "changed"
    text = difference(whole[name].text, outcome.text) if kind in ("other", "changed") else outcome.text
    return Case(name, seed, number, kind, text)


def difference(whole: str, read: str) -> str:
    """The words that differ, before and after."""
    before, after = whole.split(), read.split()
    parts = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    told = [(" ".join(before[a:b]), " ".join(after[c:d])) for tag, a, b, c, d in parts if tag != "equal"]
    return "\n".join(f"{old or '(nothing)'}  ->  {new or '(nothing)'}" for old, new in told)


def damaged(content: bytes, name: str, seed: int, number: int) -> bytes:
    """The same bytes for the same arguments; one to three kinds of damage."""
    rng, own = random.Random(f"{seed}/{name}/{number}"), TARGETS[name].damage
    if own is not None:
        return own(content, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(DAMAGES)(bytearray(content), rng)
    return content


def place(content: bytearray, rng: random.Random) -> int:
    anywhere = rng.randrange(len(content) + 1)
    return rng.choice(
        (anywhere, rng.randrange(min(EDGE, len(content)) + 1), max(0, len(content) - rng.randrange(EDGE)))
    )


def flip(content: bytearray, rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, 8)):
        where = place(content, rng)
        content[where : where + 1] = bytes(byte ^ 1 << rng.randrange(8) for byte in content[where : where + 1])
    return bytes(content)


def overwrite(content: bytearray, rng: random.Random) -> bytes:
    where, length = place(content, rng), rng.randint(1, 8)
    content[where : where + length] = rng.randbytes(len(content[where : where + length]))
    return bytes(content)


def truncate(content: bytearray, rng: random.Random) -> bytes:
    return bytes(content[: place(content, rng)])


def insert(content: bytearray, rng: random.Random) -> bytes:
    where = place(content, rng)
    content[where:where] = rng.choice((rng.randbytes(rng.randint(1, LONGEST)), bytes(rng.randint(1, 4096))))
    return bytes(content)


def remove(content: bytearray, rng: random.Random) -> bytes:
    where = place(content, rng)
    del content[where : where + rng.randint(1, LONGEST)]
    return bytes(content)


def duplicate(content: bytearray, rng: random.Random) -> bytes:
    where, there = place(content, rng), place(content, rng)
    content[there:there] = content[where : where + rng.randint(1, LONGEST)] * rng.choice((1, 1, 2, 1000))
    return bytes(content)


def relength(content: bytearray, rng: random.Random) -> bytes:
    """A number of another size where a length may stand."""
    form = rng.choice(("<H", ">H", "<I", ">I", "<Q", ">Q"))
    most = 256 ** struct.calcsize(form) - 1
    value = rng.choice((0, 1, most, most // 2, most // 2 + 1, 2**16 - 1, rng.randint(0, most)))
    where = place(content, rng)
    content[where : where + struct.calcsize(form)] = struct.pack(form, value)
    return bytes(content)


Damage = Callable[[bytearray, random.Random], bytes]
DAMAGES: tuple[Damage, ...] = (flip, flip, overwrite, truncate, insert, remove, duplicate, relength, relength)


def table(cases: list[Case]) -> str:
    """One row for each target and one for all."""
    counts = Counter((case.target, case.kind) for case in cases)
    names = [name for name in TARGETS if name in {case.target for case in cases}]
    lines = [f"{'target':24}" + "".join(f"{kind:>11}" for kind in ("files", *KINDS))]
    for name in (*names, "all"):
        row = [sum(counts[one, kind] for one in (names if name == "all" else [name])) for kind in KINDS]
        lines.append(f"{name:24}" + "".join(f"{number:>11}" for number in (sum(row), *row)))
    return "\n".join(lines)
