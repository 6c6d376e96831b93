"""A predictor as bytes and back, with bit-identical scores: the payload of `model.mooring`. No pickle.

The bytes are a safetensors file, in the codec of the uploads. Its facts are the predictor's tree and blueprint.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mooring.errors import ModelError
from mooring.fusion._predictor import Predictor, Saveable, Saved
from mooring.fusion._rules import FUSIONS
from mooring.models import blueprint_of, blueprint_tree, classes_by_kind, known_kinds
from mooring.schema import Tree
from mooring.uploads import Limits, Piece, Pieces, decode_tensors, encode_in_pieces

SAVEABLE: dict[str, type[Saveable]] = {cls.kind: cls for rule in FUSIONS.values() for cls in rule.makes}
KEYS = {"format", "predictor", "model", "classes", "preprocessing", "provenance"}
USUAL = Limits()
WHOLE = "predictor"
BESIDE = "beside/"  # before the name of a tensor that is not part of the predictor; no module has a name like it
NO_TENSORS: Mapping[str, Tensor] = {}


@dataclass(frozen=True)
class LoadedPredictor:
    """A predictor, and the other tensors that its writer put into the file."""

    predictor: Predictor
    beside: Mapping[str, Tensor] = field(default_factory=dict, repr=False)


def encode_predictor(predictor: Predictor, beside: Mapping[str, Tensor] = NO_TENSORS) -> bytes:
    """The predictor, and tensors that its writer wants to find again, such as the sums that it was computed from."""
    return predictor_in_pieces(predictor, beside).joined()


def predictor_in_pieces(
    predictor: Predictor, beside: Mapping[str, Tensor] = NO_TENSORS, left_out: Collection[str] = ()
) -> Pieces:
    """The same bytes, one tensor after the other. Readers have the tensors that are `left_out` in another file."""
    own = {f"{BESIDE}{name}": tensor for name, tensor in beside.items()}
    state = {name: tensor for name, tensor in predictor.state_dict().items() if name not in left_out}
    facts = {"predictor": predictor.tree(), **blueprint_tree(predictor.blueprint), "provenance": {}}
    return encode_in_pieces(state | own, facts)


def decode_predictor(
    data: Piece,
    trusted: Iterable[type] = (),
    limits: Limits = USUAL,
    what: str = "predictor",
    encoder: str | None = None,
) -> LoadedPredictor:
    """The predictor in these bytes; anything else raises a one-line error that begins with `what`.

    Your own classes are used only if you pass them as `trusted`. `encoder` is the path of an encoder file that the
    bytes name but do not hold.
    """
    facts, tensors = decode_tensors(data, limits, what)
    beside = {name: tensors.pop(name) for name in list(tensors) if name.startswith(BESIDE)}
    try:
        reject_other_facts(facts)
        reject_broken(beside)
        predictor = restored(facts, tensors, tuple(trusted), encoder)
    except ModelError as error:
        raise ModelError(f"{what}: {error.problem}", error.remedy) from None
    return LoadedPredictor(predictor, {name.removeprefix(BESIDE): beside[name] for name in beside})


def reject_other_facts(facts: Tree) -> None:
    """The facts must be those of a predictor, all of them and no others."""
    if facts.keys() != KEYS or not isinstance(facts["predictor"], dict):
        raise ModelError("holds no predictor", "name a model file that mooring wrote")
    if facts["provenance"] != {}:
        raise ModelError("its provenance is not empty", "save it again")


def restored(
    facts: Tree, tensors: Mapping[str, Tensor], trusted: Sequence[type], encoder: str | None = None
) -> Predictor:
    """The predictor, if these are all of its tensors, they are finite, and it can score an image with them."""
    part_kinds = known_kinds(trusted)
    blueprint, tree = blueprint_of(facts, part_kinds), {WHOLE: facts["predictor"]}
    reject_broken(tensors)
    within = {f"{WHOLE}.{name}": tensor for name, tensor in tensors.items()}
    whole = Saved(tree, within, blueprint, part_kinds, SAVEABLE | classes_by_kind(trusted), encoder=encoder)
    try:
        predictor = whole.predictor(WHOLE)
        with torch.inference_mode():
            scores = predictor(torch.zeros(1, *blueprint.shape, dtype=torch.uint8))
    except (RuntimeError, RecursionError, ValueError, IndexError) as error:
        raise ModelError(f"its tensors do not fit together ({str(error).splitlines()[0]})", "save it again") from None
    if unread := sorted(tensors.keys() - predictor.state_dict().keys()):
        raise ModelError(f"tensor {unread[0]!r} belongs to nothing", "save it again")
    if scores.shape != (1, blueprint.class_count):
        raise ModelError(f"it scores {tuple(scores.shape)}, not {(1, blueprint.class_count)}", "save it again")
    return predictor


def reject_broken(tensors: Mapping[str, Tensor]) -> None:
    """All values must be finite."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise ModelError(f"tensor {name!r} holds values that are not finite", "save it again")
