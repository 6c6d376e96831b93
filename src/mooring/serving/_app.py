"""The ASGI application: a page, one image in, its class out, and what a monitor or a program asks for."""

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from io import BytesIO
from typing import TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from mooring.data import ImageBytes
from mooring.errors import ExtraError
from mooring.federation import Explanation, ModelFile, Unreadable, explain_image, predict_image, prediction_tree
from mooring.serving._body import receive_image
from mooring.serving._headers import CARD_POLICY, POLICY, Headers
from mooring.serving._limits import RefusedRequest, ServingLimits
from mooring.serving._openapi import openapi
from mooring.serving._scorer import ScoringThread

USUAL = ServingLimits()
READABLE = "send one PNG, JPEG, WebP, BMP, GIF, TIFF or DICOM image of at most {:,} pixels"
Found = TypeVar("Found")
ANY_HOST: tuple[str, ...] = ()


def application(
    model: ModelFile, sha256: str, card: str, limits: ServingLimits = USUAL, hosts: tuple[str, ...] = ANY_HOST
) -> Starlette:
    """A model as an ASGI application. `card`: its model card, a page. `hosts`: names that a request may address it by;
    all if empty."""
    routes = Routes(model, sha256, card, limits)
    return Starlette(
        routes=[
            Route("/", routes.page),
            Route("/predict", routes.predict, methods=["POST"]),
            Route("/explain", routes.explain, methods=["POST"]),
            Route("/model", routes.about),
            Route("/card", routes.card),
            Route("/health", routes.health),
            Route("/openapi.json", routes.openapi),
        ],
        middleware=[Middleware(Headers, hosts=hosts)],
        exception_handlers={RefusedRequest: refusal, HTTPException: http_error, Exception: failure},
    )


class Routes:
    """What every address answers."""

    def __init__(self, model: ModelFile, sha256: str, card: str, limits: ServingLimits) -> None:
        self.model, self.sha256, self.card_html, self.limits = model, sha256, card, limits
        self.held = 0  # images that are received, wait or are scored
        self.scorer = ScoringThread()
        self.html = files("mooring.serving").joinpath("page.html").read_text("utf-8")

    async def page(self, _: Request) -> Response:
        return HTMLResponse(self.html)

    async def card(self, _: Request) -> Response:
        return HTMLResponse(self.card_html, headers={POLICY: CARD_POLICY})

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ready"})

    async def openapi(self, _: Request) -> Response:
        return JSONResponse(openapi(self.model, self.limits))

    async def about(self, _: Request) -> Response:
        return JSONResponse(
            {
                "sha256": self.sha256,
                "classes": self.model.classes,
                "confidence": self.model.confidence,
                "limits": self.model.limits,
                "most_bytes": self.limits.bytes,
                "most_pixels": self.limits.pixels,
            }
        )

    async def predict(self, request: Request) -> Response:
        found = await self.found(request, predict_image)
        return JSONResponse(prediction_tree(found, self.model.confidence) | {"model": self.sha256})

    async def explain(self, request: Request) -> Response:
        return Response(png_of(await self.found(request, explain_image)), media_type="image/png")

    async def found(self, request: Request, look: Callable[[ModelFile, ImageBytes, int], Found | Unreadable]) -> Found:
        """What the model finds in the image of a request."""
        if self.held >= self.limits.waiting:
            raise RefusedRequest(503, f"{self.held} images are waiting", "send it again in a second")
        self.held += 1
        try:
            image = ImageBytes(await receive_image(request, self.limits))
            found = await self.scorer(partial(look, self.model, image, self.limits.pixels))
        except ExtraError as error:
            raise RefusedRequest(501, error.problem, f"install it at the server: {error.remedy}") from None
        except CancelledError:  # Ctrl-C, and the last second is over
            raise RefusedRequest(503, "the server ends", "start it again") from None
        finally:
            self.held -= 1
        if isinstance(found, Unreadable):
            raise RefusedRequest(422, f"the file {found.problem}", READABLE.format(self.limits.pixels))
        return found


def png_of(explanation: Explanation) -> bytes:
    """The image as the model sees it, and beside it the map."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(explanation.picture().permute(1, 2, 0).numpy()).save(file, "PNG")
    return file.getvalue()


async def refusal(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedRequest)
    return answer(error.status, error.problem, error.remedy, {"Retry-After": "1"} if error.status == 503 else {})


async def http_error(request: Request, error: Exception) -> Response:
    """No such address, or not by this method."""
    assert isinstance(error, HTTPException)
    problem = f"{request.method} {request.url.path}: {error.detail.lower()}"
    return answer(error.status_code, problem, "GET /openapi.json describes every address", error.headers or {})


async def failure(_: Request, error: Exception) -> Response:
    """A bug: its traceback is for whoever runs the server."""
    return answer(500, "the server failed", "its terminal shows why", {})


def answer(status: int, problem: str, remedy: str, headers: Mapping[str, str]) -> Response:
    return JSONResponse({"error": problem, "remedy": remedy}, status, dict(headers))
