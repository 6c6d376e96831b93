"""`mooring calibrate`: confidence and thresholds of a model for the images of one place."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from mooring.cli.arguments import FAILED, AsJson, TrustCode, as_object, print_json, say, trusted
from mooring.cli.model import EncoderOption, Model, file_of, tell_unreadable


def calibrate(  # noqa: PLR0913, PLR0917
    model: Model,
    data: Annotated[Path, typer.Argument(metavar="FOLDER", help="Held-out images: a folder per class.")],
    false_alarm: Annotated[float, typer.Option(help="Share of usual images that may be marked as unusual.")] = 0.05,
    error: Annotated[
        float | None, typer.Option(help="Abstain to keep the share of wrong predictions at or below this.")
    ] = None,
    sensitivity: Annotated[
        float | None, typer.Option(help="Set a threshold for every class that finds this share of its images.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Predict this class whenever its threshold is reached; needs --sensitivity.")
    ] = None,
    encoder: EncoderOption = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Fit a model's confidence to images of yours, and mark what is unlike them.

    Use images that no site trained on. Writes the signed file MODEL.calibration.mooring for predict and evaluate; the
    model itself does not change.
    """
    from mooring.cli.progress import show_reading
    from mooring.errors import FederationError
    from mooring.federation import Targets, load_model, own_identity
    from mooring.federation import calibrate as fit
    from mooring.schema import FieldsError

    try:
        targets = Targets(false_alarm, error, sensitivity, positive)
    except FieldsError as problem:
        raise FederationError(f"mooring calibrate: {problem}", "give shares between 0 and 1") from None
    file = file_of(model)
    loaded = load_model(file, encoder=encoder, trust=trusted(trust_code), calibrated=False)
    with show_reading():
        made = fit(loaded, file, data, targets, own_identity().key)
    found = made.calibration
    if json:
        print_json({"file": str(made.path), "words": found.words, **as_object(found)})
    else:
        say(found.words)
        for line in replace(loaded, calibration=found).missing:
            say(line, err=True)
        say(str(made.path))
    if tell_unreadable(made.unreadable, found.images + len(made.unreadable), json):
        raise typer.Exit(FAILED)
