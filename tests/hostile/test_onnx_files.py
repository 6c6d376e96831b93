"""An ONNX file may come from anybody: what is no plain encoder is refused in one line, before anything of it runs."""

import numpy as np
import pytest
from onnx_files import averages, onnx, small_encoder, written

from mooring.errors import ModelError
from mooring.models import _encoder_reference as encoder_reference
from mooring.models._feature_maps import OnnxFile

node = onnx.helper.make_node


def nan_for_all(path):
    nothing = {"zero": np.zeros(1, np.float32)}
    return written(
        path, [node("Div", ["zero", "zero"], ["nan"]), node("Mul", ["x", "nan"], ["y"]), *averages("y")], nothing
    )


def external(path):
    small_encoder(path)
    model = onnx.load(path)
    onnx.external_data_helper.convert_model_to_external_data(model, size_threshold=0, location="../passwd")
    for tensor in model.graph.initializer:
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
    path.write_bytes(model.SerializeToString())
    return path


def looping(path):
    body = onnx.helper.make_graph(
        [node("Identity", ["c"], ["d"])],
        "body",
        [
            onnx.helper.make_tensor_value_info(n, t, [])
            for n, t in (("i", onnx.TensorProto.INT64), ("c", onnx.TensorProto.BOOL))
        ],
        [onnx.helper.make_tensor_value_info("d", onnx.TensorProto.BOOL, [])],
    )
    loop = node("Loop", ["", "true"], [], body=body)
    return written(path, [loop, *averages()], {"true": np.array(True)})


def cut(path):
    whole = small_encoder(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def raw(data):
    def make(path):
        path.write_bytes(data)
        return path

    return make


FILES = {
    "nothing": (raw(b""), "holds no ONNX graph"),
    "rubbish": (raw(b"\x00\xff" * 500), "is not an ONNX file"),
    "a picture": (raw(b"\x89PNG\r\n\x1a\n" + bytes(100)), "is not an ONNX file"),
    "half a file": (cut, "is not an ONNX file|holds no ONNX graph|cannot run it"),
    "code of its own": (
        lambda path: written(path, [node("Evil", ["x"], ["means"], domain="my.ops")], domains=("", "my.ops")),
        "uses 'my.ops' 'Evil', which is not a standard operator",
    ),
    "an operator that is none": (
        lambda path: written(path, [node("Evil", ["x"], ["means"])]),
        "onnxruntime cannot run it",
    ),
    "weights elsewhere": (external, "keeps weights in other files"),
    "a loop": (looping, "uses Loop"),
    "two inputs": (
        lambda path: written(path, averages(), inputs={"x": ["N", 3, 8, 8], "y": ["N", 3, 8, 8]}),
        "not one batch of images",
    ),
    "texts": (lambda path: written(path, averages(), inputs={"x": ["N", 12]}), r"takes x \[None, 12\], not one batch"),
    "five channels": (lambda path: written(path, averages(), inputs={"x": ["N", 5, "H", "W"]}), "square images"),
    "one image at a time": (lambda path: written(path, averages(), inputs={"x": [1, 3, 8, 8]}), "any number of square"),
    "a sequence": (
        lambda path: written(
            path,
            [node("Flatten", ["x"], ["f"], axis=2), node("Unsqueeze", ["f", "a"], ["means"])],
            {"a": np.array([0])},
        ),
        r"output 'means' is float32 \(1, 3, 9216\) for one image",
    ),
    "too many numbers": (
        lambda path: written(path, [node("Flatten", ["x"], ["means"])]),
        "gives 27648 numbers for an image; at most 8192",
    ),
    "not a number": (nan_for_all, "output 'means' is not finite for a grey image"),
}


@pytest.fixture(scope="module")
def blueprint(make_job):
    return make_job().blueprint


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_encoder_is_rejected_in_one_line(name, blueprint, tmp_path, capfd):
    make, match = FILES[name]
    path = make(tmp_path / "e.onnx")
    for attempt in (OnnxFile(str(path)).size, OnnxFile(str(path)).build):
        with pytest.raises(ModelError, match=match) as rejected:
            attempt(blueprint)
        assert len(str(rejected.value).splitlines()) == 1
        assert rejected.value.remedy
    assert capfd.readouterr().err == ""


def test_a_file_that_is_too_large_is_not_read(blueprint, tmp_path, monkeypatch):
    path = small_encoder(tmp_path / "e.onnx")
    monkeypatch.setattr(encoder_reference, "MOST_BYTES", 100)
    with pytest.raises(ModelError, match=r"e.onnx: has \d+ bytes; at most 100"):
        OnnxFile(str(path)).size(blueprint)


def test_settings_that_the_file_cannot_meet_are_rejected(blueprint, tmp_path):
    path = str(small_encoder(tmp_path / "e.onnx"))
    for layers, match in [
        (("nowhere",), "encoder.layers=nowhere: is not an output of this encoder; valid: maps, means"),
        (("maps@9",), "encoder.layers=maps@9: its grid must be 1 to 8; write maps@2"),
        (("maps", "maps"), "names a layer twice"),
    ]:
        with pytest.raises(ModelError, match=match):
            OnnxFile(path, layers=layers).size(blueprint)
    fixed = str(written(tmp_path / "f.onnx", averages(), inputs={"x": ["N", 3, 8, 8]}))
    assert OnnxFile(fixed).size(blueprint) == 3
    with pytest.raises(ModelError, match=r"encoder.pixels=96: the file takes 8; leave it out"):
        OnnxFile(fixed, pixels=96).size(blueprint)
    with pytest.raises(ModelError, match=r"encoder=sha256:.*: is known by its hash alone"):
        OnnxFile("sha256:" + "a" * 64 + ":5").build(blueprint)
