"""A Qwen-like chat model is CONFIRMED where the embedded model is REFUTED: same measures."""

from importlib.util import module_from_spec, spec_from_file_location

import pytest

from claims._kit.verdict import Verdict
from meta_tests.scripted import QwenLike

CASES = [
    ("template/test_clean_stops.py", "native, clean"),
    ("template/test_clean_stops.py", "native, stops"),
    ("template/test_clean_stops.py", "raw, clean"),
    ("template/test_clean_stops.py", "raw, stops"),
    ("template/test_clean_stops.py", "llama-2, clean"),
    ("template/test_clean_stops.py", "llama-2, stops"),
    ("structure/test_naive_prompt_fails.py", "T=0.0"),
    ("structure/test_naive_prompt_fails.py", "T=1.3"),
]


@pytest.fixture(scope="module")
def engine():
    return QwenLike()


@pytest.mark.parametrize(("file", "name"), CASES)
def test_a_model_that_behaves_as_published_is_confirmed(request, engine, file, name):
    path = request.config.rootpath / "claims" / file
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    case = module.CLAIM.case(name)
    measured = module.measure(engine, case)

    assert module.CLAIM.judge(case, measured).verdict is Verdict.CONFIRMED, measured.notes
