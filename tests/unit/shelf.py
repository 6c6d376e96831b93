"""A small server on this machine, with the troubles that servers have."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class Shelf:
    """What a server offers, and how it behaves."""

    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True  # does it continue, or always begin at the beginning?
    cuts: list[int] = field(default_factory=list)  # the next answers end after so many bytes
    asked: list[str] = field(default_factory=list)  # "/name" or "/name bytes=5-"
    address: str = ""


@contextmanager
def serving(shelf: Shelf) -> Iterator[Shelf]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range") or ""
            shelf.asked.append(f"{self.path} {wanted}".strip())
            content = shelf.files.get(self.path[1:])
            if content is None:
                self.send_error(404)
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and shelf.ranges else 0
            if start >= len(content) > 0:
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            sent = content[start:]
            self.wfile.write(sent[: shelf.cuts.pop(0)] if shelf.cuts else sent)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    shelf.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield shelf
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
