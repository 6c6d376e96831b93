"""How training images are divided among clients, and statistics of the result."""

from mooring.data._partition.base import Partition, Partitioner, PartitionWarning, Population
from mooring.data._partition.basic import Iid, Pathological, Sites
from mooring.data._partition.dirichlet import Dirichlet, DirichletEqual, DirichletSizes, FafiOverlap
from mooring.data._partition.file import FromFile, export_partition
from mooring.seeds import numpy_generator

PARTITIONERS: dict[str, type[Partitioner]] = {
    "dirichlet": Dirichlet,
    "dirichlet_equal": DirichletEqual,
    "dirichlet_sizes": DirichletSizes,
    "fafi_overlap": FafiOverlap,
    "file": FromFile,
    "iid": Iid,
    "pathological": Pathological,
    "sites": Sites,
}


def divide(partitioner: Partitioner, population: Population, seed: int) -> Partition:
    """The partition of this population under this seed; it does not depend on other random draws."""
    return Partition.of(partitioner.split(population, numpy_generator(seed, "partition")), population)


__all__ = [
    "PARTITIONERS",
    "Dirichlet",
    "DirichletEqual",
    "DirichletSizes",
    "FafiOverlap",
    "FromFile",
    "Iid",
    "Partition",
    "PartitionWarning",
    "Partitioner",
    "Pathological",
    "Population",
    "Sites",
    "divide",
    "export_partition",
]
