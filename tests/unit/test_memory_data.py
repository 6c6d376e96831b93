"""Images in memory: arrays, tensors, torch data sets and Hugging Face data sets, identified by their hash."""

import gc

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset

import mooring
from mooring import as_source
from mooring.data import Digits, federate
from mooring.data._partition import Iid, Sites
from mooring.errors import DataError

DIGITS = Digits().train()
PIXELS, LABELS = DIGITS.images[:60].numpy(), DIGITS.labels[:60].numpy()


class Pairs(Dataset):
    """As torchvision's: items are (image, label), and classes have names."""

    classes = tuple("abcdefghij")

    def __init__(self, form):
        self.form = form

    def __len__(self):
        return 60

    def __getitem__(self, i):
        return self.form(PIXELS[i, 0]), int(LABELS[i])


class Rows(list):
    """Answers as a data set of Hugging Face does: rows are mappings, features know the names of the classes."""

    def __init__(self, image="image", label="label"):
        super().__init__(
            {image: Image.fromarray(PIXELS[i, 0]), label: int(LABELS[i]), "writer": f"w{i % 7}"} for i in range(60)
        )
        self.features = {label: type("ClassLabel", (), {"names": list("abcdefghij")})()}


FORMS = {
    "numpy": lambda: (PIXELS[:, 0], LABELS),
    "channels last": lambda: (PIXELS.transpose(0, 2, 3, 1), LABELS[:, None]),
    "tensors": lambda: (torch.from_numpy(PIXELS).float() / 255, torch.from_numpy(LABELS)),
    "pictures": lambda: Pairs(Image.fromarray),
    "torch": lambda: Pairs(lambda pixels: torch.from_numpy(pixels)[None].float() / 255),
    "hugging face": Rows,
    "images": lambda: DIGITS.select(torch.arange(60)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_images(form):
    source = as_source(FORMS[form](), FORMS[form]())
    train, test = source.train(), source.test()
    assert torch.equal(train.images, DIGITS.images[:60])
    assert torch.equal(train.labels, DIGITS.labels[:60])
    assert torch.equal(test.images, train.images)
    assert train.classes == (
        tuple("abcdefghij") if form in ("pictures", "torch", "hugging face") else tuple("0123456789")
    )


def test_a_data_set_dict_has_both_parts():
    source = as_source({"train": Rows(), "test": Rows("img", "labels")})
    assert len(source.test()) == 60


def test_without_test_images_a_fifth_of_every_class_is_held_out_and_no_image_is_in_both():
    source = as_source((DIGITS.images, DIGITS.labels))
    train, test = source.train(), source.test()
    assert len(test) == round(0.2 * len(DIGITS))
    assert len(train) + len(test) == len(DIGITS)
    shares = np.array(test.label_counts()) / np.array(DIGITS.label_counts())
    assert np.abs(shares - 0.2).max() < 0.01
    assert torch.equal(test.images, as_source((DIGITS.images, DIGITS.labels)).test().images)


def test_the_hash_knows_every_pixel_label_client_and_group():
    changed = PIXELS.copy()
    changed[3, 0, 2, 2] ^= 1
    sources = [
        as_source((PIXELS, LABELS)),
        as_source((changed, LABELS)),
        as_source((PIXELS, LABELS[::-1].copy())),
        as_source((PIXELS, LABELS), clients=np.arange(60) % 3),
        as_source((PIXELS, LABELS), groups=np.arange(60) % 3),
        as_source((PIXELS, LABELS), (PIXELS, LABELS)),
    ]
    assert len({source.sha256 for source in sources}) == len(sources)
    assert as_source((PIXELS.copy(), LABELS.copy())) == sources[0]


@pytest.mark.parametrize(
    ("data", "chosen"),
    [
        ((PIXELS, LABELS), [i % 7 for i in range(60)]),
        (Rows(), "writer"),
        (Rows(), lambda row: row["writer"]),
        (Pairs(Image.fromarray), lambda pair: pair[1] % 7),
    ],
)
def test_clients_are_given_by_an_array_a_column_or_a_function(data, chosen):
    source = as_source(data, data, clients=chosen)
    federation = federate(source, Sites(), seed=1)
    assert federation.clients == 7
    assert source.has_sites()


def test_ten_clients_keep_the_order_of_their_numbers():
    source = as_source((PIXELS, LABELS), (PIXELS, LABELS), clients=np.arange(60) % 12)
    own = federate(source, Sites(), seed=1).partition.indices
    assert [indices[0] for indices in own] == list(range(12))


def test_writers_are_divided_among_clients_and_none_is_split():
    source = as_source(Rows(), Rows(), groups="writer")
    federation = federate(source, Iid(clients=3), seed=1)
    writers = [{source.train().groups[i] for i in own} for own in federation.partition.indices]
    assert sum(map(len, writers)) == len(set.union(*writers)) == 7


MISTAKES = {
    r"images holds -1; scale floats to 0 to 1": lambda: ((PIXELS / 255.0 - 1, LABELS),),
    r"labels have shape \(59,\) for 60 images": lambda: ((PIXELS, LABELS[:59]),),
    r"labels are float64": lambda: ((PIXELS, LABELS + 0.5),),
    r"an item is a int, not a pair": lambda: ([1, 2, 3],),
    r"has no length": lambda: (iter([1]),),
    r"has the columns foto, label, writer; call one of them image": lambda: (Rows("foto"),),
    r"clients=nobody: there is no such column": lambda: (Rows(), None, "nobody"),
    r"clients: has 3 entries for 60 images": lambda: ((PIXELS, LABELS), None, [1, 2, 3]),
    r"images have the shapes \(8, 7\), \(8, 8\); bring all to one shape": lambda: (
        [(PIXELS[0, 0], 0), (PIXELS[1, 0, :, :7], 1)] * 2,
    ),
    r"labels hold 9 but there are 3 classes": lambda: ((PIXELS, LABELS), None, None, ["a", "b", "c"]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_is_named_with_its_remedy(message):
    data, test, clients, classes = (*MISTAKES[message](), None, None, None)[:4]
    with pytest.raises(DataError, match=message):
        as_source(data, test, clients=clients, classes=classes)


QUICK = {"rounds": 1, "local_epochs": 1, "clients": 2, "workers": 1, "verbose": False}


def test_the_same_images_give_the_same_run_and_other_images_another_one(tmp_path):
    first = mooring.run("v4", data=(PIXELS, LABELS), out=tmp_path / "run", **QUICK)
    date = first.result.date
    assert mooring.run("v4", data=(PIXELS.copy(), LABELS), out=tmp_path / "run", **QUICK).result.date == date
    with pytest.raises(mooring.MooringError, match="holds the result of another experiment"):
        mooring.run("v4", data=(PIXELS[:50], LABELS[:50]), out=tmp_path / "run", **QUICK)


def test_a_folder_whose_images_are_gone_is_rejected_with_a_remedy_and_images_given_again_are_found(tmp_path):
    pixels = 255 - PIXELS
    mooring.run("v4", data=(pixels, LABELS), out=tmp_path / "run", **QUICK)
    gc.collect()
    with pytest.raises(DataError, match=r"were in the memory of a program that has ended; make the same source again"):
        list(mooring.fuse(tmp_path / "run", mooring.load_fusions("class-expert")))
    source = as_source((pixels, LABELS))
    assert [row.fusion for row in mooring.fuse(tmp_path / "run", mooring.load_fusions("class-expert"))] == [
        "class-expert"
    ]
    assert len(source.train()) == 48
