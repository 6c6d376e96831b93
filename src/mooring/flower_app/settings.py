"""The keys of `flwr run --run-config`, checked once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

from mooring.errors import FederationError
from mooring.uploads.codec import ascii_repr

Config = Mapping[str, bool | float | int | str]


@dataclass(frozen=True)
class RunSettings:
    """Paths are those of the machine of the SuperLink."""

    job: str
    out: str
    need: int  # uploads; 0 is one from every site that the job names
    deadline: float  # seconds until what is there is fused
    again: float  # seconds until a silent node is asked again
    encoder: str

    @property
    def received(self) -> Path:
        """Uploads as they came; a second run asks only for those that are missing."""
        return Path(f"{self.out.removesuffix('.mooring')}.received")

    def need_of(self, sites: int) -> int:
        """How many uploads must have come, of a job with so many sites."""
        if self.need > sites:
            raise FederationError(
                f"--run-config need={self.need}: the job names {sites} sites", f"write at most need={sites}"
            )
        return self.need or sites


def settings_of(config: Config) -> RunSettings:
    """The settings of this run, or one line with everything that is wrong with them."""
    problems = list(problems_of(config))
    if problems:
        raise FederationError("; ".join(problems))
    return RunSettings(
        job=str(config["job"]),
        out=str(config["out"]),
        need=int(config["need"]),
        deadline=float(config["deadline"]),
        again=float(config["again"]),
        encoder=str(config["encoder"]),
    )


def problems_of(config: Config) -> Iterator[str]:
    """Each with its key, its value and what to write instead."""
    for key in ("job", "out", "encoder"):
        if not isinstance(config[key], str):
            yield f'--run-config {key}={ascii_repr(config[key])}: is no path; write {key}="/path", with the quotes'
    if config["job"] == "":
        yield '--run-config has no job; write job="/path/job.mooring"'
    if isinstance(config["out"], str) and (not config["out"] or Path(config["out"]).is_dir()):
        yield f'--run-config out={ascii_repr(config["out"])}: is no file; write out="/path/model.mooring"'
    need = config["need"]
    if isinstance(need, bool) or not isinstance(need, int) or need < 0:
        yield f"--run-config need={ascii_repr(need)}: is no number of uploads; write need=2, or 0 for all sites"
    for key in ("deadline", "again"):
        seconds = config[key]
        if isinstance(seconds, bool | str) or not 0 < seconds < inf:
            yield f"--run-config {key}={ascii_repr(seconds)}: is no number of seconds above 0; write {key}=600"
