"""What the multi-task baselines have in common: each of the two losses gets a share, by a soft-max.

loss = w_local L_b + w_align L_a,   felt lambda = w_align / w_local
"""

from torch import Tensor

from mooring.types import Balanced

LARGEST_LOG = 80.0  # e^80 still fits a 32-bit float


def shared(preference: Tensor, total: float = 1.0) -> Balanced:
    """Shares total * softmax(preference), preference (2,) for L_b and L_a."""
    w = total * preference.softmax(0)
    lam = (preference[1] - preference[0]).clamp(-LARGEST_LOG, LARGEST_LOG).exp()
    return Balanced(w[0], w[1], None, lam, lam)
