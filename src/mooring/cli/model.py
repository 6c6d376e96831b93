"""`mooring predict`, `evaluate`, `personalise`, `export` and `model-card`: what people do with a model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import FAILED, AsJson, PositiveOption, TrustCode, print_json, say, trusted
from mooring.cli.explaining import ExplainOption, explain_evaluation, explain_predictions
from mooring.cli.predictions import as_json, predictions_csv, predictions_table

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from mooring.federation import Assessment, ModelFile, Unreadable
    from mooring.reports import Findings

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.mooring, or a run folder.")]
EncoderOption = Annotated[
    str | None, typer.Option("--encoder", help="The encoder's file, if the job or model names it by its SHA-256.")
]
SHOWN = 10  # files that cannot be read, named one by one


def predict(
    model: Model,
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE... FOLDER...", help="Files, folders, or both.")],
    csv_file: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Also write a table here.")] = None,
    explain: ExplainOption = None,
    encoder: EncoderOption = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Predict the classes of images; of a folder, all images below it.

    Exit code 3 when some files cannot be read.
    """
    from mooring.cli.progress import show_reading
    from mooring.federation import predict as ask

    loaded = open_model(model, encoder, trust_code)
    with show_reading():
        found = ask(loaded, images)
    if csv_file is not None:
        from mooring.record import write_atomically

        write_atomically(csv_file, predictions_csv(found).encode())
    if json:
        print_json(as_json(model, found))
    else:
        predictions_table(found)
    if csv_file is not None and not json:
        say(f"{len(found.rows)} rows in {csv_file}", err=True)
    if explain is not None:
        explain_predictions(loaded, found, explain)
    if not json:
        for line in found.limits:
            say(line)
        tell_ignored(found.ignored)
    if tell_unreadable(found.unreadable, len(found.rows), json):
        raise typer.Exit(FAILED)


def evaluate(
    model: Model,
    data: Annotated[Path, typer.Option("--data", metavar="FOLDER", help="A folder per class, or per site and class.")],
    positive: PositiveOption = None,
    explain: ExplainOption = None,
    encoder: EncoderOption = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Evaluate a model on your images: by class, by site, with intervals.

    Use images that no site trained on.
    """
    from mooring.cli.progress import show_reading

    loaded = open_model(model, encoder, trust_code)
    with show_reading():
        found = assessed(loaded, model, data, positive, trust_code)
    if json:
        from mooring.federation import assessment_tree

        print_json({"model": str(model), "data": str(data), **assessment_tree(found)})
    else:
        show_assessment(loaded, found)
    if explain is not None:
        explain_evaluation(loaded, data, explain)
    if tell_unreadable(found.unreadable, found.right.n + len(found.unreadable), json):
        raise typer.Exit(FAILED)


def personalise(
    model: Model,
    data: Annotated[Path, typer.Option("--data", metavar="FOLDER", help="The site's images, a folder per class.")],
    out: Annotated[Path, typer.Option(help="Where to write the model of this site.")] = Path("personal.mooring"),
    encoder: EncoderOption = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Write a model for one site, which expects each class as often as the site has it. Nothing leaves the site.

    Use it at that site only: elsewhere classes are more or less common.
    """
    from mooring.federation import personal_model, save_personal_model

    made = personal_model(open_model(model, encoder, trust_code), data)
    save_personal_model(out, made)
    if json:
        facts = {"images": made.images, "classes": made.classes, "strength": made.strength}
        print_json({"path": str(out), **facts})
    else:
        say(f"{out}: {made.words}")
        say("it shows how common each class is at the site, so keep it there")


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option("--onnx", metavar="FILE", help="Where to write the ONNX file.")],
    encoder: EncoderOption = None,
    trust_code: TrustCode = False,
) -> None:
    """Write a model as ONNX, preprocessing included: uint8 images in, scores and their soft-max out."""
    from mooring.federation import export_onnx

    say(export_onnx(open_model(model, encoder, trust_code), onnx).words)


def model_card(  # noqa: PLR0913, PLR0917
    model: Model,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Images no site trained on: the card then has the accuracy."),
    ] = None,
    others: Annotated[
        Path | None,
        typer.Option("--others", metavar="FOLDER", help="Images of other kinds: how many are marked as unusual."),
    ] = None,
    positive: PositiveOption = None,
    intended_use: Annotated[str, typer.Option(metavar="TEXT", help="What the model is for, in your words.")] = "",
    hide_sites: Annotated[bool, typer.Option("--hide-sites", help="Number the sites instead of naming them.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write it to this file; a page if it ends in .html.")] = None,
    encoder: EncoderOption = None,
    trust_code: TrustCode = False,
) -> None:
    """Print a model card in Markdown: what the model is, who contributed, what to know before using it."""
    from mooring.federation import predict as ask
    from mooring.record import file_sha256
    from mooring.reports import model_card as card_text
    from mooring.reports import write_model_page

    loaded = open_model(model, encoder, trust_code)
    measured = None if data is None else assessed(loaded, model, data, positive, trust_code)
    digest = file_sha256(file_of(model))
    findings = replace(
        findings_on(file_of(model), digest, hide_sites),
        measured=measured,
        intended=intended_use,
        others=None if others is None else ask(loaded, [others]),
    )
    if out is None:
        say(card_text(loaded, findings).rstrip())
    elif out.suffix == ".html":
        write_model_page(loaded, out, findings)
        say(str(out))
    else:
        from mooring.record import write_atomically

        write_atomically(out, card_text(loaded, findings).encode())
        say(str(out))


def open_model(path: Path, encoder: str | None, trust_code: bool) -> "ModelFile":
    """The model in a file or in the folder of a run."""
    from mooring.federation import load_model

    return load_model(file_of(path), encoder=encoder, trust=trusted(trust_code))


def assessed(loaded: "ModelFile", model: Path, data: Path, positive: str | None, trust_code: bool) -> "Assessment":
    """How good a model is on these images; which of them it was trained on, its run may know."""
    from mooring.federation import assess, trained_on

    return assess(loaded, data, positive, trained_on(loaded, file_of(model), data, trusted(trust_code)))


def file_of(path: Path) -> Path:
    from mooring.record import MODEL_FILE

    return path / MODEL_FILE if path.is_dir() else path


def findings_on(file: Path, digest: str, hide_sites: bool) -> "Findings":
    """What the run beside a model knows of it, if it wrote this very file."""
    from mooring.record import RunFolder
    from mooring.reports import Findings

    run = RunFolder(file.parent)
    if not run.ended or run.result.files.get(file.name) != digest:
        return Findings(file_sha256=digest, hide_sites=hide_sites)
    return Findings(file_sha256=digest, recorded=run.result, judged=run.judgement, hide_sites=hide_sites)


def show_assessment(model: "ModelFile", found: "Assessment") -> None:
    """The sentence first, then the tables of the model page: classes, sites, the positive class, the confusion."""
    from mooring.cli.screen import Screen
    from mooring.reports import Findings, assessment_section, limits_section, show_table

    console = Screen()
    console.print(found.words, style="bold", soft_wrap=True)
    console.print(found.for_new_images, style="yellow" if found.trained else "dim", soft_wrap=True)
    console.print(found.against_chance, style="dim", soft_wrap=True)
    for limits in limits_section(model, Findings(found)).tables:
        for name, value in limits.rows:
            console.print(f"{name}: {value}", soft_wrap=True)
    for table in assessment_section(found).tables:
        console.print(f"\n{table.title}", style="bold", soft_wrap=True)
        show_table(table, console)


def tell_unreadable(unreadable: "Sequence[Unreadable]", files: int, quiet: bool) -> bool:
    """Name the files that could not be read, on standard error; were there any?"""
    if unreadable and not quiet:
        say(f"{len(unreadable)} of {files} files cannot be read:", err=True)
        for row in unreadable[:SHOWN]:
            say(f"  {row.file}: {row.problem}", err=True)
        if len(unreadable) > SHOWN:
            say(f"  and {len(unreadable) - SHOWN} more", err=True)
    return bool(unreadable)


def tell_ignored(ignored: "Counter[str]") -> None:
    if ignored:
        endings = ", ".join(f"{count} {ending}" for ending, count in ignored.most_common(5))
        say(f"not looked at in folders: {endings}", err=True)
