"""The ClientApp: one question, one answer."""

import logging

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from mooring.engines.flower.messages import Answer, asked, held, reply
from mooring.errors import MooringError
from mooring.events import ClientRecord, ClientResumed, Event
from mooring.flower_app.node import job_for, node_of, upload_for
from mooring.processes import keep_freed_memory

LOG = logging.getLogger("flwr")
app = ClientApp()


def train(message: Message, context: Context) -> Message:
    """The upload of this site, or in one line why there is none."""
    keep_freed_memory()
    question = asked(message)
    site = str(context.node_config.get("name", ""))
    try:
        node = node_of(context.node_config)
        if node.name in str(question["have"]).split():
            return reply(Answer(words={"site": site, "have": "yes"}), message)
        job = job_for(node, held(question, "job"))
        data = upload_for(node, job, tell)
        LOG.info("mooring: %s sends %d bytes for job %s", site, len(data), job.sha256[:8])
        return reply(Answer({"upload": data}, {"site": site}), message)
    except MooringError as error:
        LOG.error("mooring: %s", error)
        return reply(Answer(words={"site": site, "refused": str(error)}), message)


app.train()(train)


def tell(event: Event) -> None:
    match event:
        case ClientResumed(round=round_, step=step):
            LOG.info("mooring: goes on at round %d, step %d", round_, step)
        case ClientRecord(round=round_, base_loss=loss) if loss is not None:
            LOG.info("mooring: round %d has ended, loss %s", round_, loss)
