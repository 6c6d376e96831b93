"""The keys of `flwr run --run-config`, checked once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mooring.errors import FederationError
from mooring.schema import Builder, NonNegativeInt, Positive
from mooring.uploads import ascii_repr

EXAMPLE = """write flwr run --run-config 'job="/path/job.mooring" need=2 deadline=600'"""
Config = Mapping[str, bool | float | int | str]


@dataclass(frozen=True)
class RunSettings:
    """Paths are those of the machine of the SuperLink."""

    job: str
    out: str
    need: NonNegativeInt  # uploads; 0 is one from every site that the job names
    deadline: Positive  # seconds until what is there is fused
    again: Positive  # seconds until a silent node is asked again
    encoder: str
    keep: str = ""  # sites that were reviewed and are used, with commas
    drop: str = ""  # sites that were reviewed and are left out, with commas

    @property
    def received(self) -> Path:
        """Uploads as they came; a second run asks only for those that are missing."""
        return Path(f"{self.out.removesuffix('.mooring')}.received")

    @property
    def kept(self) -> tuple[str, ...]:
        return tuple(filter(None, (site.strip() for site in self.keep.split(","))))

    @property
    def dropped(self) -> tuple[str, ...]:
        return tuple(filter(None, (site.strip() for site in self.drop.split(","))))

    def need_of(self, sites: int) -> int:
        """How many uploads must have come, of a job with so many sites."""
        if self.need > sites:
            raise FederationError(
                f"--run-config need={self.need}: the job names {sites} sites", f"write at most need={sites}"
            )
        return self.need or sites


def settings_of(config: Config) -> RunSettings:
    """The settings of this run, or one line with everything that is wrong with them."""
    builder = Builder(ignores_unknown_keys=True)  # Flower may add keys of its own
    settings: RunSettings = builder.build(RunSettings, dict(config))
    problems = [problem.message for problem in builder.problems]
    if config["job"] == "":
        problems.append('has no job; write job="/path/job.mooring"')
    if isinstance(config["out"], str) and (not config["out"] or Path(config["out"]).is_dir()):
        problems.append(f'out={ascii_repr(config["out"])}: is not a file; write out="/path/model.mooring"')
    if problems:
        raise FederationError("; ".join(f"--run-config {problem}" for problem in problems), EXAMPLE)
    return settings
