"""`mooring serve`: a model over HTTP."""

from contextlib import suppress
from typing import Annotated

import typer

from mooring.cli.arguments import say
from mooring.cli.model import EncoderOption, Model, file_of, findings_on, open_model
from mooring.errors import needed

MIB = 2**20


def serve(
    model: Model,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 is every address of this machine.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes a free port.")] = 8000,
    most_megabytes: Annotated[int, typer.Option(min=1, max=500, help="The largest image that is taken.")] = 20,
    encoder: EncoderOption = None,
) -> None:
    """Answer over HTTP: a page to drop an image into, POST /predict for programs, /health, /openapi.json.

    Only this machine can reach it unless --host says otherwise. It has no password and no TLS: put a proxy before it.
    """
    for library in ("uvicorn", "starlette"):
        needed(library, "serve")
    from mooring.record import file_sha256
    from mooring.reports import model_page
    from mooring.serving import LOOPBACK, ServingLimits, application, listen, make_server

    loaded = open_model(model, encoder, trust_code=False)
    limits = ServingLimits(bytes=most_megabytes * MIB)
    listening = listen(host, port)
    own = listening.getsockname()
    local = own[0] in ("127.0.0.1", "::1")
    digest = file_sha256(file_of(model))
    card = model_page(loaded, findings_on(file_of(model), digest, hide_sites=not local))
    app = application(loaded, digest, card, limits, LOOPBACK if local else ())
    shown = f"[{own[0]}]" if ":" in own[0] else own[0]
    with suppress(KeyboardInterrupt):  # the way in which it ends
        say(f"http://{shown}:{own[1]}  {len(loaded.classes)} classes; Ctrl-C ends it")
        if not local:
            say("every machine that reaches this address can ask the model: there is no password and no TLS", err=True)
        make_server(app).run([listening])
