"""The sum of all sites can be read, the numbers of a single one cannot."""

from dataclasses import replace

import pytest
import torch
from nacl.signing import SigningKey
from scipy.stats import chisquare

from mooring.errors import FederationError
from mooring.federation._secure_sum import SecureSum, fraction_bits, mask, plausible, reveal, unmask
from mooring.models._backbones import DigitsNet
from mooring.models._feature_maps import RandomFilters
from mooring.models._heads import RawPrototypes
from mooring.models._network import Blueprint
from mooring.uploads._moments import Moments
from mooring.uploads._privacy import normals, stream_words

BLUEPRINT = Blueprint(DigitsNet(), RawPrototypes(), (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))
PART = Moments(RandomFilters(16), "shared", "float32")
BOUND, IMAGES = 20.0, 10**7
SITES = ("east", "north", "south", "west")
KEYS = {site: SigningKey(bytes([number]) * 32) for number, site in enumerate(SITES)}
PLAN = SecureSum(
    "0" * 64,
    {site: bytes(key.verify_key).hex() for site, key in KEYS.items()},
    fraction_bits(PART, BLUEPRINT, BOUND, IMAGES),
)


@pytest.fixture(scope="module")
def plain(digits):
    network = BLUEPRINT.build(torch.Generator())
    thirds = torch.arange(len(digits)) % 5
    return {site: PART(network, digits.select((thirds == k).nonzero()[:, 0])) for k, site in enumerate(SITES)}


@pytest.fixture(scope="module")
def masked(plain):
    return {site: mask(tensors, PLAN, site, KEYS[site]) for site, tensors in plain.items()}


def open_sum(plain, sites=SITES):
    return {name: sum(plain[site][name].double() for site in sites) for name in plain["east"]}


def test_the_sum_is_the_open_sum_to_its_quantisation(plain, masked):
    total = unmask(masked, PLAN)
    for name, expected in open_sum(plain).items():
        assert (total[name] - expected).abs().max() <= PLAN.step[name]
    _, *others = PLAN.step.values()
    assert max(others) < 1e-8
    assert torch.equal(*(next(iter(sums.values())) for sums in (total, open_sum(plain))))  # counts, to the last image
    assert list(plausible(PART, total, BOUND, IMAGES)) == []


@pytest.mark.parametrize("numbers", ["of images", "all zero"])
def test_what_one_site_sends_cannot_be_told_from_random_numbers(numbers, plain):
    tensors = plain["north"] if numbers == "of images" else {n: torch.zeros_like(t) for n, t in plain["north"].items()}
    sent = mask(tensors, PLAN, "north", KEYS["north"])
    data = torch.cat([tensor.flatten() for tensor in sent.values()])
    for shift in range(0, 64, 8):  # each byte of the words by itself
        frequencies = torch.bincount((data >> shift) & 255, minlength=256)
        assert chisquare(frequencies).pvalue > 1e-4
    pairs = torch.stack([data[:-1] >> 60 & 15, data[1:] & 15])  # and one word beside the next
    assert chisquare(torch.bincount(pairs[0] * 16 + pairs[1], minlength=256)).pvalue > 1e-4


def test_every_job_and_every_tensor_has_masks_of_its_own(plain, masked):
    again = mask(plain["north"], replace(PLAN, job="1" * 64), "north", KEYS["north"])
    for name, tensor in masked["north"].items():
        assert not (again[name] == tensor).any()
    names = list(plain["north"])
    seed = next(iter(reveal(PLAN, "north", ["south"], KEYS["north"]).values()))
    assert not (stream_words(seed, (names[0],), (9,)) == stream_words(seed, (names[1],), (9,))).any()


def test_all_but_one_learn_nothing_of_it_without_the_sum(plain, masked):
    three = {site: tensors for site, tensors in masked.items() if site != "west"}
    with pytest.raises(FederationError, match="west missing, and east, north, south has not revealed"):
        unmask(three, PLAN)


def test_the_others_go_on_without_a_missing_site_once_they_reveal_their_masks_with_it(plain, masked):
    left = [site for site in SITES if site != "west"]
    seeds = {pair: seed for site in left for pair, seed in reveal(PLAN, site, ["west"], KEYS[site]).items()}
    total = unmask({site: masked[site] for site in left}, PLAN, seeds)
    for name, expected in open_sum(plain, left).items():
        assert (total[name] - expected).abs().max() <= PLAN.step[name]


@pytest.mark.parametrize("left", [["north"], ["north", "south"]])
def test_no_sum_over_fewer_than_three_sites_is_read_whatever_was_revealed(left, masked):
    gone = [site for site in SITES if site not in left]
    seeds = {pair: seed for site in left for pair, seed in reveal(PLAN, site, gone, KEYS[site]).items()}
    with pytest.raises(FederationError, match=f"{len(left)} of 4 sites are left, and it takes 3"):
        unmask({site: masked[site] for site in left}, PLAN, seeds)


@pytest.mark.parametrize("mistake", ["key", "job", "numbers"])
def test_a_foreign_key_or_job_cancels_nothing_and_is_told(mistake, plain, masked):
    wrong = {
        "key": lambda: mask(
            plain["west"],
            replace(PLAN, keys=PLAN.keys | {"west": bytes(SigningKey(b"x" * 32).verify_key).hex()}),
            "west",
            SigningKey(b"x" * 32),
        ),
        "job": lambda: mask(plain["west"], replace(PLAN, job="1" * 64), "west", KEYS["west"]),
        "numbers": lambda: {name: tensor.long() for name, tensor in plain["west"].items()},
    }
    with pytest.raises(FederationError, match="do not cancel; a site used another key or answered another job"):
        unmask(masked | {"west": wrong[mistake]()}, PLAN)


def test_masks_that_did_not_cancel_would_not_pass_for_a_sum_either(plain):
    few = {name: stream_words(b"key", (name,), tuple(t.shape)).double() * 2.0**-2 for name, t in plain["west"].items()}
    assert list(plausible(PART, few, BOUND, IMAGES)) == [
        "its counts are impossible",
        "its sums do not fit its counts",
    ]


def test_a_site_is_rejected_that_has_another_key_or_more_than_there_is_room_for(plain):
    with pytest.raises(FederationError, match="names another key for 'north'"):
        mask(plain["north"], PLAN, "north", KEYS["south"])
    with pytest.raises(FederationError, match="more than the job has room for"):
        mask({name: tensor * 10**7 for name, tensor in plain["north"].items()}, PLAN, "north", KEYS["north"])
    with pytest.raises(FederationError, match="do not fit into 64 bits"):
        fraction_bits(PART, BLUEPRINT, 1e9, IMAGES)


def test_two_sites_have_no_secrets_in_a_sum(plain):
    two = replace(PLAN, keys={site: PLAN.keys[site] for site in SITES[:2]})
    with pytest.raises(FederationError, match="2 sites with keys, and it takes 3"):
        mask(plain["east"], two, "east", KEYS["east"])


def test_a_key_that_is_none_is_rejected(plain):
    with pytest.raises(FederationError, match="the key of 'west' is not a key"):
        mask(plain["north"], replace(PLAN, keys=PLAN.keys | {"west": "00" * 32}), "north", KEYS["north"])


def test_normal_numbers_of_a_secret_stream_are_normal():
    x = normals(b"key", ("noise",), (20000,))
    assert torch.equal(x, normals(b"key", ("noise",), (20000,)))
    assert not (x[:100] == normals(b"other", ("noise",), (100,))).any()
    moments = [x.mean(), x.square().mean() - 1, x.pow(3).mean(), x.pow(4).mean() - 3]
    errors = [1, 2**0.5, 15**0.5, 96**0.5]
    assert all(abs(m) < 4 * e / 20000**0.5 for m, e in zip(moments, errors, strict=True))
