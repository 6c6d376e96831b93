"""A secure sum reveals no single site: enough sites, their own keys, no two sums that differ by one, one file each."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy

import pytest
from federated import CHEAP, IMAGES, Federated, write_sites

from mooring.errors import FederationError
from mooring.federation._container import decode_container
from mooring.federation._job_file import JOB, opened_job
from mooring.federation._keys import fingerprint, own_identity
from mooring.federation._log import Log
from mooring.federation._recovery import write_recovery
from mooring.federation._site_rules import SiteRules, write_pins
from mooring.federation._sum_ledger import isolated, record_of
from mooring.federation._train import approve, folder_of, train

SITES = (*IMAGES, "west")
STRICT = SiteRules(accept_disclosure=True, overlap="stop")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return write_sites(tmp_path_factory.mktemp("images") / "images", IMAGES | {"west": (8, 8, 8, 8)})


@pytest.fixture
def secret(images, tmp_path):
    (tmp_path / "images").symlink_to(images)
    federated = Federated(tmp_path, SITES, words=("method=mooring", *CHEAP))
    federated.job_path.write_bytes(federated.planned(secure_images=10**6))
    return federated


def job_of(federated, *sites):
    """Another secure job of the same coordinator."""
    other = copy(federated)
    other.sites = sites
    keys = {site: federated.identity(site).public for site in sites}
    return opened_job(decode_container(other.planned(secure_images=10**6, keys=keys), JOB), "job")


def entry_of(federated, *sites):
    """A line of north's log: it took part in the sum over these sites."""
    job = job_of(federated, *sites)
    federated.log("north").note("trained", job.sha256, who="north", sum_=record_of(job))


def recover(federated, site, *missing, job=None, rules=SiteRules()):
    path = federated.root / f"{site}.recovery.mooring"
    return write_recovery(
        job or federated.job, site, missing, federated.identity(site), federated.log(site), path, rules
    )


class TestEnoughSites:
    def test_a_site_reveals_no_masks_that_leave_fewer_than_three_sites(self, secret):
        with pytest.raises(FederationError, match="leaves 2 of 4 sites in the sum, and it takes 3"):
            recover(secret, "north", "south", "east")
        assert not (secret.root / "north.recovery.mooring").exists()

    def test_what_was_revealed_before_counts(self, secret):
        recover(secret, "north", "east")
        with pytest.raises(FederationError, match="--missing east,south: leaves 2 of 4 sites"):
            recover(secret, "north", "south")
        recover(secret, "north", "east")  # the same once more tells nothing more

    def test_a_site_may_ask_for_more_and_not_for_fewer(self, secret):
        with pytest.raises(FederationError, match="leaves 3 of 4 sites in the sum, and it takes 4"):
            recover(secret, "north", "east", rules=SiteRules(least_sites=4))
        with pytest.raises(FederationError, match="it takes 5"):
            secret.train("north", rules=SiteRules(least_sites=5))
        with pytest.raises(FederationError, match="fewer than 3 sites hides nothing"):
            SiteRules(least_sites=2)


class TestKeys:
    def test_one_key_for_two_sites_is_not_planned(self, secret):
        keys = {site: secret.identity(site).public for site in SITES} | {"east": secret.identity("south").public}
        with pytest.raises(FederationError, match="south and east have the same key"):
            secret.planned(secure_images=10**6, keys=keys)

    def test_a_site_does_not_add_up_with_one_holder_of_two_keys(self, secret, monkeypatch):
        """The coordinator's key for two of three sites: what an altered `mooring plan` would write."""
        monkeypatch.setattr("mooring.federation._secure_job.same_keys", lambda keys: [])
        desk = copy(secret)
        desk.sites = ("north", "south", "east")
        bad = secret.coordinator.identity.public
        keys = {"north": secret.identity("north").public, "south": bad, "east": bad}
        job = opened_job(decode_container(desk.planned(secure_images=10**6, keys=keys), JOB), "job")
        with pytest.raises(FederationError, match="3 sites with 2 different keys, and it takes 3"):
            secret.train("north", job)

    def test_inspect_and_train_show_every_fingerprint_and_warn_about_equal_keys(self, secret, cli, monkeypatch):
        keys = {site: secret.identity(site).public for site in SITES} | {"east": secret.coordinator.identity.public}
        secret.job_path.write_bytes(secret.planned(secure_images=10**6, keys=keys))
        monkeypatch.setenv("MOORING_HOME", str(secret.root / "home-north"))
        train_words = ("train", secret.job_path, "--data", secret.data("north"), "--site", "north", "--yes")
        for words in (("inspect", secret.job_path), (*train_words, "--check"), (*train_words, "--accept-disclosure")):
            code, out, err = cli(*words)
            assert code == 0, err
            assert all(fingerprint(key) in out for key in keys.values())
            assert "warning: coordinator and east have the same key" in " ".join(out.split())

    def test_a_job_with_another_key_than_the_pinned_one_is_rejected(self, secret, cli, monkeypatch):
        monkeypatch.setenv("MOORING_HOME", str(secret.root / "home-north"))
        south = secret.identity("south").public
        assert cli("keys", "--pin", f"south={fingerprint(south)}")[0] == 0
        secret.train("north", name="pinned.mooring")
        code, out, _ = cli("keys", "--pin", f"south={secret.identity('east').public}")
        assert (code, "pinned" in out) == (0, True)
        data = ("--data", secret.data("north"), "--site", "north")
        for words in (("approve", secret.job_path), ("train", secret.job_path, *data)):
            code, _, err = cli(*words)
            assert (code, f"south: the job has the key {fingerprint(south)}" in " ".join(err.split())) == (2, True)
        with pytest.raises(FederationError, match="you pinned"):
            recover(secret, "north", "west")

    @pytest.mark.parametrize("pin", ["south=abcd", "south=" + "x" * 16, "so/uth=" + "a" * 16, "south"])
    def test_a_pin_is_a_key_or_a_fingerprint(self, pin, cli):
        code, _, err = cli("keys", "--pin", pin)
        assert (code, err.startswith("error: --pin")) == (2, True)

    def test_the_coordinator_can_be_pinned_too(self, secret):
        write_pins(secret.root / "home-north", {"coordinator": "0" * 64})
        with pytest.raises(FederationError, match="coordinator: the job has the key"):
            secret.train("north")


class TestTwoSums:
    def test_a_sum_that_differs_by_one_site_is_warned_about_or_stopped(self, secret):
        """Jobs {n, s, w} and {n, s, e, w} give the numbers of east."""
        secret.train("north")
        three = job_of(secret, "north", "south", "west")
        with pytest.raises(FederationError, match=r"differs by .* only: together they reveal"):
            secret.train("north", three, "three.mooring", rules=STRICT)
        assert not (secret.root / "three.mooring").exists()
        approve(three, secret.log("north"))
        place = folder_of(three, "north", secret.data("north"))
        done = train(
            three, place, secret.root / "x", secret.identity("north"), secret.log("north"), rules=SiteRules(True)
        )
        [warning] = done.warnings
        assert fingerprint(secret.identity("east").public) in warning

    def test_the_same_sites_once_more_are_warned_about(self, secret):
        secret.train("north")
        with pytest.raises(FederationError, match="of the same sites: together they reveal what has changed"):
            secret.train("north", job_of(secret, *SITES), "again.mooring", rules=STRICT)

    def test_the_same_images_among_other_sites_are_warned_about(self, secret):
        secret.train("north")
        others = job_of(secret, "north", "a", "b", "c")
        with pytest.raises(FederationError, match="with the same images: together they reveal the sum of"):
            secret.train("north", others, "others.mooring", rules=STRICT)

    def test_masks_that_leave_nearly_an_earlier_sum_are_warned_about(self, secret):
        secret.train("north", job_of(secret, "north", "south", "west"), "three.mooring")
        [warning] = recover(secret, "north", "east")
        assert "of the same sites" in warning

    def test_three_sums_that_give_one_site_together_are_noticed(self, secret):
        """{n, a, b, c} and {n, d, e, f} minus {n, a, b, c, d, e, f} is north; any two differ by three sites or more."""
        for others in ("abc", "def"):
            entry_of(secret, "north", *others)
        all_ = job_of(secret, "north", *"abcdef")
        with pytest.raises(FederationError, match=r"with the 2 secure sums .* this one reveals numbers of north"):
            secret.train("north", all_, "all.mooring", rules=STRICT)

    @pytest.mark.parametrize(
        ("earlier", "new", "alone"),
        [
            (["nabc", "ndef"], "nabcdef", "n"),
            (["nabc", "ndef"], "nabcdefg", "gn"),
            (["nabcde", "nabc"], "nfghij", ""),  # d and e were known before
            (["nabc"], "nabcdef", ""),
            (["nabc", "ndef"], "nghi", ""),
            ([], "nab", ""),
        ],
    )
    def test_combinations_of_sums_are_searched_for_few_sites(self, earlier, new, alone):
        assert "".join(isolated(earlier, new)) == alone

    def test_a_log_from_before_there_was_a_ledger_is_read(self, tmp_path):
        log = Log(tmp_path)
        log.note("approved", "0" * 64)
        assert '"sum"' not in log.path.read_text()
        assert [entry.sum for entry in log.entries()] == [None]


def train_copy(root, home, name):
    """Train in a home of its own with north's key."""
    federated = Federated.__new__(Federated)
    federated.root, federated.sites, federated.job_path = root, SITES, root / "job.mooring"
    federated.words, federated.named_keys = (), True
    job, log = federated.job, Log(home)
    approve(job, log)
    place = folder_of(job, "north", federated.data("north"))
    try:
        train(job, place, root / name, own_identity(home), log, rules=SiteRules(True))
    except FederationError as error:
        return str(error)
    return ""


class TestOneMaskedFile:
    def test_two_trainings_at_once_write_one_file(self, secret):
        home = secret.root / "home-north"
        with ThreadPoolExecutor(2) as pool:
            told = list(pool.map(lambda name: train_copy(secret.root, home, name), ("one.mooring", "two.mooring")))
        assert sorted(bool(text) for text in told) == [False, True]
        assert "masked only once" in max(told)
        assert len([name for name in ("one.mooring", "two.mooring") if (secret.root / name).exists()]) == 1

    def test_a_copied_key_in_another_home_masks_nothing_more(self, secret):
        secret.train("north")
        copy = secret.root / "copied"
        copy.mkdir()
        (copy / "private.key").write_bytes(secret.identity("north").path.read_bytes())
        assert "masked only once" in train_copy(secret.root, copy, "copy.mooring")
        assert not (secret.root / "copy.mooring").exists()

    def test_the_coordinator_uses_no_second_masked_file_of_a_site(self, secret, tmp_path, monkeypatch):
        files = [secret.train(site) for site in SITES]
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
        secret.log("north").path.rename(tmp_path / "lost.jsonl")
        (secret.root / "home-north" / "log.head").unlink()
        for picture in list((secret.root / "images/north/one").glob("*.png"))[:1]:
            held = picture.read_bytes()
            picture.unlink()
            second = secret.train("north", name="second.mooring")
            picture.write_bytes(held)
        with pytest.raises(FederationError, match="north missing"):
            secret.fuse(*files, second, out="both.mooring")
        secret.fuse(*files)
        with pytest.raises(FederationError, match="north missing"):
            secret.fuse(second, *files[1:], out="second-model.mooring")
        assert not (secret.root / "second-model.mooring").exists()


def test_after_a_secure_sum_no_site_is_invited_to_come_late(secret, cli, monkeypatch):
    files = [secret.train(site) for site in SITES]
    monkeypatch.setenv("MOORING_HOME", str(secret.root / "home"))
    code, out, err = cli("fuse-files", secret.job_path, *files, "--out", "model.mooring")
    assert code == 0, err
    assert "come late" not in out
    assert "masked uploads" in out
