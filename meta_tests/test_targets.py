"""Targets: what cannot be used is told in one line, before anything is loaded."""

from __future__ import annotations

import json
import tomllib

import pytest

from fixtures import loading, session, targets
from fixtures.needs import CannotRun
from fixtures.targets import TargetError
from meta_tests import made_up
from meta_tests.made_up import refused


def told(call, *args) -> str:
    with pytest.raises(TargetError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path):
    """A model folder as far as its names go."""
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "qwen2"}')
    (model / "model.safetensors").write_bytes(b"not weights")
    return model


def test_an_unknown_target_is_told_with_those_there_are():
    line = told(targets.named, "gpt-5")
    assert "unknown target 'gpt-5'" in line
    assert all(name in line for name in targets.names())


@pytest.mark.parametrize("name", ["../smollm2-135m", "shapes/tiny", "SMOLLM2-135M", "tiny", " "])
def test_a_target_is_found_by_its_own_name_alone(name):
    assert "unknown target" in told(targets.named, name)


@pytest.mark.parametrize("name", targets.names())
def test_every_target_file_can_be_used(name):
    target = targets.named(name)
    assert target.summary
    assert target.licence != "unknown"
    fixed = {"wheel": ("wheel", "package", "file", "sha256"), "hub": ("repo",)}
    assert all(target.where[key] for key in fixed[target.origin])
    assert json.loads(json.dumps(target.row()))["name"] == name


def test_the_default_target_is_one_of_the_files_and_its_hash_is_whole():
    target = targets.named(targets.DEFAULT)
    assert len(bytes.fromhex(target.where["sha256"])) == 32


@pytest.mark.parametrize("shape", targets.shapes())
def test_every_shape_names_a_whole_configuration(shape):
    values = targets.shape_of(shape)
    assert values["hidden_size"] % values["num_attention_heads"] == 0
    assert values["num_attention_heads"] % values["num_key_value_heads"] == 0
    assert {"model_type", "num_hidden_layers", "vocab_size", "intermediate_size"} <= set(values)
    assert tomllib.loads((targets.SHAPES / f"{shape}.toml").read_text()) == values


def test_an_unknown_shape_is_told_with_those_there_are():
    line = told(targets.described, "random:gpt-5")
    assert "unknown shape 'gpt-5'" in line
    assert all(name in line for name in targets.shapes())
    assert "unknown shape ''" in told(targets.described, "random:")


def test_random_weights_are_never_called_trained():
    target = targets.described("random:tiny")
    assert (target.trained, target.origin) == (False, "random")


@pytest.mark.parametrize(
    "model",
    [
        "no-such-folder",
        "./no-such-folder",
        "/no/such/folder",
        "~/no-such-folder-at-all",
        "a/b/c",
        "foo/bar baz",
        "--foo/bar",
        "foo/bar--baz",
        "foo/bar..baz",
        "foo/" + "x" * 100,
    ],
)
def test_what_is_neither_file_nor_hub_id_is_told_in_one_line(model):
    assert "no hub id (owner/name)" in told(targets.described, model)


def test_a_hub_id_is_taken_as_one():
    target = targets.described("Qwen/Qwen2.5-0.5B")
    assert (target.origin, target.where) == ("hub", {"repo": "Qwen/Qwen2.5-0.5B"})
    assert loading.identity(target, 0).startswith("hub")


def test_a_folder_without_a_configuration_is_told_in_one_line(folder):
    (folder / "config.json").unlink()
    assert "holds no config.json" in told(targets.described, str(folder))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pkl", "model.ckpt"])
def test_weights_that_can_run_code_when_loaded_are_refused(folder, name):
    (folder / "model.safetensors").rename(folder / name)
    assert "other formats can run code when loaded" in told(targets.described, str(folder))


def test_a_folder_is_known_by_the_hash_of_what_it_holds(folder):
    target = targets.described(str(folder))
    before = loading.identity(target, 0)
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert loading.identity(targets.described(str(folder)), 0) != before


@pytest.mark.parametrize(
    "config",
    ['{"model_type": "qwen2"}', "{", "{}", '{"model_type": "no-such-type"}', "[]"],
)
def test_a_folder_that_cannot_be_loaded_is_told_in_one_line(folder, config):
    (folder / "config.json").write_text(config)
    target = targets.described(str(folder))
    with pytest.raises(TargetError) as caught:
        loading.load(target, device="cpu", seed=0, say=print)
    assert str(caught.value).startswith("model: cannot load")
    assert "\n" not in str(caught.value)


def test_a_missing_gguf_file_is_told_in_one_line(tmp_path):
    assert "no such GGUF file" in told(targets.described, str(tmp_path / "none.gguf"))


@pytest.mark.parametrize("content", [b"", b"GGU", b"<html>not found</html>"])
def test_a_file_that_is_no_gguf_in_spite_of_its_name_is_told_in_one_line(tmp_path, content):
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    assert "is no GGUF file" in told(targets.described, str(path))


def test_a_gguf_file_is_known_by_its_hash(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" + bytes(20))
    target = targets.described(str(path))
    assert (target.origin, target.name) == ("gguf", "model")
    assert len(loading.identity(target, 0)) == 64


def test_target_and_model_together_are_refused():
    assert "not both" in told(session.chosen, "smollm2-135m", "random:tiny")


def test_without_either_option_the_embedded_model_is_the_target():
    assert session.chosen("", "").name == targets.DEFAULT


# Devices -----------------------------------------------------------------------------------------


@pytest.fixture
def with_cuda(monkeypatch):
    monkeypatch.setattr(session.machines, "why_no_cuda", lambda: "")


@pytest.fixture
def without_cuda(monkeypatch):
    monkeypatch.setattr(session.machines, "why_no_cuda", lambda: "no CUDA device: no driver")


@pytest.mark.usefixtures("with_cuda")
@pytest.mark.parametrize(
    ("lane", "device"),
    [
        ("gpu", "cuda"),
        ("gpu and quick", "cuda"),
        ("cpu or gpu", "cuda"),
        ("all", "cpu"),
        ("cpu", "cpu"),
        ("not gpu", "cpu"),
        ("cpu and not gpu", "cpu"),
        ("quick", "cpu"),
    ],
)
def test_the_gpu_lane_alone_takes_the_gpu(lane, device):
    assert session.device_for(lane, "auto") == device


@pytest.mark.usefixtures("with_cuda")
@pytest.mark.parametrize("wanted", ["cpu", "cuda"])
def test_a_device_that_was_asked_for_is_taken_in_any_lane(wanted):
    assert session.device_for("gpu", wanted) == session.device_for("cpu", wanted) == wanted


@pytest.mark.usefixtures("without_cuda")
def test_without_a_gpu_the_gpu_lane_stays_on_cuda_and_a_mixed_one_runs_on_the_cpu():
    assert session.device_for("gpu", "auto") == "cuda"
    assert session.device_for("gpu and not slow", "auto") == "cuda"
    assert session.device_for("cpu or gpu", "auto") == "cpu"
    assert session.device_for("cpu and not gpu", "auto") == "cpu"
    assert told(session.device_for, "gpu", "cuda") == "--device cuda: no CUDA device: no driver"


# A failure while loading -------------------------------------------------------------------------


def test_a_model_that_cannot_be_loaded_is_tried_once_and_told_each_time(monkeypatch):
    tries = []

    def load(*_args, **_more):
        tries.append(1)
        raise TargetError("cannot load it")

    monkeypatch.setattr(loading, "load", load)
    run = session.Session(target=targets.named(targets.DEFAULT), device="cpu", seed=0)
    for _ in range(3):
        with pytest.raises(CannotRun, match="cannot load it"):
            run.engine()
    assert tries == [1]


# Whole commands ----------------------------------------------------------------------------------


def test_each_unusable_target_ends_the_command_with_one_line_and_status_4(inside, tmp_path):
    made_up.write_claim(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    for options, line in {
        ("--target", "gpt-5"): "unknown target 'gpt-5'",
        ("--model", str(tmp_path / "none")): "no hub id",
        ("--model", str(empty)): "holds no config.json",
        ("--model", "foo/bar baz"): "no hub id",
        ("--model", str(tmp_path / "none.gguf")): "no such GGUF file",
        ("--model", "random:gpt-5"): "unknown shape",
        ("--target", "smollm2-135m", "--model", "random:tiny"): "not both",
    }.items():
        ledger = tmp_path / "run.jsonl"
        assert line in refused(inside(tmp_path, *options, "--ledger", ledger, stand_in=False))
        assert not ledger.exists()
    assert made_up.calls(tmp_path) == []
