"""What the server answers, as OpenAPI 3.1."""

from mooring.federation import ModelFile
from mooring.serving._body import TYPES
from mooring.serving._limits import ServingLimits
from mooring.version import VERSION
from mooring.wording import size

Schema = dict[str, object]
TEXT: Schema = {"type": "string"}
PICTURE: Schema = {"image/png": {}}
ERROR: Schema = {"type": "object", "required": ["error", "remedy"], "properties": {"error": TEXT, "remedy": TEXT}}


def openapi(model: ModelFile, limits: ServingLimits) -> Schema:
    rejected = {
        "400": "the body is empty, or ended early",
        "408": f"the body took more than {limits.seconds:g} seconds",
        "413": f"the body has more than {size(limits.bytes)}",
        "415": "the Content-Type is not that of an image",
        "422": f"the image cannot be read, or has more than {limits.pixels:,} pixels",
        "501": "the server lacks a library for this kind of image",
        "503": f"{limits.waiting} images are waiting",
    }
    image: Schema = {kind + "*" * kind.endswith("/"): {} for kind in TYPES}
    body = {"required": True, "content": image}
    errors = {status: answer(words, ERROR) for status, words in rejected.items()}
    predicted = {"200": answer("Every class with its share.", prediction(model))}
    explained = {"200": {"description": "The image as the model sees it, and a map beside it.", "content": PICTURE}}
    predict = {"summary": "The class of one image.", "requestBody": body, "responses": predicted | errors}
    explain = {"summary": "What the class rests on.", "requestBody": body, "responses": explained | errors}
    return {
        "openapi": "3.1.0",
        "info": {"title": f"A model of {len(model.classes)} classes", "version": VERSION},
        "paths": {
            "/predict": {"post": predict},
            "/explain": {"post": explain},
            "/model": get("The classes, the hash of the model file and the limits.", {"type": "object"}),
            "/card": {"get": {"summary": "The model card, a page.", "responses": {"200": {"description": "HTML."}}}},
            "/health": get("Whether the server is ready.", {"type": "object", "properties": {"status": TEXT}}),
        },
    }


def prediction(model: ModelFile) -> Schema:
    share: Schema = {"type": "number", "minimum": 0, "maximum": 1}
    label: Schema = {"type": "string", "enum": list(model.classes)}
    return {
        "type": "object",
        "required": ["class", model.confidence, "all", "warnings", "model"],
        "properties": {
            "class": label,
            model.confidence: share,
            "all": {"type": "object", "additionalProperties": share},
            "warnings": {"type": "array", "items": TEXT, "description": "What to know before using the class."},
            "unusualness": {"type": ["number", "null"], "description": "1 is usual; null: the model cannot tell."},
            "unusual": {"type": ["boolean", "null"], "description": "Above the threshold; null: there is none."},
            "abstained": {"type": "boolean", "description": "Too unsure for the error rate that was asked for."},
            "possible": {"type": "array", "items": label, "description": "Classes that reach their thresholds."},
            "nearest": {"type": "object", "additionalProperties": {"type": "number"}},
            "model": {"type": "string", "description": "SHA-256 of the model file."},
        },
    }


def get(words: str, schema: Schema) -> Schema:
    return {"get": {"summary": words, "responses": {"200": answer(words, schema)}}}


def answer(words: str, schema: Schema) -> Schema:
    return {"description": words, "content": {"application/json": {"schema": schema}}}
