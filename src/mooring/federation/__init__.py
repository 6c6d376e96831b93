"""Federation by file: one signed job out, one signed upload back from every site, one model. No server, no network."""

from mooring.federation._answers import Decision, problem_of, read_files
from mooring.federation._assessment import (
    Assessment,
    ClassResult,
    WithinLimits,
    assess,
    assessment_tree,
    class_results,
)
from mooring.federation._calibrate import CalibrationMade, calibrate
from mooring.federation._calibration import Calibration, Targets
from mooring.federation._container import (
    KINDS,
    Container,
    decode_container,
    file_hash,
    is_key,
    load_bytes,
    write_container,
)
from mooring.federation._coordinator import Coordinator, Made
from mooring.federation._disclosure import GramSpan, different_images, gram_spans, most_revealing
from mooring.federation._encoder import PLAN_AGAIN, EncoderKept, kept_as
from mooring.federation._explain import (
    Explained,
    class_counts,
    explain_tensors,
    sentence_of,
    small_classes,
)
from mooring.federation._fuse import Terms
from mooring.federation._job_file import JOB, LIMITS, JobFile, JobManifest, JobSite, opened_job, parse_time, read_job
from mooring.federation._judge import Judgement, Outcome, judge
from mooring.federation._kept_uploads import read_kept
from mooring.federation._keys import Identity, fingerprint, home, own_identity
from mooring.federation._leave_one_out import WithoutSite, accuracy_gain, without_each
from mooring.federation._log import Entry, Log
from mooring.federation._manifests import check_sites, manifest_as
from mooring.federation._model_file import (
    MAKE_MODEL_AGAIN,
    MODEL,
    ModelFile,
    Provenance,
    SiteShare,
    load_model,
    model_in_pieces,
    save_model,
)
from mooring.federation._onnx_export import export_onnx
from mooring.federation._personal_model import PersonalModel, personal_model, save_personal_model
from mooring.federation._plan import plan
from mooring.federation._predict import (
    ClassDistance,
    Guess,
    Prediction,
    Predictions,
    Unreadable,
    predict,
    predict_image,
    prediction_tree,
)
from mooring.federation._privacy import privacy_spent
from mooring.federation._recovery import write_recovery
from mooring.federation._rules import SiteLimits
from mooring.federation._saliency import Explanation, explain, explain_examples, explain_files, explain_image
from mooring.federation._site_rules import (
    Overlap,
    SiteRules,
    SumMember,
    key_warnings,
    read_pins,
    sum_members,
    write_pins,
)
from mooring.federation._train import Preview, Trained, approve, folder_of, preview, train
from mooring.federation._trained_on import trained_on
from mooring.federation._upload_file import SEALED, UPLOAD, UploadFile, UploadManifest, read_upload
from mooring.federation._withdrawal import WITHDRAWAL, Withdrawal
from mooring.federation._withheld_counts import WORDS, counting

__all__ = [
    "JOB",
    "KINDS",
    "LIMITS",
    "MAKE_MODEL_AGAIN",
    "MODEL",
    "PLAN_AGAIN",
    "SEALED",
    "UPLOAD",
    "WITHDRAWAL",
    "WORDS",
    "Assessment",
    "Calibration",
    "CalibrationMade",
    "ClassDistance",
    "ClassResult",
    "Container",
    "Coordinator",
    "Decision",
    "EncoderKept",
    "Entry",
    "Explained",
    "Explanation",
    "GramSpan",
    "Guess",
    "Identity",
    "JobFile",
    "JobManifest",
    "JobSite",
    "Judgement",
    "Log",
    "Made",
    "ModelFile",
    "Outcome",
    "Overlap",
    "PersonalModel",
    "Prediction",
    "Predictions",
    "Preview",
    "Provenance",
    "SiteLimits",
    "SiteRules",
    "SiteShare",
    "SumMember",
    "Targets",
    "Terms",
    "Trained",
    "Unreadable",
    "UploadFile",
    "UploadManifest",
    "Withdrawal",
    "WithinLimits",
    "WithoutSite",
    "accuracy_gain",
    "approve",
    "assess",
    "assessment_tree",
    "calibrate",
    "check_sites",
    "class_counts",
    "class_results",
    "counting",
    "decode_container",
    "different_images",
    "explain",
    "explain_examples",
    "explain_files",
    "explain_image",
    "explain_tensors",
    "export_onnx",
    "file_hash",
    "fingerprint",
    "folder_of",
    "gram_spans",
    "home",
    "is_key",
    "judge",
    "kept_as",
    "key_warnings",
    "load_bytes",
    "load_model",
    "manifest_as",
    "model_in_pieces",
    "most_revealing",
    "opened_job",
    "own_identity",
    "parse_time",
    "personal_model",
    "plan",
    "predict",
    "predict_image",
    "prediction_tree",
    "preview",
    "privacy_spent",
    "problem_of",
    "read_files",
    "read_job",
    "read_kept",
    "read_pins",
    "read_upload",
    "save_model",
    "save_personal_model",
    "sentence_of",
    "small_classes",
    "sum_members",
    "train",
    "trained_on",
    "without_each",
    "write_container",
    "write_pins",
    "write_recovery",
]
