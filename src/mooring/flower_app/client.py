"""The ClientApp: one question, one answer."""

import logging

from flwr.app import ConfigRecord, Context, Message
from flwr.clientapp import ClientApp

from mooring.engines.flower.messages import Answer, bytes_field, reply, request_content
from mooring.errors import MooringError
from mooring.events import ClientRecord, ClientResumed, Event
from mooring.flower_app._node import job_for, node_of, upload_for
from mooring.processes import keep_freed_memory

LOG = logging.getLogger("flwr")
app = ClientApp()


def train(message: Message, context: Context) -> Message:
    """The upload of this site, or in one line why there is none: a node that says nothing would be waited for."""
    keep_freed_memory()
    site = str(context.node_config.get("name", ""))
    try:
        return reply(answer_to(request_content(message), context), message)
    except MooringError as error:
        rejection = str(error)
        LOG.error("mooring: %s", rejection)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        rejection = f"{where}{error.strerror or error}; free some space there, or correct --node-config home and data"
        LOG.error("mooring: %s", rejection)
    except Exception as error:
        rejection = (
            f"a bug in mooring ({type(error).__name__}); the log of the node has its traceback, please report it"
        )
        LOG.exception("mooring: %s", rejection)
    return reply(Answer(words={"site": site, "refused": rejection}), message)


def answer_to(question: ConfigRecord, context: Context) -> Answer:
    """The upload; nothing but its name from a site whose upload the server has."""
    node = node_of(context.node_config)
    if node.name in str(question["have"]).split():
        return Answer(words={"site": node.name, "have": "yes"})
    job = job_for(node, bytes_field(question, "job"))
    data = upload_for(node, job, tell)
    LOG.info("mooring: %s sends %d bytes for job %s", node.name, len(data), job.sha256[:8])
    return Answer({"upload": data}, {"site": node.name})


app.train()(train)


def tell(event: Event) -> None:
    match event:
        case ClientResumed(round=round_, step=step):
            LOG.info("mooring: goes on at round %d, step %d", round_, step)
        case ClientRecord(round=round_, base_loss=loss) if loss is not None:
            LOG.info("mooring: round %d has ended, loss %s", round_, loss)
