import pytest
import torch

from mooring.data._augment import Augment
from mooring.seeds import generator

STILL = Augment(crop=1.0, flip=0.0, jitter=0.0, grey=0.0)


def images(channels=3, size=16, count=6):
    return torch.randint(0, 256, (count, channels, size, size), generator=generator(0, "images"), dtype=torch.uint8)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [8, 32])
def test_views_keep_shape_and_range(channels, size):
    views = Augment()(images(channels, size), True, generator(1, "augment"))
    assert views.shape == (6, channels, size, size)
    assert views.dtype == torch.float32
    assert 0 <= views.min() <= views.max() <= 1


def test_nothing_asked_is_nothing_changed():
    assert torch.equal(STILL(images(), True, generator(1, "a")), images().float() / 255)


def test_every_image_of_a_batch_has_its_own_draw():
    same = images()[:1].repeat(8, 1, 1, 1)
    for part in (Augment(jitter=0, grey=0, flip=0), Augment(crop=1.0, flip=0, grey=0, jitter=1.0)):
        views = part(same, True, generator(1, "a"))
        assert len({tuple(view.flatten().tolist()) for view in views}) == 8


def test_one_seed_is_one_view():
    first, again, other = (Augment()(images(), True, generator(s, "a")) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_flips_only_where_a_mirrored_image_keeps_its_class():
    flip = Augment(crop=1.0, flip=1.0, jitter=0.0, grey=0.0)
    plain = images().float() / 255
    torch.testing.assert_close(flip(images(), True, generator(1, "a")), plain.flip(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(flip(images(), False, generator(1, "a")), plain, atol=1e-5, rtol=0)


def test_grey_images_have_three_equal_channels():
    grey = Augment(crop=1.0, flip=0.0, jitter=0.0, grey=1.0)(images(), True, generator(1, "a"))
    torch.testing.assert_close(grey[:, 0], grey[:, 1], atol=2e-3, rtol=0)
    torch.testing.assert_close(grey[:, 1], grey[:, 2], atol=2e-3, rtol=0)


def test_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    Augment()(images(), True, generator(1, "a"))
    assert torch.equal(before, torch.random.get_rng_state())
