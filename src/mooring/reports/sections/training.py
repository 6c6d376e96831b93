"""What happens in training: where lambda goes, and the two losses that it balances."""

from mooring.reports.report_data import ReportData
from mooring.reports.section import Section
from mooring.reports.sections.lambdas import lambdas
from mooring.reports.sections.losses import losses


def training(data: ReportData) -> Section:
    """Both in one place: a loss that falls is why a lambda rises."""
    pull, fall = lambdas(data), losses(data)
    both = " and ".join(part.title for part in (pull, fall) if not part.empty).replace("and Losses", "and losses")
    lead = " ".join(part.lead for part in (pull, fall) if not part.empty) + data.not_shown
    return Section("training", both, lead, (*pull.figures, *fall.figures), (*pull.tables, *fall.tables))
