"""The doctor: reads what happened and says what is wrong, with evidence and a remedy. Never writes."""

from mooring.doctor import client_checks, fusion_checks, lambda_checks
from mooring.doctor.case import Case, case_of, case_of_log, read_case, sound
from mooring.doctor.finding import Diagnosis, Finding
from mooring.doctor.lambda_checks import distance


def examine(case: Case) -> Diagnosis:
    """All findings, the ill ones first, then by client."""
    case = sound(case)
    found = [
        *lambda_checks.check(case),
        *fusion_checks.check(case),
        *client_checks.check(case),
    ]
    found += lambda_checks.order(found)
    found.sort(key=lambda finding: (not finding.ill, finding.client is None, finding.client or 0))
    apart = {
        client.client: distance([row for row in client.rounds if row.lambda_felt]) for client in case.record.clients
    }
    known = {client: value for client, value in apart.items() if value is not None}
    return Diagnosis(case.title, case.method, tuple(found), case.record.remarks, known)


__all__ = ["Case", "Diagnosis", "Finding", "case_of", "case_of_log", "examine", "read_case"]
