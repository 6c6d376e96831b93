"""A federation by file: one job out, one file back from every site, one model; nobody is trusted."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
import torch
from federated import CHEAP, CLASSES, IMAGES, Federated, write_sites
from nacl.signing import SigningKey
from safetensors.torch import save_file

from mooring.client import run_client
from mooring.config import load
from mooring.data._sites import InMemorySite
from mooring.errors import DataError, FederationError
from mooring.events import ClientProgress, ClientResumed
from mooring.federation._answers import read_files
from mooring.federation._container import Container, decode_container, encode, file_hash, read_container
from mooring.federation._disclosure import gram_spans
from mooring.federation._explain import class_counts, explain_tensors
from mooring.federation._fuse import Terms, fuse_uploads, sound_files
from mooring.federation._job_file import JOB, opened_job, read_job
from mooring.federation._keys import own_identity
from mooring.federation._log import Log
from mooring.federation._model_file import load_model
from mooring.federation._plan import plan
from mooring.federation._secure_job import summing, total_of
from mooring.federation._train import approve, folder_of, preview, train
from mooring.federation._upload_file import encode_file, read_upload, tensor_facts
from mooring.federation._withdrawal import WITHDRAWAL
from mooring.fusion._admit import fuse
from mooring.fusion._base import Server
from mooring.models._backbones import DigitsNet
from mooring.models._heads import RawPrototypes
from mooring.models._network import Blueprint
from mooring.processes import threads
from mooring.schema import record_tree
from mooring.uploads._codec import encode as encode_upload

NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Federated:
    """Three sites that have trained; read it, write elsewhere."""
    root = tmp_path_factory.mktemp("federation")
    write_sites(root / "images")
    federated = Federated(root)
    for site in federated.sites:
        federated.train(site)
    return federated


@pytest.fixture
def desk(made, tmp_path) -> Federated:
    """A copy of it to write into."""
    shutil.copytree(made.root, tmp_path / "desk", ignore=shutil.ignore_patterns("images"))
    federated = object.__new__(Federated)
    federated.__dict__.update(made.__dict__, root=tmp_path / "desk", job_path=tmp_path / "desk/job.mooring")
    (tmp_path / "desk/images").symlink_to(made.root / "images")
    return federated


def paths(federated: Federated, *sites: str) -> list[Path]:
    return [federated.root / f"{site}.mooring" for site in sites or federated.sites]


def forged(file, identity, **changes) -> bytes:
    """The file with other things in its manifest and upload, signed anew."""
    upload = replace(file.upload, **{key: changes.pop(key) for key in ("tensors", "client", "round") if key in changes})
    facts = {name: tensor_facts(tensor) for name, tensor in upload.tensors.items()}
    return encode_file(replace(file.manifest, tensors=facts, **changes), upload, identity.key)


def reasons(done) -> dict[str, str]:
    return {row.site: row.reason for row in done.fused.decisions if row.verdict == "set aside"}


class TestJob:
    def test_a_job_builds_the_same_work_order_everywhere(self, made):
        (experiment,) = load(None, ["data.source=image_folder", "training.snapshots=last", *made.words])
        job = made.job
        assert job.work.sha256 == job.manifest.work
        assert job.experiment.method == experiment.method
        assert job.work.blueprint.classes == CLASSES
        assert str(made.root) not in made.job_path.read_bytes().decode("latin-1")

    def test_two_jobs_of_the_same_words_are_two_jobs(self, made):
        first, second = (opened_job(decode_container(made.planned(), JOB), "job") for _ in range(2))
        assert first.work.sha256 == second.work.sha256
        assert first.sha256 != second.sha256

    def test_a_job_whose_words_build_something_else_is_rejected(self, made):
        held = decode_container(made.job_path.read_bytes(), JOB)
        other = dict(held.manifest) | {"experiment": dict(held.manifest["experiment"]) | {"seed": 2}}
        with pytest.raises(FederationError, match="another client job"):
            opened_job(decode_container(encode(JOB, other, key=made.coordinator.identity.key), JOB), "job")

    def test_a_job_brings_no_code(self, made):
        held = decode_container(made.job_path.read_bytes(), JOB)
        method = {"name": "os:system"}
        other = dict(held.manifest) | {"experiment": dict(held.manifest["experiment"]) | {"method": method}}
        with pytest.raises(FederationError, match="not part of mooring"):
            opened_job(decode_container(encode(JOB, other, key=made.coordinator.identity.key), JOB), "job")

    @pytest.mark.parametrize("part", ["data", "model", "method"])
    def test_a_job_opens_no_file_of_a_site(self, made, part):
        held = decode_container(made.job_path.read_bytes(), JOB)
        tree = dict(held.manifest["experiment"])
        named = tree | {part: tree[part] | {"map": {"kind": "onnx-file", "path": "/dev/zero"}}}
        other = dict(held.manifest) | {"experiment": named}
        with pytest.raises(FederationError, match="names the file '/dev/zero'"):
            opened_job(decode_container(encode(JOB, other, key=made.coordinator.identity.key), JOB), "job")

    def test_an_encoder_trained_on_public_images_travels_beside_the_job(self, made, tmp_path):
        network = Blueprint(DigitsNet(), RawPrototypes(), (1, 16, 16), CLASSES, (0.5,), (0.5,)).build(torch.Generator())
        save_file({n: t.contiguous() for n, t in network.encoder.state_dict().items()}, tmp_path / "e.safetensors")
        words = ["method=public-encoder", "data.source=image_folder", "data.size=16", "data.channels=1"]
        words += ["model=digits_net", "encoder.beside=null", "training.snapshots=last"]
        (untrained,) = load(None, words)
        with pytest.raises(FederationError, match=r"needs public images; train its encoder with mooring run, then"):
            plan(untrained, CLASSES, made.sites, made.coordinator.identity)
        (experiment,) = load(None, [*words, f"encoder.path={tmp_path}/e.safetensors"])
        data, job = plan(experiment, CLASSES, made.sites, made.coordinator.identity, minimum=5)
        (tmp_path / "job.mooring").write_bytes(data)
        digest = sha256((tmp_path / "e.safetensors").read_bytes()).hexdigest()
        assert (job.manifest.encoder, str(tmp_path).encode() in data) == (f"sha256:{digest}", False)
        with pytest.raises(FederationError, match="--encoder FILE"):
            read_job(tmp_path / "job.mooring")
        opened = read_job(tmp_path / "job.mooring", f"{tmp_path}/e.safetensors")
        upload = made.train("north", opened, "public.mooring")
        fused = fuse_uploads(opened, [read_upload(upload)], Terms())
        assert [row.verdict for row in fused.decisions] == ["used", "missing", "missing"]

    def test_an_encoder_in_a_file_is_known_by_its_content(self, made, tmp_path):
        network = made.job.work.blueprint.build(torch.Generator())
        state = {name: tensor.contiguous() for name, tensor in network.encoder.state_dict().items()}
        save_file(state, tmp_path / "own.safetensors")
        words = ["data.source=image_folder", *made.words[:-1], f"encoder={tmp_path}/own.safetensors"]
        (experiment,) = load(None, words)
        data, job = plan(experiment, CLASSES, ["north"], made.coordinator.identity)
        assert str(tmp_path) not in data.decode("latin-1")
        (tmp_path / "own.safetensors").rename(tmp_path / "there.safetensors")
        again = opened_job(decode_container(data, JOB), "job", str(tmp_path / "there.safetensors"))
        assert again.work.sha256 == job.work.sha256
        with pytest.raises(FederationError, match="--encoder FILE"):
            opened_job(decode_container(data, JOB), "job")
        with pytest.raises(FederationError, match="not the file of this job"):
            opened_job(decode_container(data, JOB), "job", str(made.job_path))

    def test_a_job_that_calls_its_method_otherwise_is_rejected(self, made):
        """A site that approves sums over features must not train a network."""
        held = decode_container(made.job_path.read_bytes(), JOB)
        for name in ("v7", "mooring"):
            lie = encode(JOB, {**held.manifest, "method": name}, key=made.coordinator.identity.key)
            with pytest.raises(FederationError, match="names another method than the one it builds"):
                opened_job(decode_container(lie, JOB), "job")

    def test_a_job_that_nobody_signed_is_rejected(self, made):
        held = decode_container(made.job_path.read_bytes(), JOB)
        with pytest.raises(FederationError, match="is not signed"):
            opened_job(decode_container(encode(JOB, held.manifest), JOB), "job")

    @pytest.mark.parametrize(
        "name", ["../north", "a/b", "a\\b", "", "nul", "CON.x", "-rf", ".", "x" * 65, "a\nb", "n."]
    )
    def test_no_name_of_a_site_leads_anywhere(self, made, name):
        (experiment,) = load(None, ["data.source=image_folder", *made.words])
        with pytest.raises(FederationError, match="not a valid site name"):
            plan(experiment, CLASSES, ["south", name], made.coordinator.identity)

    @pytest.mark.parametrize(
        ("classes", "sites", "told"),
        [
            (("a",), ("n",), "at least two"),
            (("a", "A"), ("n",), "given twice"),
            (("a", "b\x1b[2J"), ("n",), "not a valid class name"),
            (("a", "b"), ("n", "N"), "given twice"),
            (("a", "b"), (), "sites: are 0"),
        ],
    )
    def test_names_are_lines_and_nobodys_twice(self, made, classes, sites, told):
        (experiment,) = load(None, ["data.source=image_folder", *made.words])
        with pytest.raises(FederationError, match=told):
            plan(experiment, classes, sites, made.coordinator.identity)

    @pytest.mark.parametrize("method", ["local-only", "centralised", "v6"])
    def test_a_method_that_needs_more_than_sites_have_is_rejected(self, made, method):
        (experiment,) = load(None, ["data.source=image_folder", f"method={method}"])
        with pytest.raises(FederationError, match="choose another method"):
            plan(experiment, CLASSES, ["north"], made.coordinator.identity)

    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            ({"keys": {"west": "a" * 64}}, "not a site of this job"),
            ({"keys": {"north": "A" * 64}}, "not a public key"),
            ({"minimum": 0}, "below 1"),
            ({"now": NOW, "expires": NOW}, "is over"),
        ],
    )
    def test_mistakes_of_a_plan_are_told(self, made, asked, told):
        with pytest.raises(FederationError, match=told):
            made.planned(**asked)


class TestTraining:
    def test_the_upload_is_what_a_client_of_a_simulation_sends_to_the_byte(self, made):
        job, file = made.job, read_upload(made.root / "south.mooring")
        images = folder_of(job, "south", made.data("south")).shard()
        (upload,) = run_client(job.work, InMemorySite(1, images, "south"), lambda _: None)
        assert encode_upload(file.upload) == encode_upload(upload)
        assert class_counts(file.upload.tensors) == IMAGES["south"]
        assert file.signer == made.identity("south").public

    def test_nothing_is_trained_before_it_is_approved(self, desk):
        job = opened_job(decode_container(desk.planned(), JOB), "job")
        place = folder_of(job, "north", desk.data("north"))
        with pytest.raises(FederationError, match="not approved"):
            train(job, place, desk.root / "x.mooring", desk.identity("north"), desk.log("north"))
        approve(job, desk.log("north"))
        approve(job, desk.log("north"))
        assert [entry.job for entry in desk.log("north").entries()].count(job.sha256) == 1

    def test_nothing_is_trained_for_a_job_that_is_over(self, desk):
        job = opened_job(decode_container(desk.planned(now=NOW, expires=NOW + timedelta(days=1)), JOB), "job")
        with pytest.raises(FederationError, match="expired"):
            desk.train("north", job, "late.mooring", now=NOW + timedelta(days=1))
        assert not (desk.root / "late.mooring").exists()

    def test_a_file_that_would_be_rejected_is_not_made(self, desk):
        approve(desk.job, desk.log("north"))
        place = folder_of(desk.job, "north", desk.data("north"))
        with pytest.raises(FederationError, match="wants the key"):
            train(desk.job, place, desk.root / "x.mooring", desk.identity("east"), desk.log("north"))
        with pytest.raises(FederationError, match="not in this job"):
            folder_of(desk.job, "west", desk.data("north"))

    def test_a_small_class_is_not_sent_unless_the_site_says_so(self, desk):
        job = opened_job(decode_container(desk.planned(minimum=8), JOB), "job")
        with pytest.raises(DataError, match=r"five \(6\).*give single images away"):
            desk.train("north", job, "small.mooring")
        path = desk.train("north", job, "small.mooring", allow_small=True)
        assert read_upload(path).manifest.small_classes

    def test_a_check_says_what_would_happen_and_writes_nothing(self, desk):
        before = sorted(desk.root.rglob("*"))
        found = preview(desk.job, folder_of(desk.job, "south", desk.data("south")))
        assert (found.missing, found.unmatched, found.images) == (("one",), (), sum(IMAGES["south"]))
        assert found.seconds > 0
        assert found.bytes >= read_upload(desk.root / "south.mooring").upload.nbytes
        assert "35 images for 64 features: images can be rebuilt" in found.disclosure  # as inspect says afterwards
        assert sorted(desk.root.rglob("*")) == before


class TestFolders:
    def place(self, made, data, mapping=None):
        return folder_of(made.job, "north", data, mapping)

    def test_a_job_says_which_folders_mean_which_class(self, tmp_path):
        write_sites(tmp_path / "images")
        made = Federated(tmp_path, words=("method=mooring", *CHEAP, "data.classes={Acht: eight}"))
        (made.data("north") / "eight").rename(made.data("north") / "Acht")
        assert folder_of(made.job, "north", made.data("north")).counts["eight"] == 14

    def test_folders_with_other_names_are_mapped(self, made, tmp_path):
        shutil.copytree(made.data("north"), tmp_path / "own")
        (tmp_path / "own/eight").rename(tmp_path / "own/Acht")
        (tmp_path / "own/one").rename(tmp_path / "own/ONE")
        (tmp_path / "own/notes.txt").write_text("no image")
        bare = self.place(made, tmp_path / "own")
        assert [(folder.name, folder.label) for folder in bare.folders] == [
            ("Acht", None),
            ("ONE", "one"),
            ("five", "five"),
            ("three", "three"),
        ]
        mapped = self.place(made, tmp_path / "own", {"Acht": "eight"}).shard()
        whole = self.place(made, made.data("north")).shard()
        assert mapped.label_counts() == whole.label_counts() == IMAGES["north"]

    def test_a_mapping_that_fits_nothing_is_told(self, made):
        with pytest.raises(DataError, match="is not a class of this job; did you mean 'five'"):
            _ = self.place(made, made.data("north"), {"five": "fife"}).folders
        with pytest.raises(DataError, match="no such folder"):
            _ = self.place(made, made.data("north"), {"acht": "eight"}).folders

    def test_of_a_folder_with_a_test_part_only_the_other_is_read(self, made, tmp_path):
        shutil.copytree(made.data("north"), tmp_path / "own/train")
        shutil.copytree(made.data("east"), tmp_path / "own/test")
        assert self.place(made, tmp_path / "own").shard().label_counts() == IMAGES["north"]

    def test_a_site_with_one_class_takes_part_and_one_with_none_is_told(self, made, tmp_path):
        shutil.copytree(made.data("north") / "five", tmp_path / "own/five")
        assert self.place(made, tmp_path / "own").shard().label_counts() == (0, 6, 0, 0)
        (tmp_path / "own/five").rename(tmp_path / "own/cats")
        with pytest.raises(DataError, match="no images of any class of this job"):
            self.place(made, tmp_path / "own").shard()
        with pytest.raises(DataError, match="is not a folder"):
            self.place(made, tmp_path / "nowhere").shard()


class TestFusing:
    def test_the_model_is_that_of_the_same_uploads_in_one_place(self, made):
        done = made.fuse(*paths(made), out="whole.mooring")
        files = [read_upload(path) for path in paths(made)]
        with threads(1):  # as a run does; the last bit of a product may depend on it
            alone = fuse(made.job.fusion, [file.upload for file in files], Server(made.job.work.blueprint, 1))
        state = load_model(done.path).predictor.state_dict()
        assert all(torch.equal(tensor, state[name]) for name, tensor in alone.state_dict().items())
        assert [(row.site, row.verdict) for row in done.fused.decisions] == [(site, "used") for site in made.sites]
        assert sum(row.weight for row in done.fused.decisions) == pytest.approx(1)

    def test_the_order_of_files_and_files_given_twice_change_nothing(self, desk):
        one = desk.fuse(*paths(desk), out="one.mooring").path.read_bytes()
        two = desk.fuse(*reversed([*paths(desk), *paths(desk)]), out="two.mooring").path.read_bytes()
        assert one == two

    def test_a_late_site_and_one_that_leaves_are_as_if_it_had_been_so_from_the_beginning(self, desk):
        everybody = desk.fuse(*paths(desk), out="everybody.mooring").path.read_bytes()
        few = desk.fuse(*paths(desk, "north", "south"), out="few.mooring")
        late = desk.into(few.path, *paths(desk, "east"), out="late.mooring")
        assert late.path.read_bytes() == everybody
        left = desk.into(late.path, out="left.mooring", terms=Terms(without=("east",)))
        assert left.path.read_bytes() == few.path.read_bytes()
        assert left.kept.read_bytes() == few.kept.read_bytes()
        with pytest.raises(FederationError, match="not in this model"):
            desk.into(left.path, terms=Terms(without=("east",)))

    def test_a_second_file_of_a_site_takes_nothing_out_of_a_model(self, desk):
        """Anybody can sign a file of a site whose key the job does not name: it took the site out of the model."""
        model = desk.fuse(*paths(desk)).path
        second = desk.train("north", name="second.mooring", now=datetime.now(UTC) + timedelta(hours=1))
        done = desk.into(model, second)
        assert [file.manifest.site for file in done.fused.used] == list(desk.sites)
        assert "--without north" in reasons(done)["north"]
        with pytest.raises(FederationError, match="set aside"):
            desk.into(model, second, terms=Terms(strict=True))
        desk.into(model, terms=Terms(without=("north",)))
        assert len(desk.into(model, second).fused.used) == 3

    def test_what_leaves_is_gone(self, desk):
        done = desk.fuse(*paths(desk))
        sums = read_upload(desk.root / "east.mooring").data
        assert sums in done.kept.read_bytes()
        desk.into(done.path, terms=Terms(without=("east",)))
        assert sums not in done.kept.read_bytes()
        [east] = load_model(done.path).provenance.set_aside
        assert (east.name, east.samples, east.upload_sha256) == ("east", None, None)
        assert [entry.who for entry in desk.coordinator.log.entries() if entry.action == "withdrawn"] == ["east"]

    def test_the_statement_of_a_withdrawal_is_signed_and_names_the_bytes_of_both_models(self, desk, cli):
        done = desk.fuse(*paths(desk))
        few = desk.fuse(*paths(desk, "north", "south"), out="few.mooring")
        [statement] = desk.into(done.path, out="left.mooring", terms=Terms(without=("east",))).statements
        held = read_container(statement, WITHDRAWAL)
        assert held.signer == desk.coordinator.identity.public
        assert held.manifest["upload"] == file_hash((desk.root / "east.mooring").read_bytes())
        models = [file_hash(path.read_bytes()) for path in (done.path, few.path, desk.root / "left.mooring")]
        assert [held.manifest["before"], *[held.manifest["after"]] * 2] == models
        assert "equals one that never saw east" in cli("inspect", statement)[1]
        data = bytearray(statement.read_bytes())
        data[-1] ^= 1
        statement.write_bytes(data)
        assert "was changed after it was signed" in cli("inspect", statement)[2]

    def test_a_model_holds_nothing_of_a_single_site(self, desk):
        done = desk.fuse(*paths(desk))
        data = done.path.read_bytes()
        for path in paths(desk):
            for tensor in read_upload(path).upload.tensors.values():
                assert tensor.numpy().tobytes()[:64] not in data

    def test_uploads_beside_another_model_are_not_taken_for_its_own(self, desk):
        first, second = desk.fuse(*paths(desk), out="a.mooring"), desk.fuse(*paths(desk, "east"), out="b.mooring")
        shutil.copy(second.kept, first.kept)
        with pytest.raises(FederationError, match="belongs to another model"):
            desk.into(first.path, *paths(desk, "north"))

    def test_too_few_sites_and_strictness_stop_a_fusion(self, desk):
        with pytest.raises(FederationError, match="2 sites can be fused, and 3 are needed"):
            desk.fuse(*paths(desk, "north", "south"), terms=Terms(need=3))
        (desk.root / "empty.mooring").write_bytes(b"")
        with pytest.raises(FederationError, match=r"set aside"):
            desk.fuse(*paths(desk), desk.root / "empty.mooring", terms=Terms(strict=True))
        with pytest.raises(FederationError, match=r"nothing.mooring: there is no such file"):
            desk.fuse(*paths(desk), desk.root / "nothing.mooring")
        with pytest.raises(FederationError, match="0 sites"):
            desk.fuse()
        assert not (desk.root / "model.mooring").exists()

    def test_a_site_that_is_left_out_is_not_looked_at(self, desk):
        done = desk.fuse(*paths(desk), terms=Terms(without=("south",)))
        assert [row.verdict for row in done.fused.decisions] == ["used", "left out", "used"]
        with pytest.raises(FederationError, match=r"--without .* is not a site"):
            desk.fuse(*paths(desk), terms=Terms(without=("west",)))

    def test_only_who_planned_a_job_fuses_it(self, desk):
        stranger = replace(desk.coordinator, identity=own_identity(desk.root / "home-north"))
        with pytest.raises(FederationError, match="planned by somebody else"):
            stranger.fuse(desk.job_path, paths(desk), desk.root / "x.mooring", Terms())

    def test_after_the_last_day_nothing_is_taken(self, desk):
        late = replace(desk.coordinator, now=desk.job.expires)
        with pytest.raises(FederationError, match="expired"):
            late.fuse(desk.job_path, paths(desk), desk.root / "x.mooring", Terms())

    def test_a_sealed_upload_is_open_to_the_coordinator_alone(self, desk):
        path = desk.train("east", name="sealed.mooring", sealed=True)
        assert b"moments" not in path.read_bytes()
        with pytest.raises(FederationError, match="sealed for somebody else"):
            read_upload(path, key=desk.identity("north").key)
        whole = desk.fuse(*paths(desk, "north", "south"), path, out="sealed-model.mooring")
        made, used = desk.log("east").entries()[-1], desk.coordinator.log.entries()[-2]
        assert (used.who, made.file) == ("east", file_hash(path.read_bytes()))
        assert used.file in made.words  # each log tells the hash of the other
        assert made.file in used.words
        state = load_model(desk.fuse(*paths(desk), out="open.mooring").path).predictor.state_dict()
        assert all(torch.equal(state[k], v) for k, v in load_model(whole.path).predictor.state_dict().items())


class TestTrust:
    """North is the one who lies, or is lied about; the others are fused without it."""

    def fused(self, desk, data: bytes) -> str:
        (desk.root / "forged.mooring").write_bytes(data)
        done = desk.fuse(desk.root / "forged.mooring", *paths(desk, "south", "east"))
        assert [file.manifest.site for file in done.fused.used] == ["south", "east"]
        (reason,) = reasons(done).values()
        noted = [entry for entry in desk.coordinator.log.entries() if entry.action == "set aside"]
        assert noted[-1].words == reason
        return reason

    def judged(self, desk, data: bytes) -> str:
        """The same without making a model of the rest."""
        path, job = desk.root / "forged.mooring", desk.job
        path.write_bytes(data)
        files, aside = read_files(job, [path, *paths(desk, "south", "east")], SigningKey.generate(), datetime.now(UTC))
        (decision,) = [*aside, *sound_files(job, files).aside]
        assert decision.verdict == "set aside"
        return decision.reason

    def test_a_foreign_key_is_not_the_sites(self, desk):
        file = read_upload(desk.root / "north.mooring")
        assert "signed by" in self.fused(desk, forged(file, desk.identity("south")))

    def test_an_answer_to_an_older_job_is_not_one_to_this(self, desk):
        older = opened_job(decode_container(desk.planned(), JOB), "job")
        path = desk.train("north", older, "older.mooring")
        assert "answers another job" in self.fused(desk, path.read_bytes())

    def test_a_changed_file_is_nobodys(self, desk):
        data = bytearray((desk.root / "north.mooring").read_bytes())
        data[-1000] ^= 1
        assert "was changed" in self.fused(desk, bytes(data))

    def test_a_file_of_nobody_is_told_by_its_name_and_hash_and_counted_as_no_site(self, desk):
        """The model goes to everybody: it said on which path of the coordinator's machine the file lay."""
        broken = desk.root / "broken\x1b[31m.mooring"
        broken.write_bytes(b"MOORING1 and nothing else")
        done = desk.fuse(*paths(desk, "north", "south"), broken)
        told = load_model(done.path).provenance
        assert [site.name for site in told.asked] == ["north", "south", "east"]
        assert told.sites[-1].name == r"'broken\x1b[31m.mooring'"
        assert str(desk.root) not in str(told)
        noted = [entry.file for entry in desk.coordinator.log.entries() if entry.action == "set aside"]
        assert noted == [sha256(broken.read_bytes()).hexdigest()]

    def test_two_different_answers_are_none(self, desk):
        second = desk.train("north", name="second.mooring", now=datetime.now(UTC) + timedelta(hours=1))
        done = desk.fuse(*paths(desk), second)
        assert [row.verdict for row in done.fused.decisions] == ["set aside", "set aside", "used", "used"]
        assert "2 different files" in reasons(done)["north"]

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"client": 2}, "says it is client 2"),
            ({"round": 3}, "of round 4"),
            ({"created": "2020-01-01"}, "outside the time"),
            ({"created": "yesterday"}, "is not a date"),
            ({"classes": ("a", "b", "c", "d")}, "other classes"),
            ({"site": "west"}, "outside than inside"),
            ({"samples": 7}, "outside than inside"),
        ],
    )
    def test_a_manifest_that_does_not_fit_is_told(self, desk, changes, told):
        file = read_upload(desk.root / "north.mooring")
        assert told in self.judged(desk, forged(file, desk.identity("north"), **changes))

    @pytest.mark.parametrize(
        ("poison", "told"),
        [
            (lambda name, tensor: tensor * torch.nan if tensor.is_floating_point() else tensor, "not finite"),
            (lambda name, tensor: -tensor if tensor.is_floating_point() else tensor, "negative variance"),
            (lambda name, tensor: tensor * 10 ** {"sums": 6, "second": 12}.get(name, 0), "feature of size"),
            (lambda name, tensor: tensor + 1 if not tensor.is_floating_point() else tensor, "does not add up"),
            (lambda name, tensor: tensor[:-1], "has shape"),
            (lambda name, tensor: tensor.half() if tensor.is_floating_point() else tensor, "holds torch.float16"),
            (lambda name, tensor: tensor.double() if tensor.is_floating_point() else tensor, "bytes and may have"),
        ],
        ids=["nan", "flipped", "scaled", "miscounted", "shorter", "narrower", "wider"],
    )
    def test_statistics_of_no_images_are_set_aside(self, desk, poison, told):
        file = read_upload(desk.root / "north.mooring")
        tensors = {name: poison(name.rpartition(".")[2], tensor) for name, tensor in file.upload.tensors.items()}
        assert told in self.judged(desk, forged(file, desk.identity("north"), tensors=tensors))

    def test_more_than_was_asked_for_is_too_much(self, desk):
        file = read_upload(desk.root / "north.mooring")
        tensors = {**file.upload.tensors, "zz": torch.zeros(1)}
        reason = self.judged(desk, forged(file, desk.identity("north"), tensors=tensors))
        assert "may have" in reason or "more than was asked" in reason

    def test_a_file_above_the_cap_is_not_read(self, desk):
        path = desk.root / "forged.mooring"
        with path.open("wb") as file:
            file.truncate(desk.job.manifest.most_bytes * 2)
        done = desk.fuse(path, *paths(desk, "south", "east"))
        assert "may have" in reasons(done)["forged.mooring"]


@pytest.fixture(scope="module")
def secret(made) -> Federated:
    """The same sites, a job with a secure sum."""
    federated = object.__new__(Federated)
    federated.__dict__.update(made.__dict__, job_path=made.root / "secret-job.mooring")
    federated.__dict__.pop("job", None)
    federated.job_path.write_bytes(made.planned(secure_images=1000))
    for site in federated.sites:
        federated.train(site, name=f"secret-{site}.mooring")
    return federated


class TestSecureSum:
    """Nobody sees a site's numbers; the model is that of the open sums, as nearly as fixed point is."""

    def files(self, secret, *sites):
        return [secret.root / f"secret-{site}.mooring" for site in sites or secret.sites]

    def test_the_sum_is_the_open_one_and_no_file_tells_its_part(self, made, secret):
        done = secret.fuse(*self.files(secret), out="secret.mooring")
        assert [(row.verdict, row.samples, row.weight) for row in done.fused.decisions] == [("used", None, None)] * 3
        assert done.fused.images_per_class == tuple(map(sum, zip(*IMAGES.values(), strict=True)))
        total = total_of(secret.job, [read_upload(path) for path in self.files(secret)])
        step = summing(secret.job).step
        for name, tensor in total.tensors.items():
            apart = sum(read_upload(path).upload.tensors[name].double() for path in paths(made))
            assert (tensor - apart).abs().max() <= step[name]
            for path in self.files(secret):
                assert (read_upload(path).upload.tensors[name].double().abs() > 2.0**50).float().mean() > 0.9
        assert read_upload(self.files(secret)[0]).manifest.samples is None

    def test_it_takes_all_sites_and_no_other_numbers(self, secret, tmp_path):
        with pytest.raises(FederationError, match="east missing"):
            secret.fuse(*self.files(secret, "north", "south"), out="x.mooring")
        file = read_upload(self.files(secret)[0])
        tensors = {name: tensor + 2**61 for name, tensor in file.upload.tensors.items()}
        (tmp_path / "forged.mooring").write_bytes(forged(file, secret.identity("north"), tensors=tensors))
        with pytest.raises(FederationError, match="secure sum"):
            secret.fuse(tmp_path / "forged.mooring", *self.files(secret, "south", "east"), out="x.mooring")
        done = secret.fuse(*self.files(secret), out="secret.mooring")
        with pytest.raises(FederationError, match="cannot be added to or taken apart"):
            secret.into(done.path, terms=Terms(without=("north",)))

    def test_numbers_are_masked_once(self, secret):
        with pytest.raises(FederationError, match="masked only once"):
            secret.train("north", name="secret-again.mooring")
        assert not (secret.root / "secret-again.mooring").exists()

    def test_it_takes_keys_and_a_method_of_sums(self, made):
        with pytest.raises(FederationError, match="0 of 3 sites have a key"):
            made.planned(secure_images=1000, keys={})
        (experiment,) = load(None, ["data.source=image_folder", "method=v4"])
        keys = {site: made.identity(site).public for site in made.sites}
        with pytest.raises(FederationError, match="more than sums"):
            plan(experiment, CLASSES, made.sites, made.coordinator.identity, keys=keys, secure_images=1000)


class TestResuming:
    def test_a_training_that_was_stopped_goes_on_and_ends_as_if_nothing_had_happened(self, tmp_path):
        write_sites(tmp_path / "images", {"north": (6, 6, 6, 6)}, side=16)
        short = ("training.rounds=2", "training.local_epochs=1", "training.batch_size=8")
        trained = Federated(tmp_path, ("north",), ("method=v7", "data.size=8", "data.channels=1", *short))
        whole = read_upload(trained.train("north", name="whole.mooring"))

        def stop(event):
            if isinstance(event, ClientProgress) and event.round == 1:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            trained.train("north", emit=stop)
        assert not (tmp_path / "north.mooring").exists()
        told = []
        again = read_upload(trained.train("north", emit=told.append))
        assert any(isinstance(event, ClientResumed) for event in told)
        assert encode_upload(again.upload) == encode_upload(whole.upload)
        assert not any((tmp_path / "home-north/training").iterdir())
        done = trained.fuse(tmp_path / "north.mooring")
        assert load_model(done.path).provenance.track == "trained from scratch"


class TestWords:
    def test_every_tensor_of_an_upload_is_explained(self, made):
        file = read_upload(made.root / "north.mooring")
        told = explain_tensors(file.upload.tensors)
        assert sorted(name for row in told for name in row.names) == sorted(file.upload.tensors)
        assert sum(row.bytes for row in told) == file.upload.nbytes
        [span] = gram_spans(file.upload.tensors)
        assert (span.features, span.images) == (64, file.upload.samples)
        assert span.rank <= min(file.upload.samples, 64)
        assert "images can be rebuilt" in span.sentence

    def test_a_log_tells_when_a_line_was_changed_removed_or_cut_off(self, desk):
        log = desk.log("north")
        assert [entry.action for entry in log.entries()][:2] == ["approved", "trained"]
        log.note("approved", "0" * 64, words="=1+1")
        whole = log.path.read_text()
        lines = whole.splitlines(keepends=True)
        changed = whole.replace("=1+1", "=1+2")
        for text in (
            changed,
            "".join(lines[1:]),
            "".join([lines[0], *lines[2:]]),
            "".join(lines[:-1]),
            "",
            whole + "x\n",
        ):
            log.path.write_text(text)
            with pytest.raises(FederationError, match="not what was written"):
                log.entries()
        log.path.write_text(whole)
        assert len(log.entries()) == len(lines)

    def test_a_log_survives_a_loss_of_power_at_any_byte_of_a_line(self, tmp_path):
        log = Log(tmp_path)
        log.note("approved", "first")
        head = (tmp_path / "log.head").read_bytes()
        begun = log.path.stat().st_size
        log.note("approved", "second")
        whole = log.path.read_bytes()
        for size in (begun, begun + 1, len(whole) - 1, len(whole)):
            log.path.write_bytes(whole[:size])
            (tmp_path / "log.head").write_bytes(head)
            log.note("approved", "third")
            there = ["first", "second", "third"] if size == len(whole) else ["first", "third"]
            assert [entry.job for entry in log.entries()] == there

    def test_two_logs_of_one_home_are_one_chain(self, tmp_path):
        for number in range(3):
            Log(tmp_path).note("approved", str(number))
        assert [entry.job for entry in Log(tmp_path).entries()] == ["0", "1", "2"]

    def test_a_key_of_nobody_does_not_open_a_job(self, made):
        held = decode_container(made.job_path.read_bytes(), JOB)
        assert isinstance(held, Container)
        other = encode(JOB, held.manifest, key=SigningKey.generate())
        assert opened_job(decode_container(other, JOB), "job").sha256 != read_job(made.job_path).sha256
        assert json.loads(json.dumps(record_tree(made.job.manifest)))["work"] == made.job.work.sha256
