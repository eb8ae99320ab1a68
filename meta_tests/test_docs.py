"""Every code block of the documents is run, or checked down to its options."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import yaml

from claims import new
from claims._kit import deviations, ledger
from fixtures import target_list, targets
from meta_tests.made_up import ROOT
from meta_tests.pages import DATA
from reports import fleet_plan

FILES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
FENCE = re.compile(r"^```(?P<info>.*)\n(?P<code>(?:.*\n)*?)```$", re.MULTILINE)
INLINE = re.compile(r"`((?:pytest|tox|python -m) [^`]*)`")
LINK = re.compile(r"\]\((?!http)([^)#]+)")
# Words in capitals stand for what a reader fills in.
FILLED = {"LEDGER": str(DATA / "made_up.jsonl")}
# Programs whose arguments are nobody's to check here.
FOREIGN = {"source", "cd", "echo"}


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, the words after it, and the code."""

    where: str
    language: str
    about: tuple[str, ...]
    code: str

    @property
    def file(self) -> str:
        """The file that the block is to be saved as, where it says so."""
        named = [word.removeprefix("file=") for word in self.about if word.startswith("file=")]
        return named[0] if named else ""


def blocks_of(file: Path) -> list[Block]:
    text = file.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, *about = match["info"].split() or [""]
        line = text[: match.start()].count("\n") + 1
        where = f"{file.relative_to(ROOT)}:{line}"
        found.append(Block(where, language, tuple(about), match["code"]))
    return found


BLOCKS = [block for file in FILES for block in blocks_of(file)]


def some(*languages: str) -> list:
    return [pytest.param(b, id=b.where) for b in BLOCKS if b.language in languages]


def commands(code: str) -> list[list[str]]:
    """Every command of a script as its words; comments, redirections and joins are gone."""
    found = []
    for line in code.replace("\\\n", " ").splitlines():
        for part in re.split(r"&&|\|\|", line):
            words = shlex.split(part, comments=True)
            if words:
                found.append(words[: words.index(">>")] if ">>" in words else words)
    return found


SCRIPTS = [
    (block.where, block.about, words)
    for block in BLOCKS
    if block.language == "sh"
    for words in commands(block.code)
]
INLINES = [
    (str(file.relative_to(ROOT)), ("heavy",), shlex.split(match.group(1)))
    for file in FILES
    for match in INLINE.finditer(file.read_text(encoding="utf-8"))
]


def test_every_document_and_every_kind_of_block_is_looked_at():
    """A fence that opens is closed, and no block has a language that no test knows."""
    assert {f.name for f in FILES} >= {"README.md", "write-a-claim.md", "ci.md", "limits.md"}
    for file in FILES:
        fences = re.findall(r"^\s*```", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == 2 * len(blocks_of(file)), file
    assert {b.language for b in BLOCKS} <= {"sh", "python", "toml", "yaml"}


def test_every_link_leads_somewhere():
    for file in FILES:
        for link in LINK.findall(file.read_text(encoding="utf-8")):
            assert (file.parent / link).exists(), f"{file.name}: {link}"


def test_every_document_is_linked_from_the_readme_or_from_a_linked_one():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        file = todo.pop().resolve()
        if file in seen or file.suffix != ".md":
            continue
        seen.add(file)
        todo += [file.parent / link for link in LINK.findall(file.read_text(encoding="utf-8"))]
    assert {f.resolve() for f in FILES} <= seen


@pytest.mark.parametrize("block", [p for p in some("python") if not p.values[0].file])
def test_python_runs(block: Block, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", block.code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{block.where}: {done.stderr}"


def test_the_worked_example_comes_to_the_verdict_that_it_names(tmp_path, inside):
    """The block is saved where it says, run, confirmed, and its control is caught."""
    block = next(b for b in BLOCKS if b.file.startswith("batching/"))
    name = block.file.removesuffix(".py").replace("/test_", "/").replace("_", "-")
    assert str(new.path_of(name)) == block.file
    assert len(block.code.splitlines()) < 60
    file = tmp_path / block.file
    file.parent.mkdir()
    file.write_text(block.code, encoding="utf-8")
    path = tmp_path / "run.jsonl"
    status, output = inside(file, "--ledger", path)
    assert status == 0, output
    row = next(r for r in ledger.read(path).rows if r["kind"] == "claim")
    assert (row["claim"], row["verdict"]) == (name, "CONFIRMED")
    assert [c["caught"] for c in row["controls"]] == [True]
    document = (ROOT / "docs" / "write-a-claim.md").read_text(encoding="utf-8")
    assert f"python -m claims.new {name}" in document
    shown = next(line for line in output.splitlines() if line.startswith("CONFIRMED"))
    assert "0.7738, limit at least 0.5" in shown
    assert "controls 1 of 1" in shown


@pytest.mark.parametrize("block", some("toml"))
def test_toml_is_what_the_suite_reads(block: Block, tmp_path: Path):
    path = tmp_path / "block.toml"
    path.write_text(block.code, encoding="utf-8")
    if block.file:
        about = tomllib.loads(block.code)
        assert (ROOT / block.file).parent == ROOT / "fixtures" / "models"
        assert not set(about) - set(targets.named("qwen3-8b").row())
    elif block.code.startswith("[[target]]"):
        assert len(target_list.read(path)) > 1
    elif "[[entry]]" in block.code:
        assert len(fleet_plan.read(path, here=ROOT)) > 1
    else:
        found = deviations.read(path)
        files = [ROOT / "claims" / new.path_of(d.claim) for d in found]
        assert found
        assert all(file.is_file() for file in files)


@pytest.mark.parametrize("block", some("yaml"))
def test_the_workflow_runs_commands_that_exist(block: Block):
    jobs = yaml.safe_load(block.code)["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    scripts = [words for step in steps for words in commands(step.get("run", ""))]
    assert len(scripts) > 4
    for words in scripts:
        check(words)


@pytest.mark.parametrize(("where", "about", "words"), [*SCRIPTS, *INLINES])
def test_a_command_and_its_options_exist(where: str, about: tuple[str, ...], words: list[str]):
    check(words)


def check(words: list[str]) -> None:
    """Fails unless the program, its module or environment, and each option are there."""
    words = words["=" in words[0] :]  # a variable that the program is given
    program = Path(words[0]).name.replace("python3", "python")
    if program == "pytest":
        unknown = {o for o in options(words[1:]) if o not in help_of("pytest")}
        assert not unknown, f"pytest has no {unknown}"
        assert marks(words) <= declared_marks()
        assert all(Path(ROOT, p.split("::")[0]).exists() or _is_made(p) for p in paths(words))
    elif program == "python":
        assert words[1] == "-m", words
        unknown = {o for o in options(words[3:]) if o not in help_of(words[2])}
        assert not unknown, f"{words[2]} has no {unknown}"
    elif program == "torchrun":
        check(words[words.index("-m") + 1 :])
    elif program == "tox":
        named = words[words.index("-e") + 1].split(",")
        assert set(named) <= environments(), named
        if "--" in words:
            check(["pytest", *words[words.index("--") + 1 :]])
    else:
        assert program in FOREIGN | {"pip"}, f"{program}: nobody knows what this does"


def options(words: list[str]) -> set[str]:
    """Options without their values; ``-m`` of pytest is an option too."""
    return {w.split("=")[0] for w in words if re.match(r"-{1,2}[a-zA-Z]", w)}


def paths(words: list[str]) -> list[str]:
    return [w for w in words[1:] if re.match(r"(claims|meta_tests)/", w)]


def _is_made(path: str) -> bool:
    """A path with a blank in it, or the worked example's, which the reader makes."""
    return "<" in path or any(b.file and path.endswith(b.file) for b in BLOCKS)


def marks(words: list[str]) -> set[str]:
    found = [words[i + 1] for i, w in enumerate(words[:-1]) if w == "-m"]
    return {m for said in found for m in re.findall(r"\w+", said)} - {"and", "or", "not"}


@cache
def help_of(module: str) -> frozenset[str]:
    """The options that a module's own help names."""
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return frozenset(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", done.stdout))


@cache
def declared_marks() -> frozenset[str]:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return frozenset(m.split(":")[0] for m in told["tool"]["pytest"]["markers"])


@cache
def environments() -> frozenset[str]:
    told = configparser.ConfigParser(interpolation=None)
    told.read(ROOT / "tox.ini", encoding="utf-8")
    return frozenset(s.removeprefix("testenv:") for s in told.sections() if ":" in s)


# One process for all of them: loading torch once is enough.
COLLECT = """
import json, sys, pytest
for words in json.loads(sys.argv[1]):
    status = int(pytest.main([*words, "--collect-only", "-qq", "-p", "no:cacheprovider"]))
    print("STATUS", status, words)
"""


def test_pytest_collects_what_a_block_selects():
    """Every command that is not marked heavy or new selects something, as it stands."""
    import json

    wanted = [
        [FILLED.get(w, w) for w in words[1:]]
        for _, about, words in SCRIPTS
        if words[0] == "pytest" and not {"heavy", "new"} & set(about)
    ]
    assert len(wanted) > 2
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, json.dumps(wanted)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stdout.splitlines() if line.startswith("STATUS")]
    assert len(told) == len(wanted), done.stderr
    assert all(line.startswith("STATUS 0") for line in told), "\n".join(told)
