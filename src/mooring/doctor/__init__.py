"""The doctor: reads what happened and says what is wrong, with evidence and a remedy. Never writes."""

from dataclasses import replace

from mooring.doctor import annealing_checks, client_checks, fusion_checks, lambda_checks
from mooring.doctor.case import Case, case_of, case_of_log, read_case, sound
from mooring.doctor.course import distance
from mooring.doctor.finding import Diagnosis, Finding, FindingEvidence
from mooring.doctor.remedies import remedy_for


def examine(case: Case) -> Diagnosis:
    """All findings, the ill ones first, each with the first remedy that was seen to help and applies."""
    found = list(client_checks.not_numbers(case))
    case = sound(case)
    for check in (lambda_checks.check, annealing_checks.check, fusion_checks.check, client_checks.check):
        found += check(case)
    findings = [with_remedy(finding, case) for finding in found]
    findings.sort(key=lambda finding: not finding.ill)
    apart = {
        client.client: distance([row for row in client.rounds if row.lambda_felt]) for client in case.record.clients
    }
    known = {client: value for client, value in apart.items() if value is not None}
    sites = {client.client: client.site for client in case.record.clients}
    return Diagnosis(case.title, case.method, tuple(findings), case.record.remarks, known, sites)


def with_remedy(finding: Finding, case: Case) -> Finding:
    remedy = remedy_for(finding.kind, case)
    return finding if remedy is None else replace(finding, remedy=remedy.command(case), support=remedy.support)


__all__ = ["Case", "Diagnosis", "Finding", "FindingEvidence", "case_of", "case_of_log", "examine", "read_case"]
