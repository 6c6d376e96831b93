"""Bank methods run like every other."""

import json

import numpy as np
import pytest

SHORT = ("training.rounds=2", "training.local_epochs=2", "bank.teacher_epochs=2", "out=here")


def test_a_bank_is_a_download_and_the_same_bytes_for_any_number_of_workers(run_json):
    shorter = ("training.rounds=1", *SHORT[1:])
    one = run_json("method=v6", *shorter, "engine.workers=1")
    two = run_json("method=v6", *shorter, "engine.workers=2", "--again")
    assert [upload["sha256"] for upload in one["uploads"]] == [upload["sha256"] for upload in two["uploads"]]
    assert one["download_bytes"] == 144 * 32 * 4
    assert one["partition"]["public"] == 144
    assert sum(one["partition"]["sizes"]) == 1437 - 144


@pytest.mark.parametrize("method", ["two-stage-aligned", "curriculum", "adaptive-gradient", "memory-bank"])
def test_other_bank_methods_end_with_a_number(method, run_json):
    bank = () if method == "memory-bank" else ("bank.teacher_epochs=1",)
    short = ("training.rounds=1", "training.local_epochs=2", "out=here", "engine.workers=1")
    result = run_json(f"method={method}", *short, *bank)
    assert 0.1 < result["accuracy"] <= 1
    assert (result["download_bytes"] > 0) == (method != "memory-bank")


def test_the_bank_loss_is_recorded_before_and_after_the_switch(run_json, tmp_path):
    run_json("method=v6", *SHORT, "engine.workers=1", "weight.kind=probed")
    events = [json.loads(line) for line in (tmp_path / "here/events.jsonl").read_text().splitlines()]
    epochs = [event for event in events if event["event"] == "epoch" and event["client"] == 2]
    assert ["bank-contrast" in event["terms"] for event in epochs] == [True, False, True, False]
    assert [event["align_loss"] is not None for event in epochs] == [False, True, False, True]
    rounds = [event for event in events if event["event"] == "round"]
    assert all(-1 <= event["gradient_cosine"] <= 1 and event["gradient_ratio"] > 0 for event in rounds)
    assert all(0 < event["feature_scatter"] <= 1 for event in rounds if event.get("feature_scatter") is not None)
    assert any(event.get("feature_scatter") is not None for event in rounds)


def test_public_images_may_come_from_another_source(run_json, tmp_path):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (60, 12, 12, 3), dtype=np.uint8), np.arange(60) % 3
    np.savez(tmp_path / "p.npz", train_images=images, train_labels=labels, test_images=images, test_labels=labels)
    public = ("data.public.source=arrays", "data.public.root=p.npz")
    result = run_json("method=v6", *SHORT, *public, "engine.workers=1")
    assert sum(result["partition"]["sizes"]) == 1437
    assert result["download_bytes"] == 60 * 32 * 4


def test_short_names_reach_the_note_settings(cli):
    code, _, _ = cli("doctor", "method=v6", "alignment_epochs=2", "bank.size=100", "--json")
    assert code == 0
    code, _, _ = cli(
        "partition",
        "method=curriculum",
        "contrastive_loss_weight_initial=0.2",
        "contrastive_loss_weight_final=2",
        "--json",
    )
    assert code == 0


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["method=v6", "bank.size=0"], "method.bank.size=0: must be 1 or more"),
        (["method=v6", "bank=null"], "the term bank-contrast needs bank and there is none"),
        (["method=v6", "data.public_ratio=0"], "data.public_ratio=0.0: the feature bank of v6 has no public images"),
        (["method=v6", "data.public_ratio=1"], "data.public_ratio=1: must be 0 or more, below 1"),
        (["method=v6", "bank.teacher_epochs=-1"], "method.bank.teacher_epochs=-1: must be 0 or more"),
        (["method=two-stage-aligned", "bank.labelled=false"], "needs bank labels"),
        (["method=memory-bank", "method.client.memory=0"], "the term memory-contrast needs memory"),
        (["method=v4", "bank.size=10"], "method.bank.size=10: this method has no such part"),
        (["method=v7", "alignment_epochs=2"], "it belongs to v6"),
    ],
)
def test_a_bank_that_cannot_be_is_rejected(cli, settings, told, tmp_path):
    code, out, err = cli("run", *settings)
    assert (code, out) == (2, "")
    assert told in err
    assert not (tmp_path / "runs").exists()


def test_a_bank_larger_than_the_public_set_says_so(cli):
    _, _, err = cli("run", "method=v6", *SHORT, "engine.workers=1")
    assert "bank.size=4096 is more than the 144 public images: the bank holds all of them" in err
