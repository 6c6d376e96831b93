"""A server in a thread of this process, and requests to it."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from threading import Thread

from PIL import Image

from mooring.reports import model_page
from mooring.serving import LOOPBACK, ServingLimits, application, listen, make_server

LIMITS = ServingLimits(bytes=100_000, pixels=1_000_000, waiting=8, seconds=0.5)
PNG = {"Content-Type": "image/png"}
SHA256 = "ab" * 32


@dataclass(frozen=True)
class Served:
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method="GET", path="/health", body=None, headers=None):
        """Status, JSON or bytes, and the fields of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        data, fields = response.read(), dict(response.getheaders())
        connection.close()
        return response.status, json.loads(data) if fields["content-type"] == "application/json" else data, fields

    def post(self, body, **headers):
        return self.ask("POST", "/predict", body, PNG | headers)

    @contextmanager
    def half_sent(self, announced=1000) -> Iterator[socket.socket]:
        """A request whose body does not come."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            head = (
                f"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\nContent-Length: {announced}"
            )
            connection.sendall(f"{head}\r\n\r\nabc".encode())
            yield connection


@contextmanager
def served(model, limits=LIMITS, hosts=LOOPBACK):
    listening = listen("127.0.0.1", 0)
    server = make_server(application(model, SHA256, model_page(model), limits, hosts))
    thread = Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield Served(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


def picture(size=(16, 16), kind="PNG", colour=90):
    file = BytesIO()
    Image.new("L", size, colour).save(file, kind)
    return file.getvalue()
