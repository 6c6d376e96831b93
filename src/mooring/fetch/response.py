"""What a server answers when it is asked for a file from some byte on."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from io import BytesIO
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from mooring.errors import DataError

BLOCK = 1 << 18  # bytes
PATIENCE = 30.0  # seconds without a byte
PARTIAL, UNSATISFIABLE = 206, 416


@dataclass(frozen=True)
class Response:
    """A stream of bytes of which the first is number `start` of the file."""

    stream: IO[bytes]
    start: int
    total: int | None  # bytes of the whole file, if the server says so

    def blocks(self) -> Iterator[bytes]:
        """A connection that breaks raises `ConnectionError`."""
        try:
            while block := self.stream.read(BLOCK):
                yield block
        except (HTTPException, OSError) as error:
            raise ConnectionError(f"the connection broke ({error})") from error


@contextmanager
def asked(url: str, start: int) -> Iterator[Response]:
    """Ask for the file from byte `start` on; a server without ranges answers from the beginning."""
    headers = {"User-Agent": "mooring", "Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        answer = urlopen(Request(url, headers=headers), timeout=PATIENCE)
    except HTTPError as error:
        with error:
            if error.code != UNSATISFIABLE or not start:
                raise DataError(
                    f"{url}: the server answers {error.code} {error.reason}",
                    "try again later, or download it by hand: `mooring data` says where it belongs",
                ) from error
            yield Response(BytesIO(), start, None)  # there is nothing beyond: perhaps it is whole
            return
    except URLError as error:
        raise DataError(
            f"{url}: cannot be reached ({error.reason})", "check the network and the variable https_proxy"
        ) from error
    except (HTTPException, OSError) as error:
        raise ConnectionError(f"the connection broke ({error})") from error
    with answer:
        yield Response(answer, *frame(answer.status, answer.headers, start))


def frame(status: int, headers: HTTPMessage, start: int) -> tuple[int, int | None]:
    """Where in the file the answer begins, and how long the file is.

    An answer from the middle that does not say from where is taken at its word that it is what was asked for; the
    checksum has the last word.
    """
    if status == PARTIAL:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", headers.get("Content-Range", "").strip())
        if found is None:
            return start, None
        return int(found[1]), None if found[2] == "*" else int(found[2])
    size = headers.get("Content-Length", "")
    return 0, int(size) if size.isdigit() else None
