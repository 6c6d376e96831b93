"""Models as a user writes them, and stand-ins with the interface of timm and torchvision."""

from types import ModuleType

import torch
from torch import nn


class Plain(nn.Module):
    """A plain module: feature maps, no word of mooring."""

    def __init__(self, channels=1, width: int = 8, activation=nn.ReLU):
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, 2, 1)
        self.activation = activation()

    def forward(self, images):
        return self.activation(self.conv(images))  # (B, d, h, w)


def flat():
    """A function that makes one; features (B, d)."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 12))


class TwoOutputs(Plain):
    def forward(self, images):
        return super().forward(images), None


def wrong_channels():
    return Plain(3)


class NeedsMore(nn.Module):
    def __init__(self, depth):
        super().__init__()


def timm():
    """Answers as timm does: is_model, list_models and create_model with num_classes=0."""

    def create_model(name, pretrained, num_classes, in_chans):
        assert not pretrained
        assert num_classes == 0
        return Plain(in_chans, 10)

    module = ModuleType("timm")
    module.is_model = lambda name: name == "resnet18"
    module.list_models = lambda: ["resnet18", "resnet34"]
    module.create_model = create_model
    return module


class Classifier(nn.Module):
    """As torchvision's are: layers, and a classifier called fc."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, 2, 1)
        self.fc = nn.Linear(6, 1000)

    def forward(self, images):
        return self.fc(self.conv(images).mean((2, 3)))


def torchvision():
    package, models = ModuleType("torchvision"), ModuleType("torchvision.models")
    models.list_models = lambda: ["resnet18", "fcn"]
    models.get_model = lambda name, weights: Classifier() if name == "resnet18" else nn.Identity()
    package.models = models
    return {"torchvision": package, "torchvision.models": models}


def images(count=2):
    return torch.zeros(count, 1, 8, 8)
