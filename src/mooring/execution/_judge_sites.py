"""Accuracy of a finished run at every site: fused, personalised, local-only, without the site; and other heads."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mooring.config import ALL_CODE
from mooring.errors import FusionError
from mooring.events import Emit, silent
from mooring.execution._other_fusions import FinishedRun
from mooring.execution._prepare import point_to_encoder
from mooring.fusion import HEADS, FrozenFeatures, LinearHeadFusion, Server, can_be_personal, personalise
from mooring.processes import threads
from mooring.record import ENCODER_FILE, JUDGEMENT, HeadAccuracy, RunJudgement, SiteAccuracy, write_record
from mooring.types import Upload


def judge_sites(folder: Path, alerts: Sequence[str], emit: Emit = silent) -> RunJudgement:
    """Write `judgement.json` into the run folder. Models are made from the uploads; the test images are read once.

    Only a rule over sums can be judged like this: its local-only models follow from the same uploads.
    """
    judgement = RunJudgement(tuple(alerts))
    run = FinishedRun.open(folder, emit, trust=ALL_CODE)
    rule = run.experiment.method.fusion
    if isinstance(rule, LinearHeadFusion):
        ready = point_to_encoder(rule, folder / ENCODER_FILE)
        assert isinstance(ready, LinearHeadFusion)
        judgement = judged(run, ready, judgement)
    write_record(folder / JUDGEMENT, judgement, folder)
    return judgement


def judged(run: FinishedRun, rule: LinearHeadFusion, judgement: RunJudgement) -> RunJudgement:
    uploads, server = run.uploads(run.chosen_round(None)), run.server(rule)
    names = [run.result.site(upload.client) for upload in uploads]
    heads = [replace(rule, solver=solver) for solver in HEADS] if rule.privacy is None else []
    with threads(1):
        fused = rule(uploads, server)
        alone = [made(rule, [upload], server) for upload in uploads]
        others = [made(rule, [own for own in uploads if own is not upload], server) for upload in uploads]
        personal = personal_models(run, fused, [upload.client for upload in uploads])
        compared = [head(uploads, server) for head in heads]
        found = run.examiner.right_by_site([fused, *alone, *others, *personal, *compared])
    images, count = run.examiner.images_by_site(), len(names)
    rows = tuple(
        SiteAccuracy(
            name,
            images[name],
            found[0][name],
            None if alone[at] is None else found[1 + at][name],
            None if others[at] is None else found[1 + count + at][name],
            None if personal[at] is None else found[1 + 2 * count + at][name],
        )
        for at, name in enumerate(names)
        if name in images
    )
    table = [
        HeadAccuracy(predictor.made.cells["head"], predictor.made.expected_accuracy, row.total() / images.total())
        for predictor, row in zip(compared, found[1 + 3 * count :], strict=True)
        if predictor.made is not None and predictor.made.expected_accuracy is not None
    ]
    return replace(judgement, sites=rows, heads=tuple(sorted(table, key=lambda head: -head.expected)))


def personal_models(run: FinishedRun, fused: FrozenFeatures, clients: Sequence[int]) -> list[FrozenFeatures | None]:
    """The fused model of every site, with its own class frequencies."""
    counts = torch.tensor([run.result.partition.label_counts[client] for client in clients])
    if not can_be_personal(fused):
        return [None] * len(clients)
    return [personalise(fused, own, counts.sum(0)) if own.any() else None for own in counts]


def made(rule: LinearHeadFusion, uploads: Sequence[Upload], server: Server) -> FrozenFeatures | None:
    """The model of these uploads; None if they cannot make one, for example without any upload."""
    try:
        return rule(uploads, server) if uploads else None
    except FusionError:
        return None
