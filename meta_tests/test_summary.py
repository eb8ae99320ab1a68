"""A run as Markdown, JSON and badge: complete, valid, and inert whatever a model wrote."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from math import inf, nan

import jsonschema
import pytest

from meta_tests.pages import DATA, made_up
from meta_tests.test_page import VERDICTS, contrast
from reports import badge, markdown, summary
from reports.model import LABELS, view

SVG = "{http://www.w3.org/2000/svg}"


def schema() -> dict:
    return json.loads(summary.SCHEMA.read_text(encoding="utf-8"))


@pytest.fixture(params=["made_up", "made_up_unfinished"])
def path(request) -> str:
    return str(DATA / f"{request.param}.jsonl")


def test_the_json_fits_its_published_schema(path, tmp_path):
    jsonschema.Draft202012Validator.check_schema(schema())
    out = tmp_path / "summary.json"
    assert summary.main([path, "--json", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    jsonschema.validate(json.loads(text, parse_constant=pytest.fail), schema())


def test_the_json_says_what_the_ledger_says():
    told = summary.as_json(view(made_up()))
    claims = {claim["id"]: claim for claim in told["claims"]}
    assert (told["exit"], told["judged"], told["schema"]) == (1, 14, 1)
    assert tuple(told["counts"]) == LABELS
    assert {c: claims[c]["verdict"] for c in VERDICTS} == VERDICTS
    assert claims["sample/control-is-missed"]["controls"] == {"caught": 0, "of": 2}
    assert claims["sample/needs-what-is-not-here"]["controls"]["caught"] == 0
    shapes = claims["sample/always-confirmed"]["cases"][1]
    assert (shapes["estimate"], shapes["limit"], shapes["n"]) == (5.896284542072959e-07, 1e-5, 72)


def test_numbers_that_are_none_are_words():
    rows = made_up()
    for row in rows:
        if row["kind"] == "verdict":
            row["estimate"], row["low"], row["high"] = nan, -inf, None
            row["figure"] = {**row["figure"], "limit": inf}
    told = summary.as_json(view(rows))
    jsonschema.validate(told, schema())
    case = told["claims"][0]["cases"][0]
    assert [case[k] for k in ("estimate", "low", "high", "limit")] == ["nan", "-inf", None, "inf"]


def test_an_unfinished_run_has_no_exit_status():
    told = summary.as_json(view(made_up("made_up_unfinished")))
    assert told["exit"] is told["finished"] is None
    assert "UNFINISHED" in {claim["verdict"] for claim in told["claims"]}


def test_the_markdown_answers_first_and_names_what_fails_and_how_to_repeat_it(capsys):
    assert summary.main([str(DATA / "made_up.jsonl")]) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == "## onecall: 7 of 14 claims hold here"
    assert "7 ✓ CONFIRMED, 1 ✕ REFUTED, 1 ✕ REFUTED (known), 1 ? INCONCLUSIVE" in said
    refuted = said[said.index("**✕ REFUTED** sample/share-is-refuted") :].split("\n- ")[0]
    assert "why: native template: interval beyond the limit" in refuted
    assert "repeat: <code>pytest claims/sample/test&#95;share&#95;is&#95;refuted.py" in refuted
    assert sum(line.startswith("| ") for line in lines) == 1 + 15
    assert "did not reach its end" not in said
    assert "did not reach its end" in markdown.summary(view(made_up("made_up_unfinished")))


def test_nothing_a_model_wrote_is_markdown():
    odd = "*a* _b_ `c` [d](http://e) <img src=x> | ~f~ www.g.h @i $j$ \\ \n# k \x1b[31m"
    assert markdown.escaped(odd) == (
        "&#42;a&#42; &#95;b&#95; &#96;c&#96; &#91;d&#93;(http&#58;//e) &#60;img src=x&#62; "
        "&#124; &#126;f&#126; www&#46;g.h &#64;i &#36;j&#36; &#92; # k U+001B&#91;31m"
    )
    said = markdown.summary(view(made_up()))
    assert "<script" not in said
    assert "\x1b" not in said


def test_the_badge_says_it_in_words_and_fits_its_width():
    runs = {
        "7 of 14 claims hold, 1 known": view(made_up()),
        "unfinished": view(made_up("made_up_unfinished")),
        "nothing judged": view([made_up()[0], {**made_up()[-1], "counts": {}, "notes": []}]),
    }
    for words, run in runs.items():
        drawn = ET.fromstring(badge.svg(run))
        assert drawn.get("aria-label") == f"onecall: {words}"
        shown = [t.text for t in drawn.iter(f"{SVG}text")]
        assert shown == ["onecall", words]
        ends = [float(r.get("x", 0)) + float(r.get("width")) for r in drawn.iter(f"{SVG}rect")]
        assert ends[-1] == float(drawn.get("width"))
    assert all(contrast("#ffffff", colour) >= 4.5 for colour in badge.COLOURS.values())


@pytest.mark.parametrize(
    ("verdicts", "exit_status", "colour"),
    [
        (("CONFIRMED",), 0, "good"),
        (("CONFIRMED", "REFUTED (known)"), 0, "known"),
        (("CONFIRMED", "REFUTED"), 1, "bad"),
        (("CONFIRMED", "VOID"), 20, "open"),
        (("CONFIRMED", "INCONCLUSIVE"), 21, "open"),
        (("NOT APPLICABLE",), 20, "open"),
    ],
)
def test_the_badge_is_green_only_when_the_run_is(verdicts, exit_status, colour):
    header, *rows, footer = made_up()
    template = next(r for r in rows if r["kind"] == "claim")
    claims = [
        {
            **template,
            "claim": f"made/{n}",
            "verdict": verdict.removesuffix(" (known)"),
            "known": "seen" if verdict.endswith("(known)") else "",
        }
        for n, verdict in enumerate(verdicts)
    ]
    run = view([header, *claims, {**footer, "exit": exit_status, "notes": []}])
    assert f'fill="{badge.COLOURS[colour]}"' in badge.svg(run)


def test_all_three_come_from_one_command(tmp_path, capsys):
    files = [tmp_path / name for name in ("a.md", "a.json", "a.svg")]
    options = zip(("--markdown", "--json", "--badge"), map(str, files), strict=True)
    assert summary.main([str(DATA / "made_up.jsonl"), *(o for pair in options for o in pair)]) == 0
    assert capsys.readouterr().out == ""
    assert all(file.stat().st_size for file in files)


def test_what_is_no_ledger_is_one_line(tmp_path, capsys):
    path = tmp_path / "none.jsonl"
    assert summary.main([str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
