"""What travels through Flower: one question to a node, one answer back; uploads as the one codec wrote them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from time import sleep

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, RecordDict
from flwr.serverapp import Grid

from mooring.errors import UploadError

SECONDS = 12 * 3600.0  # that Flower keeps a message by itself
PAUSE_SECONDS = 0.2  # between two looks at what has come
UPLOADS, WORDS = "uploads", "told"
CODEC = "mooring"  # how the bytes of an array are to be read; Flower itself never reads them


@dataclass(frozen=True)
class Answer:
    """What a node has to say: its uploads, which Flower sends in pieces, or why there are none."""

    uploads: Mapping[str, bytes] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    state: bytes = b""


def train_request(node: int, content: Mapping[str, str | int | bytes], seconds: float = SECONDS) -> Message:
    """Train, once."""
    record = RecordDict({WORDS: ConfigRecord(dict(content))})
    return Message(record, dst_node_id=node, message_type=MessageType.TRAIN, ttl=seconds, group_id="")


def request_content(message: Message) -> ConfigRecord:
    """What a question says."""
    return message.content.config_records[WORDS]


def bytes_field(config: ConfigRecord, name: str) -> bytes:
    """Bytes that a record holds under this name."""
    value = config[name]
    if not isinstance(value, bytes):
        raise TypeError(f"{name} holds no bytes")
    return value


def reply(answer: Answer, message: Message) -> Message:
    arrays = {name: Array("uint8", (len(data),), CODEC, data) for name, data in answer.uploads.items()}
    config = ConfigRecord({"state": answer.state, **{f"word.{name}": text for name, text in answer.words.items()}})
    return Message(RecordDict({UPLOADS: ArrayRecord(arrays), WORDS: config}), reply_to=message)


def parse_answer(message: Message) -> Answer:
    """What a node said, if it speaks our language."""
    try:
        uploads = {str(name): array.data for name, array in message.content.array_records[UPLOADS].items()}
        config = message.content.config_records[WORDS]
        words = {name.removeprefix("word."): str(text) for name, text in config.items() if name.startswith("word.")}
        return Answer(uploads, words, bytes_field(config, "state"))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UploadError(f"node {message.metadata.src_node_id}: its reply cannot be read ({error!r})") from None


def exchange(grid: Grid, questions: Iterable[Message], ended: Callable[[], bool]) -> Iterator[Message]:
    """Send every question once and hand over the replies as they arrive, until all are here or nobody waits any more.

    This is `Grid.send_and_receive`, but for one thing: no more than one reply has to be in memory at a time.
    """
    waiting = set(grid.push_messages(list(questions)))
    while waiting and not ended():
        for message in sorted(waiting):
            for found in grid.pull_messages([message]):
                waiting.discard(found.metadata.reply_to_message_id)
                yield found
        sleep(PAUSE_SECONDS)
