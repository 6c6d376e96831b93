"""What the multi-task baselines have in common: each of the two losses gets a share, by a soft-max.

model_loss = w_b L_b + w_a L_a,   felt lambda = w_a / w_b
"""

from torch import Tensor

from mooring.types import Balanced, Losses

LARGEST_LOG = 80.0  # e^80 still fits a 32-bit float


def shared(losses: Losses, preference: Tensor, total: float = 1.0) -> Balanced:
    """Shares total * softmax(preference), preference (2,) for L_b and L_a."""
    w = total * preference.softmax(0)
    lam = (preference[1] - preference[0]).clamp(-LARGEST_LOG, LARGEST_LOG).exp()
    return Balanced(w[0] * losses.local + w[1] * losses.align, None, lam, lam)
