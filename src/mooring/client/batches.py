"""Which images meet in a step."""

from torch import Generator, Tensor, randperm


def steps_per_epoch(samples: int, batch_size: int) -> int:
    """ceil(n / B), one less when the last batch would hold a single image."""
    full, rest = divmod(samples, batch_size)
    if full == 0:
        return min(samples, 1)
    return full + (rest > 1 or (rest == 1 and batch_size == 1))


def batches(samples: int, batch_size: int, rng: Generator) -> list[Tensor]:
    """One epoch in random order; nothing is dropped, and a last batch of one joins the batch before it."""
    if samples == 0:
        return []
    parts = list(randperm(samples, generator=rng).split(batch_size))
    if len(parts) > 1 and len(parts[-1]) == 1 and batch_size > 1:
        last = parts.pop()
        parts[-1] = parts[-1].new_tensor([*parts[-1].tolist(), *last.tolist()])
    return parts
