"""`mooring check`: what is wrong with a folder is found with its file, and a sound folder gives no alarm."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance, ImageOps

from mooring.check import check_folder, propose_spelling
from mooring.data import ImageFolder, near_copies
from mooring.data._digits import Digits
from mooring.data._similarity import PROBABLE, SURE


def photo(number: int, side: int = 64) -> Image.Image:
    """A random picture with structure at several scales; another number is another picture."""
    rng, canvas = np.random.default_rng(number), np.zeros((side, side, 3))
    for cells in (4, 8, 16):
        patch = Image.fromarray(rng.integers(0, 255, (cells, cells, 3), dtype=np.uint8))
        canvas += np.asarray(patch.resize((side, side), Image.Resampling.BICUBIC)) / 3
    return Image.fromarray(canvas.astype(np.uint8))


def changed(picture: Image.Image, number: int) -> Image.Image:
    """The same picture as another file: turned, mirrored, cropped or brighter."""
    width = picture.width
    return (
        picture.rotate(8 + number % 12, Image.Resampling.BICUBIC),
        ImageOps.mirror(picture),
        picture.crop((3, 2, width - 2, width - 3)).resize((width, width)),
        ImageEnhance.Brightness(picture).enhance(0.8),
    )[number % 4]


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """Two sites, two classes, 20 different pictures in each."""
    for place, (site, label) in enumerate((s, c) for s in ("north", "south") for c in ("cat", "dog")):
        (tmp_path / "data" / site / label).mkdir(parents=True)
        for number in range(20):
            photo(100 * place + number).save(tmp_path / "data" / site / label / f"{number:02}.png")
    return tmp_path / "data"


def kinds(root: Path, **settings: object) -> dict[str, list[str]]:
    """Kind of finding -> all files that it names."""
    found = check_folder(ImageFolder(str(root), **settings))  # type: ignore[arg-type]
    return {finding.kind: [name for row in finding.files for name in row] for finding in found.findings}


def test_a_sound_folder_gives_no_finding(sound: Path) -> None:
    found = check_folder(ImageFolder(str(sound)))
    assert found.findings == ()
    assert (found.images, found.held_out, found.leaked, found.groups) == (80, 16, 0, 0)


def test_the_digits_are_sound() -> None:
    """Handwritten digits look alike, and none of them is a copy."""
    digits = Digits().train()
    assert near_copies([digits.images[:600]], digits.labels[:600]) == []


def test_damaged_files_are_named(sound: Path) -> None:
    cats = sound / "north" / "cat"
    (cats / "00.png").write_bytes((cats / "00.png").read_bytes()[:500])
    Image.new("RGB", (64, 64), "orange").save(cats / "01.png")
    photo(1002).save(cats / "02.png", "JPEG")
    photo(1003).convert("CMYK").save(cats / "x.tif")
    photo(1004).resize((300, 20)).save(cats / "04.png")
    Image.fromarray(np.asarray(photo(1005).convert("L")).astype(np.uint16) * 257).save(cats / "05.png")
    photo(1006).convert("RGBA").save(cats / "06.png")
    (cats / "notes.txt").write_text("cats")
    found = kinds(sound)
    place = "north/cat"
    assert found["unreadable"] == [f"{place}/00.png"]
    assert found["constant"] == [f"{place}/01.png"]
    assert found["ending"] == [f"{place}/02.png"]
    assert found["mode"] == [f"{place}/06.png"]  # the last of two findings of this kind
    assert found["size"] == [f"{place}/04.png"]
    assert found["depth"] == [f"{place}/05.png"]
    assert "ignored" in found


def test_the_same_picture_in_two_classes_is_a_contradiction(sound: Path) -> None:
    (sound / "north/dog/99.png").write_bytes((sound / "north/cat/00.png").read_bytes())
    assert kinds(sound)["contradiction"] == ["north/cat/00.png", "north/dog/99.png"]


@pytest.mark.parametrize("number", range(4))
def test_changed_copies_of_a_picture_are_found(number: int) -> None:
    pictures = [photo(n) for n in range(60)] + [changed(photo(n), 4 * n + number) for n in range(10)]
    images = torch.stack([torch.from_numpy(np.asarray(p).copy()).permute(2, 0, 1) for p in pictures])
    copies = {(copy.image, copy.of) for copy in near_copies([images], torch.zeros(70, dtype=torch.int64))}
    assert copies == {(60 + n, n) for n in range(10)}


def test_a_grouped_split_joins_probable_copies_that_no_finding_names() -> None:
    rng = np.random.default_rng(0)
    photos = [np.asarray(photo(n)) for n in range(60)]
    noisy = [np.clip(pixels + rng.normal(0, 50, pixels.shape), 0, 255).astype(np.uint8) for pixels in photos[:10]]
    images = torch.stack([torch.from_numpy(pixels.copy()).permute(2, 0, 1) for pixels in (*photos, *noisy)])
    sure, probable = (
        {(copy.image, copy.of) for copy in near_copies([images], torch.zeros(70, dtype=torch.int64), likeness=likeness)}
        for likeness in (SURE, PROBABLE)
    )
    assert sure < probable <= {(60 + n, n) for n in range(10)}


def add_copies(root: Path) -> None:
    for path in sorted(root.rglob("*.png")):
        number = int(path.stem)
        changed(Image.open(path), number).save(path.with_name(f"copy_{number}.png"))


def test_copies_across_the_split_are_leakage_and_a_grouped_split_has_none(sound: Path) -> None:
    add_copies(sound)
    by_name = check_folder(ImageFolder(str(sound)))
    assert by_name.split == "grouped"
    assert by_name.leaked >= 0.5 * by_name.held_out
    grouped = check_folder(ImageFolder(str(sound), split="grouped"))
    assert grouped.leaked == 0
    assert grouped.held_out == pytest.approx(32, abs=8)


def test_without_copies_a_grouped_split_is_the_usual_one(sound: Path) -> None:
    usual, grouped = ImageFolder(str(sound)), ImageFolder(str(sound), split="grouped")
    assert usual.training_files() == grouped.training_files()


@pytest.mark.parametrize(
    ("sites", "expected"),
    [
        ([{"glioma_tumor"}, {"Glioma_tumor"}, {"glioma"}], {"Glioma_tumor": "glioma_tumor", "glioma": "glioma_tumor"}),
        ([{"tumor", "no_tumor"}], {}),
        ([{"tumor"}, {"no_tumor"}], {}),
        ([{"class1", "class2"}], {}),
        ([{"castle", "cattle", "mouse", "house", "man", "woman"}], {}),
        ([{"pine_tree", "oak_tree"}], {}),
        ([{"lymphocyte"}, {"lymphocytes"}], {"lymphocytes": "lymphocyte"}),
        ([{"eosinophil"}, {"eosinophl"}], {"eosinophl": "eosinophil"}),
    ],
)
def test_other_spellings_are_proposed_and_other_classes_are_not(
    sites: list[set[str]], expected: dict[str, str]
) -> None:
    names = sorted(set().union(*sites), key=lambda name: ("_tumor" not in name or name[0].isupper(), len(name), name))
    counts = {name: 100 - place for place, name in enumerate(names)}
    if "eosinophil" in counts:
        counts["eosinophil"] = 1000
    assert propose_spelling(counts, sites) == expected


def test_a_proposed_spelling_is_applied_by_a_run(sound: Path) -> None:
    (sound / "south/cat").rename(sound / "south/Cats")
    found = check_folder(ImageFolder(str(sound)))
    assert dict(found.mapping) == {"Cats": "cat"}
    assert ImageFolder(str(sound)).train().classes == ("Cats", "cat", "dog")
    assert ImageFolder(str(sound), classes=dict(found.mapping)).train().classes == ("cat", "dog")


def test_check_writes_a_page_a_record_and_settings_and_ends_with_1(cli, sound: Path) -> None:
    add_copies(sound)
    code, out, _ = cli("check", sound)
    assert code == 1
    assert "decide" in out
    assert "data.split=grouped" in out
    page = Path("checks/data/check.html").read_text("utf-8")
    assert "data:image/png;base64," in page
    assert "copy_" in page
    record = json.loads(Path("checks/data/check.json").read_text("utf-8"))
    assert record["proposal"]["split"] == "grouped"
    assert "split: grouped" in Path("checks/data/data.yaml").read_text("utf-8")


def test_a_sound_folder_ends_with_0_and_a_short_page(cli, sound: Path) -> None:
    code, out, _ = cli("check", sound)
    assert (code, "nothing unusual" in out) == (0, True)
    assert not Path("checks/data/data.yaml").exists()
    assert "<img" not in Path("checks/data/check.html").read_text("utf-8")


def test_sites_compare_themselves_without_an_image(cli, sound: Path) -> None:
    """One image at both sites is found by its salted hash, and a darker site by its sums."""
    (sound / "south/cat/00.png").write_bytes((sound / "north/cat/00.png").read_bytes())
    for path in (sound / "south").rglob("*.png"):
        if path.name != "00.png":
            ImageEnhance.Brightness(Image.open(path)).enhance(0.3).save(path)
    for site in ("north", "south"):
        cli("check", sound / site, "--share", f"{site}.json", "--salt", "one secret")
    text = Path("north.json").read_text("utf-8")
    assert "00.png" not in text
    assert "thumbnails" not in text
    code, out, _ = cli("check", "north.json", "south.json")
    assert code == 1
    assert "1 image at north and at south" in " ".join(out.split())
    assert "images of south are darker" in " ".join(out.split())


def test_hashes_are_shared_only_on_request(cli, sound: Path) -> None:
    cli("check", sound / "north", "--share", "north.json")
    assert json.loads(Path("north.json").read_text("utf-8"))["hashes"] == []


def test_a_run_warns_of_copies_across_its_split(cli, sound: Path) -> None:
    add_copies(sound)
    small = ("data.source=image_folder", f"data.root={sound}", "data.size=32", "data.channels=1", "encoder=none")
    _, _, err = cli("run", *small, "engine.workers=1", "out=a")
    assert "have a copy among the training images" in err
    _, _, err = cli("run", *small, "engine.workers=1", "out=b", "data.split=grouped")
    assert "have a copy" not in err


def test_several_folders_are_rejected_before_they_are_read(cli, sound: Path) -> None:
    code, _, err = cli("run", sound / "north", sound / "south")
    assert (code, f"and 2 were named; write mooring run {sound}" in err) == (2, True)


def test_run_takes_a_folder_and_judges_every_site(cli, sound: Path) -> None:
    """One command without YAML: check, plan, run, accuracy of every site fused, alone and left out, and a report."""
    add_copies(sound)
    small = ("data.size=32", "data.channels=1", "encoder=none", "engine.workers=1", "out=a")
    code, out, err = cli("run", sound, *small)
    assert code == 0, err
    assert "have a copy among the training images" in " ".join(out.split())
    judgement = json.loads(Path("a/judgement.json").read_text("utf-8"))
    assert [row["site"] for row in judgement["sites"]] == ["north", "south"]
    result = json.loads(Path("a/result.json").read_text("utf-8"))
    images = sum(row["images"] for row in judgement["sites"])
    assert sum(row["fused"] for row in judgement["sites"]) == round(result["accuracy"] * images)
    assert all(0 <= row["alone"] <= row["images"] >= row["others"] >= 0 for row in judgement["sites"])
    assert all(0 <= row["personal"] <= row["images"] for row in judgement["sites"])
    assert len(judgement["heads"]) == 3
    assert any("have a copy" in alert for alert in judgement["alerts"])
    page = Path("a/report.html").read_text("utf-8")
    assert "local-only" in page
    assert "is needed: without it" in page or "changes the accuracy at a site beyond its interval" in page
    assert "have a copy among the training images" in page
    plan = Path("a/plan.yaml").read_text("utf-8")
    assert "split: grouped" in plan
    code, _, err = cli("run", "a/plan.yaml", "engine.workers=1", "out=b")
    assert code == 0, err
    assert json.loads(Path("b/result.json").read_text("utf-8"))["accuracy"] == result["accuracy"]


def test_the_report_says_which_sites_and_heads_would_change_the_answer() -> None:
    from mooring.record import HeadAccuracy, RunJudgement, SiteAccuracy
    from mooring.reports._sections.sites import changes

    rows = (SiteAccuracy("north", 100, 60, 90, 58), SiteAccuracy("south", 100, 80, 70, 30))
    heads = (HeadAccuracy("within-class (own)", 0.83, 0.8), HeadAccuracy("ridge", 0.8, 0.8))
    assert list(changes(RunJudgement((), rows, heads))) == [
        "At north its own images alone are better: 0.900, fused 0.600.",
        "south is needed: without it 0.300 there, fused 0.800.",
        "Of the heads, within-class (own) is expected best (0.830, ridge 0.800).",
    ]
    assert "No site alone" in next(changes(RunJudgement((), (SiteAccuracy("north", 100, 60, 61, 59),))))
