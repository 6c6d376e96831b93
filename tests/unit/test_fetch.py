"""A download arrives whole or not at all, goes on where it stopped, and nothing is believed without its checksum."""

import io
import re
import resource
import shutil
import sys
import tarfile
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path

import pytest
from shelf import Shelf, serving
from source_files import write_cifar10, write_fashion

from mooring.data._catalogue import SOURCES, list_sources
from mooring.data._cifar import Cifar10
from mooring.data._locate import Download
from mooring.errors import DataError
from mooring.events import Downloaded, Event
from mooring.fetch import OFFICIAL, fetch
from mooring.fetch._download import appending

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(Shelf({"thing.bin": CONTENT})) as shelf:
        yield shelf


def thing(shelf: Shelf, content: bytes = CONTENT) -> Download:
    return Download.of_files(shelf.address, "things", {"thing.bin": md5(content).hexdigest()})


def part(root: Path) -> Path:
    return root / "things" / "thing.bin.part"


def here(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def rejected(shelf: Shelf, root: Path, *words: str, content: bytes = CONTENT) -> None:
    with pytest.raises(DataError) as caught:
        fetch(thing(shelf, content), str(root), pauses=())
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def test_a_file_arrives_under_its_name_and_is_not_fetched_twice(shelf: Shelf, tmp_path: Path) -> None:
    seen: list[Event] = []
    assert fetch(thing(shelf), str(tmp_path), seen.append) == tmp_path / "things"
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT
    assert here(tmp_path) == ["things/thing.bin"]
    assert seen[-1] == Downloaded("things/thing.bin", len(CONTENT), len(CONTENT))
    fetch(thing(shelf), str(tmp_path))
    assert shelf.asked == ["/thing.bin"]


def test_a_broken_connection_is_continued_by_itself(shelf: Shelf, tmp_path: Path) -> None:
    shelf.cuts = [100, 1000]
    fetch(thing(shelf), str(tmp_path), pauses=(0.0, 0.0))
    assert shelf.asked == ["/thing.bin", "/thing.bin bytes=100-", "/thing.bin bytes=1100-"]
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


def test_an_interrupted_download_is_kept_and_continued_by_the_next_command(shelf: Shelf, tmp_path: Path) -> None:
    shelf.cuts = [100]
    rejected(shelf, tmp_path, "ended early", "after 100 bytes", "goes on where it was")
    assert here(tmp_path) == ["things/thing.bin.part"]
    seen: list[Event] = []
    fetch(thing(shelf), str(tmp_path), seen.append)
    assert shelf.asked[1:] == ["/thing.bin bytes=100-"]
    assert seen[0] == Downloaded("things/thing.bin", 100, len(CONTENT), resumed=True)
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


def test_a_server_without_ranges_starts_over(shelf: Shelf, tmp_path: Path) -> None:
    shelf.ranges, shelf.cuts = False, [100]
    fetch(thing(shelf), str(tmp_path), pauses=(0.0,))
    assert shelf.asked == ["/thing.bin", "/thing.bin bytes=100-"]
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


def test_a_beginning_of_something_else_is_thrown_away(shelf: Shelf, tmp_path: Path) -> None:
    part(tmp_path).parent.mkdir()
    part(tmp_path).write_bytes(b"x" * 100)
    fetch(thing(shelf), str(tmp_path))
    assert shelf.asked == ["/thing.bin bytes=100-", "/thing.bin"]
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("extra", [b"", b"too much"])
def test_a_part_that_is_whole_or_longer_is_judged_by_its_checksum(shelf: Shelf, tmp_path: Path, extra: bytes) -> None:
    part(tmp_path).parent.mkdir()
    part(tmp_path).write_bytes(CONTENT + extra)
    fetch(thing(shelf), str(tmp_path))
    assert len(shelf.asked) == (2 if extra else 1)
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


def test_a_wrong_checksum_never_gets_the_name(shelf: Shelf, tmp_path: Path) -> None:
    rejected(shelf, tmp_path, md5(CONTENT).hexdigest(), md5(b"else").hexdigest(), content=b"else")
    assert here(tmp_path) == []


def test_a_damaged_file_of_an_incomplete_set_is_replaced(shelf: Shelf, tmp_path: Path) -> None:
    shelf.files["other.bin"] = b"other"
    sums = {"thing.bin": md5(CONTENT).hexdigest(), "other.bin": md5(b"other").hexdigest()}
    (tmp_path / "things").mkdir()
    (tmp_path / "things/thing.bin").write_bytes(b"damaged")
    fetch(Download.of_files(shelf.address, "things", sums), str(tmp_path))
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


def test_a_missing_file_is_told_with_the_servers_words(shelf: Shelf, tmp_path: Path) -> None:
    shelf.files.clear()
    rejected(shelf, tmp_path, "404 Not Found", "by hand")
    assert here(tmp_path) == []


def test_a_server_that_is_not_there(shelf: Shelf, tmp_path: Path) -> None:
    shelf.address = "http://127.0.0.1:1"
    rejected(shelf, tmp_path, "cannot be reached", "https_proxy")


def test_a_disk_that_is_too_small_is_told_before_the_download(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    rejected(shelf, tmp_path, "10,240 bytes are still to come and 100 are free")


def test_a_disk_that_fills_up_keeps_what_has_arrived(shelf: Shelf, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        rejected(shelf, tmp_path, "cannot be written (File too large)", "goes on where it was")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert part(tmp_path).read_bytes() == CONTENT[:5000]
    fetch(thing(shelf), str(tmp_path))
    assert shelf.asked[1:] == ["/thing.bin bytes=5000-"]
    assert (tmp_path / "things/thing.bin").read_bytes() == CONTENT


def test_a_folder_that_cannot_be_written(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    rejected(shelf, tmp_path / "file", "cannot be written", "--root")
    assert shelf.asked == []


def test_two_processes_do_not_write_one_file(shelf: Shelf, tmp_path: Path) -> None:
    with appending(part(tmp_path)):
        rejected(shelf, tmp_path, "another process")


def archive(folder: Path, *more: tarfile.TarInfo) -> bytes:
    """A tar of the folder, and of entries that no honest archive has."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for entry in more:
            tar.addfile(entry, io.BytesIO(b"x" * entry.size))
        tar.add(folder, folder.name)
    return buffer.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, 1 if kind == tarfile.REGTYPE else 0
    return info


def cifar(shelf: Shelf, content: bytes) -> Download:
    shelf.files["cifar.tar.gz"] = content
    address = f"{shelf.address}/cifar.tar.gz"
    return Download.of_archive(address, md5(content).hexdigest(), "cifar-10-batches-py", Cifar10.files)


def test_an_archive_is_unpacked_to_where_its_source_looks(shelf: Shelf, tmp_path: Path) -> None:
    chosen = cifar(shelf, archive(write_cifar10(tmp_path / "made")))
    fetch(chosen, str(tmp_path / "root"))
    assert len(Cifar10(str(tmp_path / "root")).train()) == 15
    (tmp_path / "root/cifar-10-batches-py/test_batch").unlink()
    fetch(chosen, str(tmp_path / "root"))  # mended from the archive that is there
    assert len(Cifar10(str(tmp_path / "root")).test()) == 3
    assert len(shelf.asked) == 1


def test_nothing_leaves_an_archive_but_what_was_asked_for(shelf: Shelf, tmp_path: Path) -> None:
    made = write_cifar10(tmp_path / "made")
    wild = [
        entry("../outside"),
        entry("/tmp/mooring-outside"),
        entry("cifar-10-batches-py/../../outside"),
        entry("cifar-10-batches-py/more"),
        entry("cifar-10-batches-py/data_batch_1", tarfile.SYMTYPE, "/etc/passwd"),
        entry("cifar-10-batches-py/data_batch_2", tarfile.LNKTYPE, "../outside"),
    ]
    fetch(cifar(shelf, archive(made, *wild)), str(tmp_path / "root"))
    files = [f"cifar-10-batches-py/{name}" for name in Cifar10.files]
    assert here(tmp_path / "root") == sorted(["cifar.tar.gz", *files])
    assert not any(path.is_symlink() for path in (tmp_path / "root").rglob("*"))
    assert not Path("/tmp/mooring-outside").exists()
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("harm", ["cut", "rubbish", "lacking"])
def test_an_archive_that_cannot_be_unpacked(shelf: Shelf, tmp_path: Path, harm: str) -> None:
    made = write_cifar10(tmp_path / "made")
    if harm == "lacking":
        (made / "test_batch").unlink()
    whole = archive(made)
    content = {"cut": whole[: len(whole) // 2], "rubbish": b"rubbish" * 100, "lacking": whole}[harm]
    with pytest.raises(DataError, match="fetch it again"):
        fetch(cifar(shelf, content), str(tmp_path / "root"))
    assert not any(path.suffix == ".part" for path in (tmp_path / "root").rglob("*"))


def test_every_official_set_goes_where_its_source_looks_for_it(tmp_path: Path) -> None:
    missing = {info.name: info.note for info in list_sources(str(tmp_path)) if info.found is False}
    for name, chosen in OFFICIAL.items():
        assert name in SOURCES
        assert all(file.startswith(f"{chosen.folder}/") for file in chosen.files)
        for remote in chosen.remotes:
            assert re.fullmatch("[0-9a-f]{32}", remote.md5)
            assert remote.url.rpartition("/")[2] == Path(remote.place).name
        if name in missing:  # Fashion-MNIST may be installed
            assert str(tmp_path / chosen.folder) in missing[name]
            assert f"mooring data fetch {name}" in missing[name]


@pytest.fixture
def fashion(shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny Fashion-MNIST at an address of our own."""
    sums = {}
    for path in write_fashion(tmp_path / "made").iterdir():
        shelf.files[path.name] = path.read_bytes()
        sums[path.name] = md5(path.read_bytes()).hexdigest()
    monkeypatch.setitem(OFFICIAL, "fashion_mnist", Download.of_files(shelf.address, "fashion-mnist", sums))


@pytest.mark.usefixtures("fashion")
def test_the_command_fetches_tells_and_is_ready_to_run(cli) -> None:
    code, out, err = cli("data", "fetch", "fashion_mnist", "--root", "root")
    assert code == 0, err
    assert "12 training and 4 test images" in out
    assert "mooring run data.source=fashion_mnist data.root=root" in out
    assert [line.split(":")[0].rpartition("-")[2] for line in err.splitlines()] == ["ubyte.gz"] * 4
    assert "fashion_mnist  found" in cli("data", "--root", "root")[1]


@pytest.mark.usefixtures("fashion")
def test_a_terminal_shows_a_bar_for_every_file(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "120")
    code, _, err = cli("data", "fetch", "fashion_mnist", "--root", "root")
    assert code == 0, err
    assert "━" in err
    assert "t10k-labels-idx1-ubyte.gz" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fetch", "cifra10"), "did you mean 'cifar10'?"),
        (("fetch", "digits"), "is not a public data set"),
        (("--root", "x", "fetch", "cifar10"), "write them after it"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments: tuple[str, ...], told: str, cli) -> None:
    code, out, err = cli("data", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1
