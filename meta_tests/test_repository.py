"""The repository itself: what may import what, how long things get, and what stands nowhere."""

from __future__ import annotations

import ast
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from meta_tests import made_up, readme_table
from meta_tests.made_up import ROOT

OURS = {"claims", "fixtures", "reports", "history", "meta_tests", "conftest"}
NOT_OURS_TO_READ = {".git", ".tox", ".venv", "out", "__pycache__", "node_modules"}
LINES_OF_A_MODULE = 250
LINES_OF_A_FUNCTION = 40


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def texts() -> Iterator[tuple[str, str]]:
    """Every text file that belongs to the project, by name."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in NOT_OURS_TO_READ and "cache" not in f]
        for file in files:
            path = Path(folder) / file
            try:
                yield name(path), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


# Imports -----------------------------------------------------------------------------------------


def allowed(path: str, imported: str) -> bool:
    """Whether the file at ``path`` may import the module ``imported`` of ours."""
    top = imported.split(".", maxsplit=1)[0]
    if top not in OURS:
        return True
    if path.startswith("claims/_kit/"):
        return imported.startswith("claims._kit") or imported == "fixtures.needs"
    if path.startswith("claims/_wiring/"):
        return imported.startswith(("claims._kit", "claims._wiring")) or top == "fixtures"
    if path.startswith("claims/"):
        return imported.startswith("claims._kit") or top == "fixtures"
    if path.startswith(("fixtures/", "reports/")):
        return top == path.split("/", maxsplit=1)[0]
    if path == "conftest.py":
        return top in {"claims", "fixtures", "reports"}
    if path.startswith("history/"):
        return imported.startswith("claims._kit") or top in {"fixtures", "reports", "history"}
    return path.startswith("meta_tests/")


def imports(code: str) -> Iterator[str]:
    """Every module that the code imports, wherever in it, or loads by a name in quotes."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layer they reach into"
            module = node.module or ""
            # "from fixtures import needs" imports fixtures.needs.
            yield from (_module(module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (str(a.value) for a in node.args if isinstance(a, ast.Constant))


def _module(module: str, member: str) -> str:
    path = ROOT / module.replace(".", "/") / member
    is_module = path.with_suffix(".py").exists() or path.is_dir()
    return f"{module}.{member}" if is_module else module


def crossings(path: str, code: str) -> list[str]:
    return [imported for imported in imports(code) if not allowed(path, imported)]


@pytest.mark.parametrize(
    "path", [*sources("claims", "fixtures", "reports", "history"), ROOT / "conftest.py"], ids=name
)
def test_imports_go_one_way(path):
    assert crossings(name(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("claims/_kit/run.py", "from fixtures import machines"),
        ("claims/_kit/run.py", "from fixtures.targets import Target"),
        ("claims/_kit/run.py", "def f():\n    import reports.page"),
        ("claims/prefix/test_x.py", "from reports import page"),
        ("claims/prefix/test_x.py", "from claims.prefix.test_y import CLAIM"),
        ("fixtures/targets.py", "from claims._kit import stats"),
        ("fixtures/targets.py", "import reports"),
        ("fixtures/faults/x.py", "import importlib\nimportlib.import_module('claims._kit.run')"),
        ("reports/page.py", "from fixtures import machines"),
        ("reports/page.py", "from claims._kit.verdict import Verdict"),
        ("conftest.py", "from meta_tests import made_up"),
        ("fixtures/judging.py", "from history import rows"),
        ("history/judge.py", "from claims.prefix.test_x import CLAIM"),
    ],
)
def test_an_import_that_goes_the_other_way_is_noticed(path, code):
    assert crossings(path, code)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("claims/_kit/run.py", "from fixtures.needs import Need\nfrom claims._kit import stats"),
        ("claims/_kit/run.py", "from fixtures import needs"),
        ("claims/prefix/test_x.py", "from fixtures.faults import one_layer\nimport torch"),
        ("fixtures/session.py", "from fixtures import targets"),
        ("reports/page.py", "from reports import words"),
    ],
)
def test_an_import_that_goes_the_right_way_passes(path, code):
    assert crossings(path, code) == []


# Sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    sources("claims/_kit", "claims/_wiring", "fixtures", "reports", "history"),
    ids=name,
)
def test_a_module_is_under_250_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < LINES_OF_A_MODULE


def long_functions(code: str) -> list[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(code))
        if isinstance(node, functions) and node.end_lineno - node.lineno >= LINES_OF_A_FUNCTION
    ]


@pytest.mark.parametrize(
    "path",
    sources("claims/_kit", "claims/_wiring", "fixtures", "reports", "history"),
    ids=name,
)
def test_a_function_has_at_most_40_lines(path):
    assert long_functions(path.read_text(encoding="utf-8")) == []


def test_a_function_of_41_lines_is_noticed():
    assert long_functions("def f():\n" + "    x = 1\n" * 39) == []
    assert long_functions("def f():\n" + "    x = 1\n" * 40) == ["f: 41 lines"]


# What stands nowhere -----------------------------------------------------------------------------

# In pieces, because this file is searched as well.
ELSEWHERE = re.compile(r"(?<![\w-])shared" + "/")
HOSTS = re.compile(
    "|".join(
        re.escape(first + last)
        for first, last in (
            ("pypi", ".org"),
            ("python", "hosted.org"),
            ("anaconda", ".org"),
            ("npmjs", ".com"),
            ("npmjs", ".org"),
            ("download.pytorch", ".org"),
            ("index-", "url"),
        )
    )
)


def test_no_file_mentions_a_folder_outside_the_project():
    assert [path for path, text in texts() if ELSEWHERE.search(text)] == []


def test_no_file_names_the_host_of_a_package_registry():
    assert [path for path, text in texts() if HOSTS.search(text)] == []


def test_the_search_for_such_words_finds_them():
    assert ELSEWHERE.search("see shared" + "/design.md")
    assert HOSTS.search("https://py" + "pi.org/simple")
    assert not ELSEWHERE.search("prefix-shared" + "/x")
    assert "meta_tests/test_repository.py" in dict(texts())


# Settings ----------------------------------------------------------------------------------------


def test_pytest_is_strict():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]
    assert settings["strict"] is True


def test_an_unknown_marker_is_an_error(tmp_path):
    (tmp_path / "test_x.py").write_text(
        "import pytest\n@pytest.mark.cup\ndef test_x():\n    pass\n"
    )
    status, output = made_up.finished(made_up.arguments(tmp_path, "-q"), folder=tmp_path)
    assert status == 2, output
    assert "'cup' not found in `markers`" in output


def test_an_unknown_setting_is_an_error(inside, tmp_path):
    (tmp_path / "test_x.py").write_text("def test_x():\n    pass\n")
    status, output = inside(tmp_path, "-o", "no_such_setting=1")
    assert status != 0, output
    assert "no_such_setting" in output


# The README's table ------------------------------------------------------------------------------


def test_the_readme_lists_each_claim_exactly_once():
    text = readme_table.README.read_text(encoding="utf-8")
    between = text.split(readme_table.BEGIN)[1].split(readme_table.END)[0]
    listed = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\)", between, re.MULTILINE)
    assert sorted(listed) == [name(path) for path in readme_table.files()]


def test_the_readmes_table_says_what_the_claims_say():
    claims = [readme_table.load(path) for path in readme_table.files()]
    text = readme_table.README.read_text(encoding="utf-8")
    due = readme_table.replaced(text, readme_table.table(claims))
    assert text == due, "run: python -m meta_tests.readme_table"


def test_the_table_has_one_row_per_claim_in_the_order_of_their_ids():
    claims = [made_up.claim(id="made/up"), made_up.claim(id="made/first")]
    head, rule, first, second = readme_table.table(claims).splitlines()
    assert head == "| claim | sentence | lanes | published | source |"
    assert rule == "| --- | --- | --- | --- | --- |"
    assert first.startswith("| [made/first](claims/made/test_first.py) | It takes at most")
    assert second == (
        "| [made/up](claims/made/test_up.py) | It takes at most a second. | cpu, gpu | "
        "1 s (the source names no machine) | one-call: nowhere |"
    )


def test_a_cell_never_ends_early():
    made = made_up.claim(figure=made_up.figure(claimed="a | b\n<script>"))
    row = readme_table.table([made]).splitlines()[2]
    assert "a \\| b \\<script>" in row
    assert len(re.findall(r"(?<!\\)\|", row)) == 6


def test_only_what_stands_between_the_marks_is_replaced():
    text = f"before\n{readme_table.BEGIN}\nold\n{readme_table.END}\nafter\n"
    made = readme_table.replaced(text, "new\n")
    assert made == f"before\n{readme_table.BEGIN}\nnew\n{readme_table.END}\nafter\n"
    assert readme_table.replaced(made, "new\n") == made


@pytest.mark.parametrize(
    "text",
    ["", readme_table.BEGIN, readme_table.END + readme_table.BEGIN, readme_table.BEGIN * 2],
)
def test_a_readme_without_its_two_marks_is_an_error(text):
    with pytest.raises(ValueError, match=r"README\.md needs one"):
        readme_table.replaced(text, "new\n")


def _pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def test_the_pins_of_vllms_environment_differ_only_where_it_refuses_the_shared_ones():
    shared, own = _pins("constraints.txt"), _pins("constraints-vllm.txt")
    differ = {name for name in own.keys() & shared.keys() if own[name] != shared[name]}
    assert differ == {"transformers", "numpy", "fastapi"}
