"""Headers of every answer, and the names by which this server may be addressed."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from re import DOTALL, findall

from starlette.datastructures import Headers as Fields
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "Content-Security-Policy"
CARD_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"  # no network


class Headers:
    """No answer is kept, framed or guessed at. A request for another host is rejected: a page from elsewhere whose name
    suddenly points to this machine (DNS rebinding) reads nothing here."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self.app, self.hosts = app, hosts
        self.fields = {
            "Cache-Control": "no-store",
            POLICY: page_policy(),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_fields(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in self.fields.items():
                    sent.setdefault(name, value)
            await send(message)

        if scope["type"] == "http" and self.hosts and host_of(scope) not in self.hosts:
            tree = {"error": f"this server is not {host_of(scope)}", "remedy": f"address it as {self.hosts[0]}"}
            await JSONResponse(tree, 421)(scope, receive, with_fields)
        else:
            await self.app(scope, receive, with_fields)


def host_of(scope: Scope) -> str:
    """The name in the Host field, without its port."""
    host = Fields(scope=scope).get("host", "")
    return host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


def page_policy() -> str:
    """The page may run its own script and style, by hash, and talk to this server: nothing else."""
    html = files("mooring.serving").joinpath("page.html").read_text("utf-8")
    [style], [script] = (findall(f"<{tag}>(.*?)</{tag}>", html, DOTALL) for tag in ("style", "script"))
    return (
        "default-src 'none'; connect-src 'self'; img-src blob: data:; base-uri 'none'; form-action 'none'; "
        f"frame-ancestors 'none'; style-src {hashed(style)}; script-src {hashed(script)}"
    )


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
