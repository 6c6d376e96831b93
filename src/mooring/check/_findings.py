"""What is unusual about a folder of images: one rule each, with the files it is about and a remedy."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import median

from mooring.check._files import CheckedFile
from mooring.check._statistics import shifts
from mooring.data import Copy
from mooring.wording import percent, plural

FORMATS = {  # of an ending
    ".png": "PNG",
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".webp": "WEBP",
    ".bmp": "BMP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
    ".gif": "GIF",
}
FEW = 10  # images of a class at a site: sums over fewer are nearly the features of one
SMALL, UNLIKE, NARROW = 16, 8.0, 4.0  # pixels a side; times the usual side; times as long as wide
LEAKED = 0.02  # of the held-out images: from here on an accuracy is too good


@dataclass(frozen=True)
class DataFinding:
    """One thing that was found. `decide`: somebody must decide about it; otherwise it is good to know."""

    kind: str
    decide: bool
    text: str
    remedy: str
    files: tuple[tuple[str, ...], ...] = ()  # names; those that belong together are in one row


@dataclass(frozen=True)
class CheckedFolder:
    """All files of a folder, and which of them are copies of each other."""

    files: tuple[CheckedFile, ...]
    copies: tuple[Copy, ...]  # positions in `files`
    mapping: Mapping[str, str]  # folder -> proposed class
    ignored: Mapping[str, int]  # endings of files that are no images

    @property
    def readable(self) -> list[CheckedFile]:
        return [file for file in self.files if file.readable]

    @property
    def exact(self) -> list[tuple[CheckedFile, ...]]:
        """Files with the same content."""
        same: defaultdict[str, list[CheckedFile]] = defaultdict(list)
        for file in self.readable:
            if not file.constant:
                same[file.sha256].append(file)
        return [tuple(files) for files in same.values() if len(files) > 1]

    @property
    def near(self) -> list[tuple[CheckedFile, CheckedFile]]:
        """Copies whose files differ."""
        pairs = ((self.files[copy.image], self.files[copy.of]) for copy in self.copies)
        return [(one, two) for one, two in pairs if one.sha256 != two.sha256]

    @property
    def leaked(self) -> list[tuple[CheckedFile, CheckedFile]]:
        """Held-out images, each with a copy among the training images."""
        pairs = [(self.files[copy.image], self.files[copy.of]) for copy in self.copies]
        pairs += [(one, two) for group in self.exact for one in group for two in group]
        found: dict[str, tuple[CheckedFile, CheckedFile]] = {}
        for one, two in [*pairs, *((two, one) for one, two in pairs)]:
            if one.held_out and not two.held_out:
                found.setdefault(one.name, (one, two))
        return [found[name] for name in sorted(found)]

    @property
    def held_out(self) -> int:
        return sum(file.held_out for file in self.files)


def find(folder: CheckedFolder) -> Iterator[DataFinding]:
    """Every rule in order; what must be decided comes first."""
    found = [finding for rule in RULES for finding in rule(folder)]
    yield from sorted(found, key=lambda finding: not finding.decide)


def unreadable(folder: CheckedFolder) -> Iterator[DataFinding]:
    broken = [file for file in folder.files if not file.readable]
    if broken:
        text = f"{plural(len(broken), 'file')} cannot be read"
        yield DataFinding("unreadable", True, text, "replace or remove them", singly(broken))


def constant(folder: CheckedFolder) -> Iterator[DataFinding]:
    flat = [file for file in folder.files if file.constant]
    if flat:
        text = f"{plural(len(flat), 'image')} of a single colour"
        yield DataFinding("constant", True, text, "replace or remove them", singly(flat))


def spelling(folder: CheckedFolder) -> Iterator[DataFinding]:
    if not folder.mapping:
        return
    counts = Counter(file.label for file in folder.files)
    pairs = [f"{name} ({counts[name]:,}) and {label} ({counts[label]:,})" for name, label in folder.mapping.items()]
    text = f"folders that may be one class: {'; '.join(pairs)}"
    yield DataFinding("spelling", True, text, "use the proposed data.yaml, or rename the folders")


def leakage(folder: CheckedFolder) -> Iterator[DataFinding]:
    """Copies of training images among those that are held out for testing: the accuracy is too good."""
    found = folder.leaked
    if not found:
        return
    share = len(found) / folder.held_out
    text = f"{plural(len(found), 'held-out image')} of {folder.held_out:,} ({percent(share)}) "
    text += "have a copy among the training images; accuracy on them is too good"
    remedy = "set data.split=grouped, or data.group if names tell what belongs together"
    yield DataFinding("leakage", share >= LEAKED, text, remedy, paired(found))


def exact_copies(folder: CheckedFolder) -> Iterator[DataFinding]:
    between = [files for files in folder.exact if len({file.label for file in files}) > 1]
    within = [files for files in folder.exact if len({file.label for file in files}) == 1]
    if between:
        text = f"{plural(len(between), 'image')} in more than one class"
        yield DataFinding("contradiction", True, text, "keep each in its true class", named(between))
    if within:
        extra = sum(len(files) - 1 for files in within)
        text = f"{plural(extra, 'file')} with the same content as another of its class"
        yield DataFinding("duplicate", False, text, "remove them; they count twice", named(within))


def near_copies_found(folder: CheckedFolder) -> Iterator[DataFinding]:
    between = [pair for pair in folder.near if pair[0].label != pair[1].label]
    leaking = {name for one, two in folder.leaked for name in (one.name, two.name)}
    within = [pair for pair in folder.near if pair[0].label == pair[1].label and pair[0].name not in leaking]
    if between:
        text = f"{plural(len(between), 'pair')} of near-copies in different classes"
        yield DataFinding("contradiction", True, text, "look which class is right", paired(between))
    if within:
        text = f"{plural(len(within), 'pair')} of near-copies: rotated, mirrored, cropped or changed a little"
        yield DataFinding("near-copy", False, text, "keep them on one side of the split", paired(within))


def small_classes(folder: CheckedFolder) -> Iterator[DataFinding]:
    counts = Counter((file.site, folder.mapping.get(file.label, file.label)) for file in folder.readable)
    totals = Counter(folder.mapping.get(file.label, file.label) for file in folder.readable)
    for label, count in sorted(totals.items()):
        if count < FEW:
            text = f"class {label} has {plural(count, 'image')}"
            yield DataFinding("small class", True, text, f"add some (at least {FEW}), or leave the class out")
    few = [f"{label} at {site} ({n})" for (site, label), n in sorted(counts.items()) if n < FEW <= totals[label]]
    if few:
        text = f"fewer than {FEW} images of a class at a site: {', '.join(few)}"
        yield DataFinding("small class", False, text, "mooring train asks before it sends sums over so few")


def wrong_ending(folder: CheckedFolder) -> Iterator[DataFinding]:
    wrong = [
        file
        for file in folder.readable
        if file.facts and FORMATS.get(PurePath(file.name).suffix.lower(), file.facts.format) != file.facts.format
    ]
    if wrong:
        kinds = ", ".join(sorted({file.facts.format for file in wrong if file.facts}))
        text = f"{plural(len(wrong), 'file')} with the wrong ending; they are {kinds}"
        yield DataFinding("ending", False, text, "rename them; they are read correctly here", singly(wrong))


def modes(folder: CheckedFolder) -> Iterator[DataFinding]:
    for mode, what in (("CMYK", "CMYK (for printing)"), ("A", "a transparent layer, shown over white")):
        own = [file for file in folder.readable if file.facts and file.facts.mode.endswith(mode)]
        if own:
            text = f"{plural(len(own), 'image')} with {what}"
            yield DataFinding("mode", False, text, "save them as plain RGB or grey", singly(own))
    deep = [file for file in folder.readable if file.facts and file.facts.deep]
    if deep:
        mixed = len(deep) < len(folder.readable)
        text = f"{plural(len(deep), 'image')} with more than 8 bits" + (", among others with 8" if mixed else "")
        yield DataFinding("depth", mixed, text, "set data.levels=[BLACK, WHITE]", singly(deep))


def sizes(folder: CheckedFolder) -> Iterator[DataFinding]:
    known = [(file, file.facts) for file in folder.readable if file.facts and file.facts.width]
    if not known:
        return
    usual = median(min(facts.width, facts.height) for _, facts in known)
    odd = [
        file
        for file, facts in known
        if (min(facts.width, facts.height) < SMALL <= usual)
        or not 1 / UNLIKE <= min(facts.width, facts.height) / usual <= UNLIKE
        or max(facts.width, facts.height) > NARROW * min(facts.width, facts.height)
    ]
    if odd and len(odd) < len(known) / 2:
        text = f"{plural(len(odd), 'image')} of an unusual size (the usual side is {usual:.0f} pixels)"
        yield DataFinding("size", False, text, "look whether they are what they should be", singly(odd))


def ignored_files(folder: CheckedFolder) -> Iterator[DataFinding]:
    if folder.ignored:
        listed = ", ".join(f"{count} {ending}" for ending, count in sorted(folder.ignored.items()))
        yield DataFinding("ignored", False, f"files that are not images: {listed}", "they are not read")


def site_shifts(folder: CheckedFolder) -> Iterator[DataFinding]:
    for shift in shifts(folder.readable):
        yield DataFinding("shift", False, shift, "accuracy may differ there; read the accuracy of each site")


RULES: Sequence[Callable[[CheckedFolder], Iterator[DataFinding]]] = (
    unreadable,
    spelling,
    leakage,
    exact_copies,
    near_copies_found,
    small_classes,
    constant,
    wrong_ending,
    modes,
    sizes,
    site_shifts,
    ignored_files,
)


def singly(files: Sequence[CheckedFile]) -> tuple[tuple[str, ...], ...]:
    return tuple((file.name,) for file in files)


def paired(pairs: Sequence[tuple[CheckedFile, CheckedFile]]) -> tuple[tuple[str, ...], ...]:
    return tuple((one.name, two.name) for one, two in pairs)


def named(groups: Sequence[tuple[CheckedFile, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(file.name for file in group) for group in groups)
