"""The report as one HTML file that needs nothing else: no network, no neighbours, no server."""

from mooring.reports.page.build import write_html

__all__ = ["write_html"]
