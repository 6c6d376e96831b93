"""Do features of features help the linear head? Beside those of the usual encoder; test images are never read.

    python studies/nonlinear_features.py DATA[:ROOT] IMAGES [COUNT]

COUNT (1,300: 25 MB of moments in all) random projections of the standardised features, each cut by a ReLU, bent by a
cosine, or put into two buckets at a random threshold (SAFLe's idea with as many numbers as the upload allows).
"""

import sys
from collections.abc import Callable

import torch
from torch import Tensor

from feature_maps import FITTED, accuracy, features
from mooring.seeds import generator

BENT: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "relu": lambda projected, shift: (projected + shift).relu(),
    "cosine": lambda projected, shift: (projected + 2 * torch.pi * shift).cos(),
    "buckets": lambda projected, shift: (projected > shift).float(),
}


def compare(data: str, images: int, count: int) -> None:
    x, y = features(data, images, "efficientnet-lite2")
    fitted = x[: int(FITTED * len(x))]
    z = (x - fitted.mean(0)) / fitted.std(0).clamp(min=1e-9)
    rng = generator(0, "nonlinear-features")
    projected = z @ (torch.randn(x.shape[1], count, generator=rng) / x.shape[1] ** 0.5)
    shift = torch.randn(count, generator=rng)
    right, looked = accuracy(x, y)
    print(f"{data.partition(':')[0]}: {right:.4f} of {looked} with {x.shape[1]} numbers", flush=True)
    for name, bent in BENT.items():
        right, _ = accuracy(torch.cat([x, bent(projected, shift)], 1), y)
        print(f"  and {count} by {name}: {right:.4f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    compare(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1300)
