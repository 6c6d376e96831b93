"""Federation by file: one signed job out, one signed upload back from every site, one model. No server, no network."""

from mooring.federation.coordinator import Coordinator, Made
from mooring.federation.fuse import Decision, Terms
from mooring.federation.job_file import JobFile, read_job
from mooring.federation.keys import Identity, home, own_identity
from mooring.federation.log import Log
from mooring.federation.model_file import ModelFile, Provenance, load_model, save_model
from mooring.federation.plan import plan
from mooring.federation.train import Preview, Trained, approve, folder_of, preview, train
from mooring.federation.upload_file import UploadFile, read_upload

__all__ = [
    "Coordinator",
    "Decision",
    "Identity",
    "JobFile",
    "Log",
    "Made",
    "ModelFile",
    "Preview",
    "Provenance",
    "Terms",
    "Trained",
    "UploadFile",
    "approve",
    "folder_of",
    "home",
    "load_model",
    "own_identity",
    "plan",
    "preview",
    "read_job",
    "read_upload",
    "save_model",
    "train",
]
