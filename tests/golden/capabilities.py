"""List everything a user can name: commands, options, methods, parts, settings, formats and public names.

    python tests/golden/capabilities.py > tests/golden/capabilities.txt

writes the committed list again. Edit the imports below when a module moves; keep the lines.
"""

import json
from collections.abc import Iterator, Mapping

import click
import typer
from typer.testing import CliRunner

import mooring
import mooring.federation
import mooring.sweeps
from mooring.anchors import ANCHORS
from mooring.cli import app
from mooring.client._recipe import STAGE_TIMES
from mooring.config._examples import examples
from mooring.config._note_words import NOTE_WORDS
from mooring.config._part_kinds import ENGINES
from mooring.data._catalogue import SOURCES
from mooring.data._partition import PARTITIONERS
from mooring.fetch import OFFICIAL
from mooring.fusion import FUSIONS, SOLVERS
from mooring.fusion._distillation.supplies import SUPPLIES
from mooring.losses import LOSSES
from mooring.methods import METHODS
from mooring.models._backbones import BACKBONES
from mooring.models._encoders.efficientnet import EFFICIENTNET_LITES
from mooring.models._feature_maps import FEATURE_MAPS
from mooring.models._heads import HEADS
from mooring.notes._plan import study_files
from mooring.reports._formats import FORMATS
from mooring.sweeps._search import SAMPLERS
from mooring.track import TRACKERS
from mooring.uploads._privacy import PRIVACIES
from mooring.weighting import WEIGHTINGS
from mooring.weighting._guards import GUARDS
from mooring.weighting._uncertainty import STARTS

KINDS: dict[str, Mapping[str, object]] = {  # what a line calls it -> its names
    "anchor": ANCHORS,
    "configuration file": examples(),
    "data source": SOURCES,
    "encoder": EFFICIENTNET_LITES,
    "engine": ENGINES,
    "feature map": FEATURE_MAPS,
    "fetched data set": OFFICIAL,
    "fusion": FUSIONS,
    "guard": GUARDS,
    "head": HEADS,
    "loss": LOSSES,
    "method": METHODS,
    "model": BACKBONES,
    "partitioner": PARTITIONERS,
    "privacy": PRIVACIES,
    "report format": FORMATS,
    "search": SAMPLERS,
    "sigma start": STARTS,
    "solver": SOLVERS,
    "study": study_files(),
    "supply": SUPPLIES,
    "time of a stage": STAGE_TIMES,
    "tracker": TRACKERS,
    "weighting": WEIGHTINGS,
    "word of the notes": NOTE_WORDS,
}
PUBLIC = (mooring, mooring.federation, mooring.sweeps)


def capabilities() -> list[str]:
    """One sorted line for each."""
    lines = set(commands(typer.main.get_command(app), "mooring"))
    lines |= {f"{kind}: {name}" for kind, names in KINDS.items() for name in names}
    lines |= {f"public name: {module.__name__}.{name}" for module in PUBLIC for name in module.__all__}
    return sorted(lines | set(settings()))


def commands(command: click.Command, path: str) -> Iterator[str]:
    """A command, its options and arguments, and the same for the commands below it."""
    yield f"command: {path}"
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            yield f"argument: {path} {parameter.metavar or str(parameter.name).upper()}"
        else:
            yield from (f"option: {path} {spelling}" for spelling in (*parameter.opts, *parameter.secondary_opts))
        if isinstance(parameter.type, click.Choice):
            yield from (f"choice: {path} {parameter.opts[0]} {choice}" for choice in parameter.type.choices)
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from commands(below, f"{path} {name}")


def settings() -> Iterator[str]:
    """Every key that `mooring settings` lists; where only some kinds of a part have it, one line for each kind."""
    listed = CliRunner().invoke(app, ["settings", "--json"], catch_exceptions=False)
    for setting in json.loads(listed.stdout):
        for key in setting["keys"]:
            yield from (f"setting: {key} with {kind}" for kind in setting["kinds"])
            if not setting["kinds"]:
                yield f"setting: {key}"


if __name__ == "__main__":
    print("\n".join(capabilities()))
