"""The shape of an engine: who runs clients, and where."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol

from mooring.client._checkpoint import NO_STATES, States
from mooring.client._job import ClientJob
from mooring.data import Site
from mooring.events import Emit
from mooring.types import Upload


class Engine(Protocol):
    """Runs the clients of all sites, each from start to end, and hands over their uploads as they arrive, in any order.

    An engine never opens a site's data where it does not belong: it calls `run_client(job, site, ...)` at the site.
    """

    kind: ClassVar[str]

    def collect(
        self, job: ClientJob, sites: Sequence[Site], emit: Emit, states: States = NO_STATES
    ) -> Iterator[Upload]:
        """Called once per run, because one-shot is a type; clients go on from their states.

        A client that fails alone is the event `ClientFailed`; the others go on.
        """
        ...
