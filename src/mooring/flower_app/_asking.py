"""Ask every node once, and again those whose answer was lost, until all sites are here or time is up."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic, sleep

from flwr.app import Message
from flwr.serverapp import Grid

from mooring.engines.flower.messages import train_request

PAUSE_SECONDS = 1.0  # between two looks
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 300.0  # before a node is asked again whose answer was lost


@dataclass(frozen=True)
class Reply:
    """What came for a question, and whom it was put to: where a node has gone, the SuperLink answers in its place."""

    node: int
    name: str  # under which it was registered, if it was given one
    message: Message


@dataclass
class Asking:
    """A question is idempotent: a node that has its upload on disk sends it again, one that trains goes on training."""

    grid: Grid
    content: Callable[[], Mapping[str, str | bytes]]  # of a question, as things stand
    seconds: float  # in all
    patience: float  # until a silent node is asked again
    names: dict[int, str] = field(default_factory=dict)  # node -> as it was registered
    waiting: dict[str, int] = field(default_factory=dict)  # message -> node
    due: dict[int, float] = field(default_factory=dict)  # node -> when it is asked (again)
    lost: dict[int, int] = field(default_factory=dict)  # node -> answers that were lost
    settled: set[int] = field(default_factory=set)

    @property
    def at_work(self) -> set[int]:
        """Nodes that were asked and have not said anything yet."""
        return set(self.waiting.values()) - self.settled

    def replies(self, complete: Callable[[], bool]) -> Iterator[Reply]:
        """Whatever nodes say, as it arrives; a node that has said something is asked no more until it is restarted."""
        end = monotonic() + self.seconds
        while not complete() and monotonic() < end:
            self._ask(end)
            for message in list(self.waiting):
                yield from self._pull(message)
                if complete():
                    return
            sleep(PAUSE_SECONDS)

    def _ask(self, end: float) -> None:
        """All nodes that are there and whose turn it is."""
        now = monotonic()
        nodes = {node.node_id: node.name for node in self.grid.get_nodes()}
        self.names |= nodes
        for node in self.settled.difference(nodes):  # it went away: who comes back may have been corrected
            self.settled.remove(node)
            self.due.pop(node, None)
        for node in sorted(nodes):
            if node not in self.settled and self.due.get(node, now) <= now:
                for message in self.grid.push_messages([train_request(node, self.content(), max(1.0, end - now))]):
                    if message:  # else it went away in this moment
                        self.waiting[message] = node
                        self.due[node] = now + self.patience

    def _pull(self, message: str) -> Iterator[Reply]:
        for found in self.grid.pull_messages([message]):
            node = self.waiting.pop(message)
            if found.has_error():
                self.lost[node] = self.lost.get(node, 0) + 1
                pause = min(FIRST_PAUSE * 2 ** (self.lost[node] - 1), LONGEST_PAUSE)
                self.due[node] = min(self.due[node], monotonic() + pause)
            elif node in self.settled:
                continue
            else:
                self.settled.add(node)
            yield Reply(node, self.names[node], found)
