"""Lines as the published code prints them."""

LINES = """2025-01-01 00:00:00 [INFO]  config: {config}
2025-01-01 00:00:00 [INFO]  {label}: something
{body}"""
CONFIG = str(
    {
        "dataset": {"train_batch_size": 512, "num_classes": 10},
        "server": {"lr": 0.05, "momentum": 0.9, "model_name": "resnet18"},
    }
)


def log_of(label, rounds):
    return LINES.format(
        config=CONFIG, label=label, body="\n".join(f"2025-01-01 00:00:01 [INFO]  {line}" for line in rounds)
    )


def v11_rounds():
    for r, (a, lam) in enumerate([(1.0, 11.9), (0.7, 17.0), (0.4, 29.8), (0.1, 119.0)]):
        yield f"Round {r} starts---| Annealing Factor for this round: {a}"
        yield "Client 0 Starts Local Trainning--------|"
        yield f"Epoch {r} loss: 915.8; train accuracy: 0.893; test accuracy: 0.{30 + r}"
        yield f"Client 0 Learned Sigmas -> L_local: 3.4238, L_align: {3.4238 / lam**0.5:.4f}. Effective Lambda: {lam}"
        yield f"The test accuracy of OursV11+SimpleFeatureServer: 0.3{r}"


def v10_rounds():
    for r, lam in enumerate([16.7670, 8.2207, 8.7494]):
        yield f"Round {r} starts--------|"
        yield "Client 0 Starts Local Trainning--------|"
        yield f"Epoch {r} loss: 915.8; train accuracy: 0.893; test accuracy: 0.30"
        yield f"Client 0 Learned Sigmas -> L_local: 3.0, L_align: {3.0 / lam**0.5:.4f}. Effective Lambda: {lam}"
        yield f"The test accuracy (with prototype) of OneShotOurs+Ensemble: 0.4{r}"
