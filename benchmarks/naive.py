"""The same run written the way research code often is: images transformed one by one in a DataLoader, every client
deep-copied and evaluated on train and test after every epoch, one client after the other."""

from copy import deepcopy
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageEnhance, ImageOps
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from benchmarks.images import CLASSES, write_images
from benchmarks.plain import PlainNetwork
from benchmarks.process import apart
from benchmarks.roofline import SETTINGS, TURNS, per_step, seconds
from benchmarks.table import Goal, Say, Table
from mooring import load, run_experiment
from mooring.evaluate import BATCH as EVALUATED
from mooring.events import ClientStarted, Event
from mooring.losses import FAFI
from mooring.models import Blueprint, RawPrototypes, ResNet8, simplex_etf
from mooring.processes import keep_freed_memory
from mooring.types import Progress, Step, View

CLIENTS, EACH, TEST = 5, 240, 240  # a client of CIFAR-10 has as many images as the test set
ROUNDS, BATCH = 8, 48


class OneByOne(Dataset[tuple[Tensor, Tensor, int]]):
    """Two augmented views, or the image itself twice; PIL and one image at a time."""

    def __init__(self, images: np.ndarray, labels: np.ndarray, augment: bool) -> None:
        self.images, self.labels, self.augment = images, labels, augment
        self.rng = np.random.default_rng(0)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, int]:
        image = Image.fromarray(self.images[index])
        return self.view(image), self.view(image), int(self.labels[index])

    def view(self, image: Image.Image) -> Tensor:
        if self.augment:
            image = self.jittered(self.cropped(image))
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255

    def cropped(self, image: Image.Image) -> Image.Image:
        side = 32 * self.rng.uniform(0.2, 1) ** 0.5
        left, top = self.rng.uniform(0, 32 - side, 2)
        image = image.resize((32, 32), Image.Resampling.BILINEAR, (left, top, left + side, top + side))
        return ImageOps.mirror(image) if self.rng.random() < 0.5 else image

    def jittered(self, image: Image.Image) -> Image.Image:
        if self.rng.random() < 0.8:
            for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
                image = enhance(image).enhance(self.rng.uniform(0.6, 1.4))
            hue, saturation, value = image.convert("HSV").split()
            turned = np.array(hue) + np.uint8(self.rng.integers(0, 51))
            image = Image.merge("HSV", (Image.fromarray(turned), saturation, value)).convert("RGB")
        return ImageOps.grayscale(image).convert("RGB") if self.rng.random() < 0.2 else image


def measure(say: Say) -> Table:
    with TemporaryDirectory() as folder:
        data = Path(folder) / "images.npz"
        write_images(data, (EACH,) * CLIENTS, TEST)
        plain = apart(naive, data).value
        say(f"naive: {plain:.1f} s")
        ours = apart(mooring, data, f"{folder}/run").value
        say(f"mooring: {ours:.1f} s")
        bare, looking = apart(bare_model).value
        say(f"bare model: {bare:.1f} s to train, {looking:.1f} s to look at images")
    about = (
        f"{CLIENTS} clients of {EACH} colour images (32 x 32), ResNet-8, `v12`, {ROUNDS} rounds of one epoch, fused "
        "after every round, without start-up. Naive: PIL transforms per image, evaluation on all images after every "
        "epoch, `loss.item()` in every step."
    )
    rows: list[tuple[object, ...]] = [
        ("naive", plain, 1.0),
        ("mooring", ours, plain / ours),
        ("the bare model, two cores", bare, plain / bare),
        ("and its evaluation", bare + looking, plain / (bare + looking)),
    ]
    reached = f"a loop that costs nothing would reach {plain / (bare + looking):.2f}, the last line"

    goals = [Goal("naive / ours on ResNet-8", 3.0, plain / ours, because=reached)]
    return Table("The naive way", about, ("way", "seconds", "times as fast"), rows, goals)


def mooring(data: Path, out: str) -> float:
    began: list[float] = []

    def watch(event: Event) -> None:
        if isinstance(event, ClientStarted):
            began.append(monotonic())

    settings = ["data.source=arrays", f"data.root={data}", "partition.kind=sites", "model.kind=resnet8", "method=v12"]
    training = [f"training.rounds={ROUNDS}", "training.local_epochs=1", f"training.batch_size={BATCH}"]
    (experiment,) = load(overrides=[*settings, *training, "engine.workers=2", f"out={out}"])
    run_experiment(experiment, watch)
    return monotonic() - began[0]


def bare_model() -> tuple[float, float]:
    """What a loop that costs nothing would take on two cores: to train on the same samples, by the roofline's bare
    step; and to look at every client's images and at the test images with every client, after every round."""
    torch.set_num_threads(1)
    keep_freed_memory()
    step, _ = per_step("resnet8", SETTINGS["resnet8"]._replace(batch=BATCH))
    look = per_image(ResNet8(), TEST)
    return CLIENTS * EACH * ROUNDS / BATCH * step / 2, CLIENTS * (EACH + TEST) * ROUNDS * look / 2


def per_image(backbone: ResNet8, images: int) -> float:
    """Processor seconds of one core for one image forward, as networks are evaluated."""
    blueprint = Blueprint(backbone, RawPrototypes(), (3, 32, 32), tuple(map(str, range(CLASSES))), (0.5,), (0.5,))
    network, pixels = blueprint.build(torch.Generator().manual_seed(1)).eval(), torch.rand(images, 3, 32, 32)

    def look() -> None:
        with torch.inference_mode():
            for batch in pixels.split(EVALUATED):
                network(batch)

    look()
    return median(seconds(look, 1) for _ in range(TURNS)) / images


def naive(data: Path) -> float:
    """Seconds of all rounds of all clients, and their fusions."""
    arrays = np.load(data)
    shards = np.split(np.arange(CLIENTS * EACH), CLIENTS)
    test = OneByOne(arrays["test_images"], arrays["test_labels"], augment=False)
    blueprint = Blueprint(ResNet8(), RawPrototypes(), (3, 32, 32), tuple(map(str, range(CLASSES))), (0.5,), (0.5,))
    torch.set_num_threads(better_threads(PlainNetwork(blueprint, torch.Generator()), test))
    models = [PlainNetwork(blueprint, torch.Generator().manual_seed(1))] * CLIENTS
    sigmas = [nn.Parameter(torch.zeros(2)) for _ in range(CLIENTS)]
    began = perf_counter()
    for round_ in range(ROUNDS):
        for client, shard in enumerate(shards):
            models[client] = deepcopy(models[client])
            images, labels = arrays["train_images"][shard], arrays["train_labels"][shard]
            epoch(models[client], sigmas[client], OneByOne(images, labels, augment=True), 1 - round_ / ROUNDS)
            accuracy(models[client], OneByOne(images, labels, augment=False))
            accuracy(models[client], test)
        ensemble = deepcopy(models)
        for one, _, _ in DataLoader(test, BATCH):
            with torch.no_grad():
                sum(model(one).features for model in ensemble)
    return perf_counter() - began


def better_threads(model: PlainNetwork, images: OneByOne) -> int:
    """Torch's own number of threads, or one where other work makes them wait for each other."""

    def taken(threads: int) -> float:
        torch.set_num_threads(threads)
        began = perf_counter()
        accuracy(model, images)
        return perf_counter() - began

    accuracy(model, images)
    return min((torch.get_num_threads(), 1), key=taken)


def epoch(model: PlainNetwork, sigma: nn.Parameter, images: OneByOne, s: float) -> None:
    optimizer = torch.optim.SGD([*model.parameters(), sigma], 0.05, 0.9)
    anchors = simplex_etf(CLASSES, model.prototypes.shape[1], torch.Generator().manual_seed(1))
    total = 0.0
    model.train()
    for one, other, labels in DataLoader(images, BATCH, shuffle=True):
        views: tuple[View, ...] = (model(one), model(other))
        step = Step(labels, views, model.prototypes, anchors, Progress())
        base = torch.stack([term(step) for term in FAFI]).sum()
        align = F.mse_loss(model.prototypes, anchors)
        u, v = sigma
        own = 0.5 * ((-u).exp() * base.detach() + s * (-v).exp() * align.detach() + u + v)
        loss = base + s * (u - v).exp().detach() * align + own
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*model.parameters(), sigma], 1.0)
        optimizer.step()
        total += loss.item()


def accuracy(model: PlainNetwork, images: OneByOne) -> float:
    model.eval()
    right = 0
    for one, _, labels in DataLoader(images, BATCH):
        with torch.no_grad():
            right += int((model(one).logits.argmax(1) == labels).sum().item())
    return right / len(images)
