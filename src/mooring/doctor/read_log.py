"""A log of the published code as histories: one for each experiment in the file.

A log names its method sometimes wrongly and holds no alignment loss; methods are told apart by what the lines contain,
and what is inferred is said.
"""

from pathlib import Path

from mooring.doctor.history import History, Moment, Patient, Setting
from mooring.published import Logged, Said, read_logs


def read_log(path: Path) -> list[History]:
    """Every experiment of the file that says anything about a round."""
    logs = read_logs(path)
    several = len(logs) > 1
    return [history_of(logged, f"{path.name} #{i}" if several else path.name) for i, logged in enumerate(logs, 1)]


def history_of(logged: Logged, title: str) -> History:
    """The history, and what was inferred."""
    patients = [
        Patient(
            client,
            None,
            moments=tuple(
                moment(round_, said)
                for round_ in logged.rounds
                if (said := logged.said.get((round_, client))) and (said.accuracy is not None or said.raw is not None)
            ),
        )
        for client in logged.clients
    ]
    _, fused = logged.server
    return History(title, logged.method, tuple(patients), fused, setting_of(logged), remarks(logged))


def moment(round_: int, said: Said) -> Moment:
    a = said.factor
    return Moment(
        round_,
        base_loss=said.sigma_local**2 if said.sigma_local else None,  # at the equilibrium: sigma_local^2 = L_b
        align_loss=said.sigma_align**2 / a if said.sigma_align and a else None,  # sigma_align^2 = a L_a
        raw=said.raw,
        felt=said.felt,
        factor=a,
        accuracy=said.accuracy,
    )


def remarks(logged: Logged) -> tuple[str, ...]:
    found = ["a log holds no alignment loss: where L_a is named, it is inferred from lambda and sigma"]
    if logged.label and not logged.label.lower().endswith(logged.method):
        found.append(f"the log calls itself {logged.label}; by its content it is {logged.method}")
    if len(logged.fused) > 1:
        found.append(f"{len(logged.fused)} accuracies a round; this is '{logged.server[0]}'")
    return tuple(found)


def setting_of(logged: Logged) -> Setting:
    server, data = logged.section("server"), logged.section("dataset")
    dimension = {"resnet18": 512, "resnet34": 512}.get(str(server.get("model_name")))
    return Setting(
        None,
        server.get("lr"),
        server.get("momentum"),
        data.get("train_batch_size"),
        2,
        data.get("num_classes"),
        dimension,
    )
