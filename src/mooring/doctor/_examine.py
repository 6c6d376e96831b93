"""All checks of a run, in order."""

from dataclasses import replace

from mooring.doctor import _annealing_checks, _client_checks, _fusion_checks, _lambda_checks
from mooring.doctor._case import Case, sound
from mooring.doctor._course import distance
from mooring.doctor._finding import Diagnosis, Finding
from mooring.doctor._remedies import remedy_for


def examine(case: Case) -> Diagnosis:
    """All findings, the ill ones first, each with the first remedy that was seen to help and applies."""
    found = list(_client_checks.not_numbers(case))
    case = sound(case)
    for check in (_lambda_checks.check, _annealing_checks.check, _fusion_checks.check, _client_checks.check):
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
