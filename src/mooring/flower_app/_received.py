"""What nodes have said in answer to one job."""

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mooring.engines.flower.messages import parse_answer
from mooring.errors import FederationError, UploadError, one_line
from mooring.federation import Identity, JobFile, problem_of, read_files, write_container
from mooring.flower_app._asking import Reply

LOG = logging.getLogger("flwr")
LONGEST = 500  # letters of what a node may say in the log


@dataclass
class Received:
    """The uploads that arrived, each on disk before anything else is done with it, and why others will not come."""

    job: JobFile
    folder: Path
    identity: Identity
    files: dict[str, str] = field(default_factory=dict)  # site -> SHA-256 of its file
    paths: set[Path] = field(default_factory=set)  # two for a site for which two nodes have spoken
    sites: dict[int, str] = field(default_factory=dict)  # node -> the site that it speaks for
    rejected: dict[str, str] = field(default_factory=dict)  # site -> why, in its words or ours

    @property
    def missing(self) -> list[str]:
        return [site for site in self.job.site_names if site not in self.files]

    @property
    def rejections(self) -> dict[str, str]:
        """Missing sites whose node has said something else than its upload."""
        return {site: self.rejected[site] for site in self.missing if site in self.rejected}

    @property
    def silent(self) -> list[str]:
        """Missing sites from which nothing was heard."""
        return [site for site in self.missing if site not in self.rejected]

    def read(self) -> None:
        """What an earlier run left."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise FederationError(
                f"{self.folder}: cannot be made ({error.strerror})", "choose another out in --run-config"
            ) from None
        for path in sorted(self.folder.glob("*.mooring")):
            self._check(path)

    def take(self, reply: Reply) -> None:
        """What one node says: its upload, that it was here before, or why there is none."""
        node, message = reply.node, reply.message
        if message.has_error():
            reason = one_line(str(message.error.reason))[:LONGEST]
            LOG.warning("mooring: %s: %s; asked again", self._called(node, reply.name), reason)
            return
        try:
            answer = parse_answer(message)
        except UploadError as error:
            LOG.error("mooring: %s", error)
            return
        site = self.sites[node] = one_line(answer.words.get("site", ""))[:LONGEST]
        for data in answer.uploads.values():
            draft = self.folder / f".{node}.draft"
            write_container(draft, data)
            problem = self._check(draft)
            if problem:
                draft.unlink()
                self._reject(node, f"set aside: {problem}")
            else:
                LOG.info("mooring: %s: %d bytes", site, len(data))
        if "refused" in answer.words:
            self._reject(node, answer.words["refused"])

    def _called(self, node: int, registered: str = "") -> str:
        """`node 7246 (north)`: by the site that it speaks for, or else as it was registered."""
        name = self.sites.get(node) or one_line(registered)[:LONGEST]
        return f"node {node} ({name})" if name else f"node {node}"

    def _reject(self, node: int, reason: str) -> None:
        message = self.rejected[self.sites[node]] = one_line(reason)[:LONGEST]
        LOG.error("mooring: %s: %s", self._called(node), message)

    def _check(self, path: Path) -> str:
        """Why a file is no answer to this job; one that is gets the name of its site."""
        files, aside = read_files(self.job, [path], self.identity.key, datetime.now(UTC))
        for decision in aside:
            return decision.reason
        [file] = files
        problem, site = problem_of(self.job, file), file.manifest.site
        if problem is None and file.manifest.masked and self.files.get(site, file.sha256) != file.sha256:
            problem = "a second masked file of this site: both together would tell what they hold"
        if problem is None:
            place = path.replace(self.folder / f"{site}-{file.sha256[:8]}.mooring")
            self.paths.add(place)
            self.files[site] = file.sha256
        return problem or ""
