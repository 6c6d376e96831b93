"""The report as one HTML file that needs nothing else: no network, no neighbours, no server."""

from mooring.reports.page.build import page

__all__ = ["page"]
