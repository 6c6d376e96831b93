"""FedAvg as its users write it for Flower; a module and no script, because workers of Ray look things up by name.

One round on Flower's simulation, one core for each client, torch tensors that are ready in memory and no augmentation;
then the average is evaluated on the test images. Nothing of mooring's training, uploads or fusion is in it: only the
layers are the same, and the step (SGD with momentum and decay, the gradient clipped). The network lies in memory as
torch lays it, or, for those who know that it is faster, with the channels last as mooring's does.
"""

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.images import CLASSES
from benchmarks.plain import PlainNetwork
from mooring.client import Training
from mooring.engines.flower._engine import ready
from mooring.models import Blueprint, Linear, Network, ResNet8

BLUEPRINT = Blueprint(ResNet8(), Linear(), (3, 32, 32), tuple(map(str, range(CLASSES))), (0.0,), (1.0,))
LAYOUTS: dict[str, Callable[[], PlainNetwork | Network]] = {
    "plain": lambda: PlainNetwork(BLUEPRINT, torch.Generator().manual_seed(1)),
    "channels-last": lambda: BLUEPRINT.build(torch.Generator().manual_seed(1)),
}
TRAINING = Training()  # the rates and the batch size that a run of mooring has by itself


@cache
def images(path: Path, part: str) -> tuple[Tensor, Tensor]:
    arrays = np.load(path)
    pixels = torch.from_numpy(arrays[f"{part}_images"]).permute(0, 3, 1, 2).float() / 255
    return (pixels - 0.5) / 0.5, torch.from_numpy(arrays[f"{part}_labels"])


def trained(model: nn.Module, own: TensorDataset, epochs: int) -> None:
    optimizer = torch.optim.SGD(model.parameters(), TRAINING.lr, TRAINING.momentum, weight_decay=TRAINING.weight_decay)
    model.train()
    for _ in range(epochs):
        for batch, labels in DataLoader(own, TRAINING.batch_size, shuffle=True):
            loss = F.cross_entropy(model(batch).logits, labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


def accuracy(model: nn.Module, path: Path) -> float:
    model.eval()
    pixels, labels = images(path, "test")
    with torch.no_grad():
        right = sum(
            int((model(batch).logits.argmax(1) == truth).sum())
            for batch, truth in zip(pixels.split(256), labels.split(256), strict=True)
        )
    return right / len(labels)


def simulate(path: Path, clients: int, epochs: int, layout: str) -> None:
    ready()
    from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
    from flwr.serverapp.strategy import FedAvg
    from flwr.simulation import run_simulation

    client_app, server_app = ClientApp(), ServerApp()
    network = LAYOUTS[layout]

    def train(message: Message, context: Context) -> Message:
        model, sent = network(), message.content["arrays"]
        assert isinstance(sent, ArrayRecord)
        model.load_state_dict(sent.to_torch_state_dict())
        own = np.array_split(np.arange(len(images(path, "train")[1])), clients)[
            int(context.node_config["partition-id"])
        ]
        trained(model, TensorDataset(*(tensor[own] for tensor in images(path, "train"))), epochs)
        metrics = MetricRecord({"num-examples": len(own)})
        return Message(RecordDict({"arrays": ArrayRecord(model.state_dict()), "metrics": metrics}), reply_to=message)

    def evaluated(round_: int, arrays: ArrayRecord) -> MetricRecord | None:
        if round_ == 0:
            return None
        model = network()
        model.load_state_dict(arrays.to_torch_state_dict())
        return MetricRecord({"accuracy": accuracy(model, path)})

    class Everybody(FedAvg):
        """Averages if all clients have answered: the strategy by itself goes on with whoever has, or with nobody."""

        def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> Any:
            answers = list(replies)
            failed = [reply.error for reply in answers if reply.has_error()]
            if failed or len(answers) < clients:
                raise RuntimeError(
                    f"{len(answers)} of {clients} clients answered, {len(failed)} with an error: {failed[:1]}"
                )
            return super().aggregate_train(server_round, answers)

    def main(grid: Grid, context: Context) -> None:
        start = ArrayRecord(network().state_dict())
        found = Everybody(fraction_evaluate=0.0, min_available_nodes=clients).start(
            grid, start, num_rounds=1, evaluate_fn=evaluated
        )
        print(f"accuracy {found.evaluate_metrics_serverapp[1]['accuracy']:.3f}")

    client_app.train()(train)
    server_app.main()(main)
    run_simulation(
        server_app,
        client_app,
        clients,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}, "init_args": {"log_to_driver": False}},
    )


def main(arguments: list[str]) -> None:
    path, clients, epochs, layout = arguments
    simulate(Path(path), int(clients), int(epochs), layout)
