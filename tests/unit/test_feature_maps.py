"""Maps that nobody trains are the same function at every client and at the server."""

import pickle

import pytest
import torch
from safetensors.torch import save_file

from mooring.errors import ModelError
from mooring.models._feature_maps import FEATURE_MAPS, EncoderFile, RandomEncoder, RandomFilters, WhitenedFilters
from mooring.models._feature_maps.synthetic import dead_leaves
from mooring.models._feature_maps.untrained import FLAT_VARIANCE, PatchFilters
from mooring.models._feature_maps.whitened_filters import Responses, principal
from mooring.processes import threads
from mooring.uploads import Encoder
from mooring.uploads._moments import Moments


@pytest.fixture(scope="module")
def blueprint(make_job):
    return make_job().blueprint


@pytest.mark.parametrize("kind", ["pixels", "random-encoder", "random-filters", "whitened-filters"])
def test_a_map_is_the_same_function_everywhere(kind, blueprint, digits):
    feature_map = FEATURE_MAPS[kind]()
    phi, again = feature_map.build(blueprint), feature_map.build(blueprint)
    images = digits.images[:20]
    x = phi(images)
    assert x.shape == (20, feature_map.size(blueprint))
    assert x.dtype == torch.float32
    assert torch.equal(x, again(images))
    torch.testing.assert_close(phi(images.float() / 255), x)
    torch.testing.assert_close(torch.cat([phi(image[None]) for image in images]), x, atol=1e-5, rtol=1e-5)
    assert not any(module.training for module in phi.modules())
    assert not any(parameter.requires_grad for parameter in phi.parameters())


@pytest.mark.parametrize("kind", [RandomEncoder, RandomFilters, WhitenedFilters])
def test_another_seed_is_another_map(kind, blueprint, digits):
    one, other = (kind(seed=seed).build(blueprint)(digits.images[:5]) for seed in (0, 1))
    assert not torch.allclose(one, other)
    assert (
        Moments(kind(seed=0), "shared")
        .expected(blueprint)
        .keys()
        .isdisjoint(Moments(kind(seed=1), "shared").expected(blueprint))
    )


def test_random_filters_by_hand():
    """One 2x2 filter on a 4x4 image, every position computed by itself."""
    image = torch.arange(16.0).view(1, 1, 4, 4) ** 2
    w = torch.tensor([[0.5, -0.5, -0.5, 0.5]])
    x = PatchFilters(w, 2, 0.1)(image)

    def response(i, j):
        patch = image[0, 0, i : i + 2, j : j + 2].flatten()
        patch = patch - patch.mean()
        return float(w[0] @ (patch / (patch.square().mean() + FLAT_VARIANCE).sqrt()))

    u = torch.tensor([[response(i, j) for j in range(3)] for i in range(3)])
    regions = [u[i : i + 2, j : j + 2] for i in (0, 1) for j in (0, 1)]  # 2 x 2 regions of 3 x 3 positions overlap
    expected = [float(torch.relu(sign * r - 0.1).mean()) for sign in (1, -1) for r in regions]
    torch.testing.assert_close(x, torch.tensor([expected]))
    assert x.max() > 0


def test_whitened_responses_by_hand():
    """Two 2x2 filters on a 4x4 image and its mirror image, every position computed by itself."""
    image = torch.arange(16.0).view(1, 1, 4, 4) ** 2
    filters, offset = torch.tensor([[0.5, -0.5, -0.5, 0.5], [1.0, 0.0, -1.0, 0.0]]), torch.tensor([0.1, -0.2])
    found = Responses(filters, offset, 2, 0.3, 2, "mirrored")(image)[0]  # (regions, responses)

    def responses(picture, i, j):
        patch = picture[i : i + 2, j : j + 2].flatten()
        patch = patch - patch.mean()
        return filters @ (patch / (patch.square().mean() + FLAT_VARIANCE).sqrt()) + offset

    total = torch.zeros(4, 4)
    for picture in (image[0, 0], image[0, 0].flip(1)):
        u = torch.stack([torch.stack([responses(picture, i, j) for j in range(3)]) for i in range(3)])
        rows = [u[i : i + 2, j : j + 2].flatten(0, 1) for i in (0, 1) for j in (0, 1)]  # regions overlap in one row
        total += torch.stack([torch.cat([torch.relu(r - 0.3).mean(0), torch.relu(-r - 0.3).mean(0)]) for r in rows])
    torch.testing.assert_close(found, (total / 2).sqrt())


def test_whitened_features_have_the_same_bytes_for_any_threads_and_any_neighbours(blueprint, digits):
    phi = WhitenedFilters().build(blueprint)
    with threads(1):
        one = phi(digits.images[:40])
        parts = phi.get_submodule("1.responses")(phi[0](digits.images[:7]))
    with threads(2):
        assert torch.equal(phi(digits.images[:40]), one)
    with threads(1):
        assert torch.equal(phi.get_submodule("1.responses")(phi[0](digits.images[:40]))[:7], parts)


def test_mirrored_features_of_an_image_are_those_of_its_mirror_image(blueprint, digits):
    phi = WhitenedFilters(views="mirrored").build(blueprint)
    torch.testing.assert_close(phi(digits.images[:5].flip(3)), phi(digits.images[:5]))


def test_dead_leaves_are_one_drawing_for_a_seed_and_have_edges_of_all_sizes():
    one, again, other = (dead_leaves(4, 3, 32, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert one.shape == (4, 3, 32, 32)
    assert 0 <= one.min() < 0.2
    assert 0.8 < one.max() <= 1
    step = [(one[..., d:] - one[..., :-d]).square().mean() for d in (1, 4, 16)]
    assert step[0] < step[1] < step[2]  # neighbours are alike, the farther the less


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_principal_axes_are_orthonormal_ordered_and_of_one_sign(shape):
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    axes = principal(x, 6)
    torch.testing.assert_close(axes.T @ axes, torch.eye(6, dtype=x.dtype))
    variances = (x @ axes).square().sum(0)
    torch.testing.assert_close(variances, torch.linalg.svdvals(x)[:6].square())
    assert (axes.gather(0, axes.abs().argmax(0, keepdim=True)) > 0).all()


def test_a_small_patch_has_few_channels(blueprint):
    """An image of 8 x 8 grey pixels has patches of 16 values: 128 channels over four regions."""
    assert WhitenedFilters().size(blueprint) == 512
    assert WhitenedFilters(channels=10).size(blueprint) == 40
    assert WhitenedFilters(channels=4, grid=3).size(blueprint) == 36


@pytest.mark.parametrize("prefix", ["", "encoder."])
def test_an_encoder_file_is_that_encoder(prefix, blueprint, digits, tmp_path):
    network = blueprint.build(torch.Generator().manual_seed(5)).eval()
    state = {prefix + n.removeprefix("encoder."): t for n, t in Encoder()(network, digits).items()}
    save_file({n: t.contiguous() for n, t in state.items()}, tmp_path / "e.safetensors")
    feature_map = EncoderFile(str(tmp_path / "e.safetensors"))
    assert feature_map.size(blueprint) == 32
    with torch.no_grad():
        expected = network.embed(digits.images[:20])  # raw prototypes embed a feature as itself
    torch.testing.assert_close(feature_map.build(blueprint)(digits.images[:20]), expected, atol=1e-5, rtol=1e-5)


def test_a_file_that_is_not_the_encoder_is_rejected_by_name(blueprint, tmp_path):
    state = {n: t.contiguous() for n, t in blueprint.build(torch.Generator()).encoder.state_dict().items()}
    path = tmp_path / "e.safetensors"

    def reject(match):
        with pytest.raises(ModelError, match=match):
            EncoderFile(str(path)).build(blueprint)

    reject(r"(map.path|encoder)=.*e.safetensors: cannot be read")
    path.mkdir()
    reject(r"cannot be read")
    path.rmdir()
    path.write_bytes(pickle.dumps(state))
    reject(r"is not a safetensors file")
    save_file({n: t for n, t in state.items() if n != "3.conv2.weight"}, path)
    reject(r"tensor '3.conv2.weight' is missing")
    save_file({**state, "3.conv2.weight": torch.zeros(2, 2)}, path)
    reject(r"tensor '3.conv2.weight' has shape \(2, 2\), not \(16, 16, 3, 3\)")
    with pytest.raises(ModelError, match="has shape"):
        EncoderFile(str(path)).size(blueprint)
    save_file({**state, "1.weight": torch.full((16,), float("nan"))}, path)
    reject(r"tensor '1.weight' holds values that are not finite")
