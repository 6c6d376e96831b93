"""Whatever a log looks like, its method is the right one or unknown, never another one."""

import codecs
import re

import pytest
from old_logs import STYLES

from mooring.errors import StoreError
from mooring.notes._identify import identify
from mooring.notes._log_reader import read_logs

HEADERS = {style.header for style in STYLES.values()}
# Logs without a line of their own, under accuracy lines of V7: only the header tells these versions apart.
UNNUMBERED = {"V4 of September", "V4, latest", "V5 of September", "V6", "V7"}
TWINS = {STYLES[name].header for name in UNNUMBERED}

PREFIXES = {
    "nothing": "",
    "level": "[INFO] ",
    "standard library": "INFO:root:",
    "comma": "{month}-05 19:31:58,123 - INFO - ",
    "loguru": "{month}-05 19:31:58.123 | INFO     | train:main:12 - ",
    "progress bar": " 25%|##5       | 1/4 [00:12<00:36, 12.10s/it]{month}-05 19:31:58 [INFO]  ",
    "colours": "\x1b[32m{month}-05 19:31:58\x1b[0m [INFO]  ",
    "slashes": "{month}/05 19:31:58 [INFO] ",
}
SPELLINGS = {
    "training": lambda text: text.replace("Trainning", "Training"),
    "letters": lambda text: text.replace("λ", "lambda"),
    "blanks": lambda text: re.sub(r"(?<=[a-z]) (?=[A-Za-z\d])", "   ", text),
    "colons": lambda text: re.sub(r"(Oneshot\w+): ", r"\1 ", text),
    "no colons": lambda text: re.sub(r"(Oneshot\w+)( |$)", r"\1:\2", text, flags=re.MULTILINE),
    "capitals": lambda text: re.sub(r"(?i)\b(round|client|raw|effective|oneshot)", lambda m: m[0].upper(), text),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "trailing blanks": lambda text: text.replace("\n", "  \n"),
}
ENCODINGS = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "byte order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "GBK": lambda text: text.encode("gbk"),
}
styles = pytest.mark.parametrize("name", STYLES)


@pytest.fixture
def identified(tmp_path):
    """Every experiment of a log, identified."""

    def read(content):
        path = tmp_path / "x.log"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return [identify(logged) for logged in read_logs(path)]

    return read


def wrong(style, found):
    """Identified as something else than it is."""
    return [one.method for one in found if one.known != "unknown" and one.method != style.method]


@styles
def test_every_kind_of_log_is_identified(name, identified):
    (one,) = identified(STYLES[name].text())
    assert (one.method, one.known) == (STYLES[name].method, STYLES[name].known), one.evidence
    assert one.evidence


@styles
def test_spelling_does_not_matter(name, identified):
    style = STYLES[name]
    for change in SPELLINGS.values():
        (one,) = identified(change(style.text()))
        assert one.method == style.method, (change, one.evidence)
    for encode in ENCODINGS.values():
        (one,) = identified(encode(style.text()))
        assert one.method == style.method, one.evidence


@styles
def test_what_stands_before_a_line_does_not_matter(name, tmp_path):
    style, path = STYLES[name], tmp_path / "x.log"
    path.write_text(style.text(), "utf-8")
    (whole,) = read_logs(path)
    for prefix in PREFIXES.values():
        path.write_text(style.text(prefix), "utf-8")
        (logged,) = read_logs(path)
        assert logged.fused == whole.fused
        assert logged.said == whole.said
        assert not wrong(style, [identify(logged)])
        assert "{month}" not in prefix or identify(logged) == identify(whole)


@styles
def test_a_log_that_lacks_something_is_the_same_or_unknown(name, identified):
    style = STYLES[name]
    said = list(style.messages())
    first = next(i for i, line in enumerate(said) if line.startswith("Round"))
    for left in (said[1:], [line for line in said if line != style.header], said[first:]):
        assert not wrong(style, identified(style.text(messages=left)))


@pytest.mark.parametrize("name", [name for name, style in STYLES.items() if style.known != "unknown"])
def test_a_log_that_was_cut_off_is_the_same_or_unknown_or_rejected(name, identified):
    said = list(STYLES[name].messages())
    for end in range(1, len(said), 3):
        try:
            found = identified(STYLES[name].text(messages=said[:end]))
        except StoreError as error:
            assert "\n" not in str(error)
            continue
        assert not wrong(STYLES[name], found), end


@styles
def test_a_wrong_header_is_not_believed(name, identified):
    style = STYLES[name]
    for header in HEADERS - {style.header} - (TWINS if name in UNNUMBERED else set()):
        said = [header if line == style.header else line for line in style.messages()]
        found = wrong(style, identified(style.text(messages=said)))
        assert not found, (header, found)


@styles
def test_a_wrong_name_in_the_accuracy_is_not_believed(name, identified):
    style = STYLES[name]
    for label in ("of OursV9+SimpleFeatureServer", "of OursV12+SimpleFeatureServer", "of Ensemble", "of Something"):
        text = re.sub(r"The test accuracy .*: ", f"The test accuracy {label}: ", style.text())
        assert not wrong(style, identified(text)), label


def test_logs_one_after_another_are_told_apart(identified):
    apart = list(STYLES.values())
    found = identified("".join(style.text() for style in apart))
    assert [one.method for one in found] == [style.method for style in apart]
    without = ["".join(style.text(messages=list(style.messages())[1:])) for style in apart]  # a header begins one too
    assert len(identified("".join(without))) == len(apart)
    twice = STYLES["V12"].text() + STYLES["V12"].text(messages=list(STYLES["V12"].messages())[9:])
    assert len(identified(twice)) == 2  # and so does round 0


@pytest.mark.parametrize("algorithm", ["OursV12", "oneshot_ours_v12", "ours-V12"])
def test_a_configuration_that_names_the_algorithm_counts_where_no_header_does(identified, algorithm):
    said = [line for line in STYLES["V12"].messages() if "V12" not in line]
    said[0] = said[0].replace("{'dataset'", f"{{'algorithm': '{algorithm}', 'dataset'", 1)
    (one,) = identified(STYLES["V12"].text(messages=said))
    assert (one.method, one.known) == ("v12-as-run", "inferred")
    said[0] = said[0].replace(algorithm, "FedAvg")
    (one,) = identified(STYLES["V12"].text(messages=said))
    assert (one.method, one.version) == ("unknown", None)


def test_a_method_that_names_itself_in_every_round_is_one_experiment(identified):
    style = STYLES["OTFusion"]
    said = [part for line in style.messages() for part in ([line, "OTFusion: layers"] if "Finish" in line else [line])]
    assert [one.method for one in identified(style.text(messages=said))] == ["otfusion"]
    assert [one.method for one in identified(2 * style.text(messages=said[1:]))] == ["otfusion"] * 2


@pytest.mark.parametrize("prefix", ["", "{month}-05 19:31:58 [INFO]  "])
def test_a_configuration_that_is_cut_off_takes_nothing_else_with_it(tmp_path, prefix):
    style, path = STYLES["V12"], tmp_path / "x.log"
    said = list(style.messages())
    path.write_text(style.text(prefix, [said[0][:200], *said[1:]]), "utf-8")
    (logged,) = read_logs(path)
    assert (logged.configured, len(logged.said), logged.samples) == ("it is cut off", 8, 50000)
    assert identify(logged).version == "V12"
