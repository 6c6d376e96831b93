"""One run in one call."""

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Unpack

from mooring.api._progress import ProgressLine
from mooring.api._run_result import Run
from mooring.api._settings import Settings, experiment_tree
from mooring.config import parse
from mooring.errors import ConfigError
from mooring.execution import run_experiment, run_folder_of
from mooring.methods import Method
from mooring.record import RunFolder
from mooring.track import Callback, listener


def run(
    method: str | Method = "mooring",
    *,
    seed: int = 1,
    out: str | PathLike[str] | None = None,
    callbacks: Sequence[Callback] = (),
    again: bool = False,
    verbose: bool = True,
    **settings: Unpack[Settings],
) -> Run:
    """Run one method and return its result. A run that has finished is returned at once, unless `again`.

    An interrupted run continues when it is called again. The result is the same as that of the command line with the
    same settings and seed.

    Args:
        method: a name (`mooring methods` lists them), `my_file:MY_METHOD`, or a `mooring.Method`.
        seed: of the training, and of the partition unless `partition` has a seed.
        out: the run folder; by default one below `runs/` that is named after the experiment.
        callbacks: watch the run, for example `mooring.track.Live(TensorBoard(Path("tensorboard")))`.
        again: run it even if it has finished.
        verbose: show progress on a terminal or in a notebook if the run takes more than two seconds.
        data: the name of a source, `(images, labels)`, a torch `Dataset`, a Hugging Face data set, or a `Source`.
        test: test images, in one of these forms. Without them, a fifth of data in memory is held out.
        root: where the files of a named source lie.
        limit: use so many training images.
        clients: how many; or who holds each image: an array, the name of a column, or a function of an item.
        groups: images that stay together, in one of these forms.
        alpha: label skew of the Dirichlet partition.
        partition: the name of a partitioner, or a mapping with its settings.
        model: the name of a model, `timm:NAME`, a class derived from `torch.nn.Module`, or a function that makes one.
        rounds, local_epochs, batch_size, lr: of the training at a client.
        workers, device: processes on this machine, and where they compute. `workers` never changes the result.
        overrides: any other setting by its key, such as `{"weight.sigma.lr": 0.01}`.
        **settings: any other section or top-level key, such as `fusion="class-expert"` or `training={"momentum": 0}`.

    >>> import mooring
    >>> result = mooring.run("v7", clients=3, alpha=0.5, rounds=2, local_epochs=1, limit=200, out="runs/short")
    >>> result.method, result.rounds, result.lambdas.shape, 0 < result.accuracy < 1
    ('v7', 2, (2, 3), True)
    """
    tree, held = experiment_tree(method, {"seed": seed, **settings})
    experiments = parse(tree if out is None else tree | {"out": fspath(out)})
    if len(experiments) > 1:
        raise ConfigError([f"method={method}: names {len(experiments)} methods; use mooring.sweep for several"])
    experiment = experiments[0]
    folder = run_folder_of(experiment)
    watching = (*callbacks, ProgressLine()) if verbose else tuple(callbacks)
    for callback in watching:
        callback.on_start(experiment, folder)
    run_experiment(experiment, listener(watching), again=again)
    made = Run(RunFolder(folder), held)
    for callback in watching:
        callback.on_end(made.record)
    return made


def load_run(folder: str | PathLike[str]) -> Run:
    """The finished run in this folder.

    >>> import mooring
    >>> mooring.load_run("runs/v12").method
    'v12'
    """
    made = Run(RunFolder(Path(folder)))
    _ = made.result  # an error now, and not when somebody asks for a number
    return made
