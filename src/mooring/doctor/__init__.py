"""The doctor: reads what happened and says what is wrong, with evidence and a remedy. Never writes."""

from mooring.doctor import client_checks, fusion_checks, lambda_checks
from mooring.doctor.finding import Diagnosis, Finding
from mooring.doctor.history import History
from mooring.doctor.lambda_checks import distance


def examine(history: History) -> Diagnosis:
    """All findings, the ill ones first, then by client."""
    found = [
        *lambda_checks.check(history),
        *fusion_checks.check(history),
        *client_checks.check(history),
    ]
    found += lambda_checks.order(found)
    found.sort(key=lambda finding: (not finding.ill, finding.client is None, finding.client or 0))
    apart = {patient.client: distance([m for m in patient.moments if m.felt]) for patient in history.patients}
    known = {client: value for client, value in apart.items() if value is not None}
    return Diagnosis(history.title, history.method, tuple(found), history.remarks, known)


__all__ = ["Diagnosis", "Finding", "History", "examine"]
