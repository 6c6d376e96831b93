"""The bytes of one image, received within the limits."""

import asyncio

from starlette.requests import ClientDisconnect, Request

from mooring.serving._limits import RefusedRequest, ServingLimits
from mooring.wording import size

TYPES = ("image/", "application/dicom", "application/octet-stream")
DISCARDED = 2**28  # bytes that are read and dropped, for the client to read the refusal


async def receive_image(request: Request, limits: ServingLimits) -> bytes:
    """The body, if it may be one image. Forms are rejected: no page from elsewhere can post here unseen."""
    reject_type(request)
    announced = request.headers.get("content-length", "0")
    too_long = announced.isdigit() and int(announced) > limits.bytes
    parts: list[bytes] = []
    received = 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                received += len(part)
                if received > DISCARDED:
                    break
                if too_long or received > limits.bytes:
                    parts.clear()
                else:
                    parts.append(part)
    except TimeoutError:
        raise RefusedRequest(
            408, f"the image did not arrive within {limits.seconds:g} seconds", "send it again"
        ) from None
    except ClientDisconnect:
        raise RefusedRequest(400, "the connection ended within the image", "send it again") from None
    if received > limits.bytes:
        raise RefusedRequest(
            413, f"the body has more than {size(limits.bytes)}", "send a smaller image, or start with --most-megabytes"
        )
    if not received:
        raise RefusedRequest(400, "the body is empty", "send the bytes of one image")
    return b"".join(parts)


def reject_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind.startswith(TYPES):
        raise RefusedRequest(
            415,
            f"Content-Type is {kind or 'missing'}",
            "send the bytes of one image: curl -H 'Content-Type: image/png' --data-binary @FILE URL",
        )
