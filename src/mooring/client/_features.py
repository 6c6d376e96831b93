"""What a client can say of its features: how far its images of a class lie apart, and how near to their anchors."""

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data import ImageSet
from mooring.models import Network

IMAGES = 256  # at most, evenly over the shard: a round is not to wait for them
BATCH = 64

FeatureFacts = dict[str, float | None]


def feature_facts(network: Network, shard: ImageSet, anchors: Tensor | None) -> FeatureFacts:
    """Of the unit features z of the client's own images, in eval mode and without augmentation:

    scatter = sum |z - mean of its class|^2 / sum |z - mean|^2, 0 where every class has become one vector (None for a
    single class); anchor cosine = mean cos(z, anchor of its class).
    """
    chosen = torch.arange(0, len(shard), max(1, -(-len(shard) // IMAGES)))
    device = network.prototypes.device
    images, labels = shard.images[chosen].to(device), shard.labels[chosen].to(device)
    with torch.no_grad():
        network.eval()
        z = F.normalize(torch.cat([network.embed(batch).float() for batch in images.split(BATCH)]))  # (N, d)
        return {"feature_scatter": scatter(z, labels), "anchor_cosine": nearness(z, labels, anchors)}


def scatter(z: Tensor, labels: Tensor) -> float | None:
    _, members = labels.unique(return_inverse=True)
    one_hot = F.one_hot(members).to(z.dtype)  # (N, classes held)
    means = one_hot.T @ z / one_hot.sum(0)[:, None]
    total = (z - z.mean(0)).square().sum().item()
    if one_hot.shape[1] < 2 or total == 0:
        return None
    return (z - means[members]).square().sum().item() / total


def nearness(z: Tensor, labels: Tensor, anchors: Tensor | None) -> float | None:
    if anchors is None:
        return None
    return F.cosine_similarity(z, anchors[labels]).mean().item()
