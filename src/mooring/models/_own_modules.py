"""Encoders that are not of this package: a user's own `nn.Module`, and architectures of timm and torchvision.

The module maps images (B, C, H, W) to features (B, d) or feature maps (B, d, h, w), which are averaged. Its own
initialisation is kept and drawn from a seed, so that every client begins with the same weights. d is measured with
one image of zeros.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

import torch
from torch import Generator, Tensor, nn

from mooring.errors import ConfigError, ModelError, nearest, needed
from mooring.models._backbones import BACKBONES, Backbone, ImageShape
from mooring.schema import Checked, Doc
from mooring.user_code import explaining, place_of

Factory = Callable[..., nn.Module]
CHANNELS = "channels"  # a parameter of this name receives the channels of the images
PLAIN = (bool, int, float, str)
CLASSIFIERS = ("fc", "classifier", "heads", "head")  # of torchvision's models
FIVE_LINES = """write a class or a function without arguments in a file, and name it:
    # my_model.py
    class MyNet(torch.nn.Module):
        def __init__(self):
            super().__init__(); self.layers = ...
        def forward(self, images):  # (B, C, H, W)
            return self.layers(images)  # (B, d)
    mooring.run(model=MyNet), or on the command line model=my_model:MyNet"""


class PooledFeatures(nn.Module):
    """The module, with feature maps averaged over their area; grey images as three equal channels, if asked for."""

    def __init__(self, module: nn.Module, three_channels: bool = False) -> None:
        super().__init__()
        self.module = module
        self.three_channels = three_channels

    def forward(self, images: Tensor) -> Any:
        if self.three_channels:
            images = images.expand(-1, 3, -1, -1)
        features: Any = self.module(images)
        return features.mean((2, 3)) if isinstance(features, Tensor) and features.ndim == 4 else features


def seeded(make: Callable[[], nn.Module], rng: Generator) -> nn.Module:
    """What `make` returns; the weights that it draws from torch's global stream are decided by `rng`."""
    seed = int(torch.randint(2**62, (), generator=rng, device="cpu"))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return make()


def measured(encoder: nn.Module, shape: ImageShape, what: str) -> tuple[nn.Module, int]:
    """The encoder and the size of its features for an image of this shape."""
    training = encoder.training
    with torch.no_grad(), explaining(f"{what}, an image of {' x '.join(map(str, shape))}"):
        features = encoder.eval()(torch.zeros(1, *shape))
    encoder.train(training)
    if not isinstance(features, Tensor) or features.ndim != 2 or len(features) != 1:
        seen = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise ModelError(f"{what}: maps one image to {seen}", "return features (B, d) or feature maps (B, d, h, w)")
    return encoder, features.shape[1]


class OwnModule(Checked):
    """A backbone around a class or function of a user. `backbone_of` makes one class for each of them."""

    kind: ClassVar[str]
    factory: ClassVar[Factory]

    def build(self, shape: ImageShape, rng: Generator) -> tuple[nn.Module, int]:
        factory, arguments = type(self).factory, {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if CHANNELS in inspect.signature(factory).parameters:
            arguments[CHANNELS] = shape[0]
        with explaining(f"model {self.kind}"):
            module = seeded(lambda: factory(**arguments), rng)
        if not isinstance(module, nn.Module):
            raise ModelError(f"{place_of(factory)}: returned {type(module).__name__}", "return a torch.nn.Module")
        return measured(PooledFeatures(module), shape, f"model {self.kind}")

    def __reduce__(self) -> Any:
        return rebuilt, (type(self).factory, {f.name: getattr(self, f.name) for f in fields(self)})  # type: ignore[arg-type]


def rebuilt(factory: Factory, arguments: dict[str, Any]) -> Backbone:
    made: Backbone = backbone_of(factory)(**arguments)
    return made


def is_factory(thing: object) -> bool:
    """Is it a function, or a plain module class? A part of ours has a `kind`."""
    return inspect.isfunction(thing) or (
        inspect.isclass(thing) and issubclass(thing, nn.Module) and not isinstance(getattr(thing, "kind", None), str)
    )


@cache
def backbone_of(factory: Factory) -> type[Backbone]:
    """The kind of backbone that this class or function stands for. Its plain arguments are configuration keys.

    A tree names it as `package.module:Name`, like any other part of a user's own.
    """
    name = factory.__qualname__
    if not all(part.isidentifier() for part in name.split(".")):
        raise ConfigError([f"{place_of(factory)}: {name} cannot be imported by name; write it at the top of a file"])
    namespace = {"kind": factory.__name__, "factory": staticmethod(factory), "__doc__": factory.__doc__}
    made = make_dataclass(factory.__name__, own_fields(factory), bases=(OwnModule,), namespace=namespace, frozen=True)
    made.__module__, made.__qualname__ = factory.__module__, name
    return made


def own_fields(factory: Factory) -> list[Any]:
    """(name, type, default) of every argument that a configuration can say."""
    function = factory.__init__ if inspect.isclass(factory) else factory
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        hints = {}
    found: list[Any] = []
    for parameter in inspect.signature(factory).parameters.values():
        if parameter.name == CHANNELS or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default, hint = parameter.default, hints.get(parameter.name)
        required = default is parameter.empty
        annotation = hint if is_plain(hint) else None if required else type(default)
        if required and annotation is None:
            raise ConfigError(
                [f"{place_of(factory)}: argument {parameter.name} has no default; give it one, or a type such as int"]
            )
        if is_plain(annotation):
            entry = (parameter.name, annotation)
            found.append(entry if required else (*entry, field(default=default)))
    return sorted(found, key=len)  # required ones first


def is_plain(annotation: Any) -> bool:
    members = get_args(annotation)
    return annotation in PLAIN or (bool(members) and all(is_plain(one) for one in members if one is not type(None)))


@dataclass(frozen=True)
class Timm(Checked):
    """An architecture of the library timm, with random weights; features before the classifier."""

    kind: ClassVar[str] = "timm"
    architecture: Annotated[str, Doc("name in timm; short: `model=timm:resnet18`")]

    def build(self, shape: ImageShape, rng: Generator) -> tuple[nn.Module, int]:
        timm = needed("timm")
        if not timm.is_model(self.architecture):
            known = nearest(self.architecture, timm.list_models())
            raise ModelError(f"model.architecture={self.architecture}: timm has no such model", known)
        options = {"pretrained": False, "num_classes": 0, "in_chans": shape[0]}
        module = seeded(lambda: timm.create_model(self.architecture, **options), rng)
        return measured(PooledFeatures(module), shape, f"model timm:{self.architecture}")


@dataclass(frozen=True)
class Torchvision(Checked):
    """An architecture of the library torchvision, with random weights; features before the classifier."""

    kind: ClassVar[str] = "torchvision"
    architecture: Annotated[str, Doc("name in torchvision; short: `model=torchvision:resnet18`")]

    def build(self, shape: ImageShape, rng: Generator) -> tuple[nn.Module, int]:
        models = needed("torchvision.models")
        if self.architecture not in models.list_models():
            known = nearest(self.architecture, models.list_models())
            raise ModelError(f"model.architecture={self.architecture}: torchvision has no such model", known)
        module = seeded(lambda: models.get_model(self.architecture, weights=None), rng)
        classifier = next((name for name, _ in module.named_children() if name in CLASSIFIERS), None)
        if classifier is None:
            raise ModelError(f"model torchvision:{self.architecture}: has no classifier", "choose a classifier")
        setattr(module, classifier, nn.Identity())
        return measured(PooledFeatures(module, shape[0] == 1), shape, f"model torchvision:{self.architecture}")


MODELS: dict[str, type[Backbone]] = {**BACKBONES, Timm.kind: Timm, Torchvision.kind: Torchvision}


def library_tree(model: Any) -> Any:
    """`timm:resnet18` in the words of a configuration; anything else is returned as it is."""
    name = model.get("kind", model.get("name")) if isinstance(model, dict) else model
    library, colon, architecture = name.partition(":") if isinstance(name, str) else ("", "", "")
    if not colon or library not in (Timm.kind, Torchvision.kind):
        return model
    rest = model.items() if isinstance(model, dict) else ()
    return {"kind": library, "architecture": architecture} | {k: v for k, v in rest if k not in ("kind", "name")}
