"""The page and the terminal's table say what the ledger says, and nothing that it holds runs."""

from __future__ import annotations

import json
import re
import time
from math import inf, isfinite, nan
from typing import Any

import pytest

from claims._kit import stats
from claims._kit.ledger import Row
from meta_tests.pages import Parsed, made_up, many
from reports import bars, charts, html, page, summary_html, terminal, words
from reports.detail_html import BADGES
from reports.model import KNOWN, LABELS, UNFINISHED, view

VERDICTS = {
    "sample/always-confirmed": "CONFIRMED",
    "sample/share-is-refuted": "REFUTED",
    "sample/known-refutation": KNOWN,
    "sample/too-few-to-tell": "INCONCLUSIVE",
    "sample/needs-what-is-not-here": "NOT APPLICABLE",
    "sample/control-is-missed": "VOID",
    "sample/beats-the-floor": "VOID",
    "sample/not-a-number": "VOID",
    "text/crashes": "VOID",
}
ODD = "'\"><zz9 onerror=alert(1)></script><!--&\x00\x1b\u202e\ud800"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return made_up()


@pytest.fixture(scope="module")
def body(rows: list[Row]) -> str:
    return page.body(rows)


@pytest.fixture(scope="module")
def parsed(body: str) -> Parsed:
    return Parsed(body)


def claim_part(body: str, claim: str) -> str:
    """The HTML of one claim."""
    start = body.index(f'id="{claim}"')
    return re.split(r'<tbody class="(?:claim|family)"|</table></section>', body[start:])[0]


def in_words(value: Any) -> Any:
    """``value`` with NaN and infinity as the words that a ledger's file holds."""
    if isinstance(value, dict):
        return {k: in_words(v) for k, v in value.items()}
    if isinstance(value, list):
        return [in_words(v) for v in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def changed(value: Any, change: Any, key: str = "") -> Any:
    """``value`` with every text in it passed through ``change``, names of notes included."""
    if isinstance(value, dict):
        named = key in ("notes", "points", "machine", "software", "engine", "target")
        return {
            (change(k) if named and k not in ("gpus", "name", "cpu") else k): changed(v, change, k)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [changed(v, change, key) for v in value]
    fixed = key in ("kind", "verdict") or value in ("subject", "nan", "inf", "-inf")
    return change(value) if isinstance(value, str) and not fixed else value


def test_same_rows_give_the_same_bytes(body: str):
    """Two pages of one ledger are equal byte for byte, charts included."""
    assert body == page.body(made_up())
    assert "speed-first-token-grows-figure_1" in body


def test_rows_are_left_as_they_are(rows: list[Row]):
    """Making a page changes no row."""
    before = json.dumps(rows)
    page.body(rows)

    assert before == json.dumps(rows)


def test_a_ledger_read_as_plain_json_gives_the_same_page(body: str, rows: list[Row]):
    """NaN and infinity may come as numbers or as the words that a ledger keeps."""
    assert body == page.body([in_words(row) for row in rows])


def test_the_page_nests_and_ids_are_unique(parsed: Parsed):
    """Every element is closed where it has to be, and no id stands twice."""
    ids = parsed.values("id")

    assert parsed.faults == []
    assert len(ids) == len(set(ids))


def test_every_label_target_of_aria_exists(parsed: Parsed):
    """What aria-labelledby and links inside the page point at is there."""
    ids = set(parsed.values("id"))
    links = {v[1:] for v in parsed.values("href") if v.startswith("#")}

    assert set(parsed.values("aria-labelledby")) | links <= ids


def test_nothing_is_loaded_and_no_handler_is_inline(body: str, parsed: Parsed):
    """The page asks for nothing outside of itself."""
    assert [v for name in ("src", "srcset", "data") for v in parsed.values(name)] == []
    assert all(v.startswith("#") for v in parsed.values("href") + parsed.values("xlink:href"))
    assert [a for a in parsed.attributes if a[1].startswith("on")] == []
    assert "http" not in body.replace("text/hostile-output", "")
    assert not re.search(r"url\((?!#)|@import", body + page.CSS.read_text(encoding="utf-8"))


def test_odd_text_in_any_field_stays_text(rows: list[Row]):
    """Markup, quotes, control characters and lone surrogates in every text of every row."""
    odd = page.body([changed(row, lambda text: f"{text}{ODD}") for row in rows])
    seen = Parsed(odd)

    assert "zz9" not in seen.tags
    assert seen.tags["script"] == 1
    assert seen.faults == []
    assert [a for a in seen.attributes if a[1].startswith("on")] == []
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800]", odd)
    odd.encode("utf-8")


def test_hostile_notes_are_readable(body: str, parsed: Parsed):
    """What a model wrote is shown in full, its invisible characters by their code."""
    assert "<script>alert('x')</script><img src=x onerror=alert(1)>" in parsed.text
    assert '</pre></details></main></script>{{ 7*7 }} {% raw %} &amp; "quoted"' in parsed.text
    assert "U+202Eevil" in parsed.text
    assert "U+D800 alone" in parsed.text
    assert "👩\u200d👩\u200d👧" in parsed.text
    assert "\nfirst\n\n  second\tafter a tab\n" in parsed.text
    assert "x" * 3000 in parsed.text
    assert parsed.tags["script"] == 1
    assert parsed.tags["img"] == 0


@pytest.mark.parametrize("claim", sorted(VERDICTS))
def test_every_claim_has_its_verdict_in_words(body: str, claim: str):
    """The verdict stands in the claim's own row as text, with a sign that is no colour."""
    part = claim_part(body, claim)
    css, sign = BADGES[VERDICTS[claim]]

    assert f'data-verdict="{VERDICTS[claim]}"' in part
    assert f'<span class="badge {css}"><span class="sign" aria-hidden="true">{sign}</span>' in part
    assert f"{VERDICTS[claim]}</span>" in part


def test_signs_differ_where_colours_do():
    """No two verdicts share sign and word."""
    assert set(LABELS) | {UNFINISHED} == set(BADGES)
    assert len({sign for _, sign in BADGES.values()}) == 6  # the two refutations share theirs


def test_the_answer_counts_every_claim_once(parsed: Parsed):
    """The first sentence says how many claims hold, of which, on what, against what."""
    said = " ".join(parsed.text.split())

    assert "7 of 14 claims hold here, on invented-1b, on Imaginary CPU 9000, 2 cores" in said
    assert "judged against the figures of made-up-notes and made-up-report." in said
    assert "1 more claim does not apply here." in said
    assert dict(zip(LABELS, (7, 1, 1, 1, 1, 4), strict=True)) == view(made_up()).counts


def test_conditions_are_shown(parsed: Parsed):
    """Model, hash, licence, machine, engine, seed, command, start, end and exit status."""
    said = " ".join(parsed.text.split())

    for part in (
        "0123456789ab,",
        "licence Apache-2.0",
        "imaginary, attention sdpa, cache dynamic",
        "Seed7",
        "pytest -m cpu --target invented-1b 'a word with spaces'",
        "2026-01-02 03:04:05 UTC",
        "2026-01-02 03:09:59 UTC, exit status 1",
        "sample/gone is confirmed now on invented-1b; delete the line",
    ):
        assert part in said


@pytest.mark.parametrize("claim", [c.id for c in view(made_up()).claims])
def test_every_claim_shows_what_it_rests_on(rows: list[Row], body: str, claim: str):
    """Claimed with its setting, limit with its reason, controls, source, reason, repeat."""
    part = Parsed(f"<a {claim_part(body, claim)}").text
    row = next(r for r in rows if r["kind"] == "claim" and r["claim"] == claim)
    figure = next(r for r in rows if r["kind"] == "verdict" and r["claim"] == claim)["figure"]
    source = row["source"]

    for said in (row["sentence"], row["repeat"], source["document"], source["where"]):
        assert said in part
    for said in (figure["claimed"], figure["setting"], figure["why"], figure["unit"]):
        assert said in part
    assert words.number(float(figure["limit"])) in part
    assert html.plain(row["reason"]) in part
    for control in row["controls"]:
        assert f"{control['name']}. {control['sentence']}" in part
        assert html.plain(control["reason"]) in part


def test_a_refuted_claim_says_why_and_how_to_repeat_without_opening(body: str):
    """Reason, claimed, measured, witness and command stand before the fold."""
    part = claim_part(body, "sample/share-is-refuted")
    before = Parsed(f"<a {part[: part.index('<details>')]}").text

    assert "native template: interval beyond the limit" in before
    assert "Claimed 20 of 20; measured 7 of 20 (= 0.35 share of replies that stop)" in before
    assert "question 3" in before
    assert "pytest claims/sample/test_share_is_refuted.py -m cpu --seed 7" in before


def test_a_missed_control_is_named(body: str):
    """0 of 2, with the names of the faults that the measure did not see."""
    part = Parsed(f"<a {claim_part(body, 'sample/control-is-missed')}").text

    assert "0 of 2" in part
    assert "missed: slow clock and second fault" in part
    assert "MISSED" in part
    assert "no authority" in part


def test_a_control_that_never_ran_counts_as_neither(body: str):
    """A claim out of scope shows no score of controls."""
    part = Parsed(f"<a {claim_part(body, 'sample/needs-what-is-not-here')}").text

    assert "not run" in part
    assert "0 of 1" not in part


def test_a_control_outside_the_selection_is_not_called_missed(rows: list[Row]):
    """A fault that never ran is not caught, and nobody says that the measure overlooked it."""
    claim = "sample/control-is-missed"
    name = "slow clock"
    some = [r for r in rows if not (r.get("claim") == claim and r.get("role") == name)]
    part = Parsed(f"<a {claim_part(page.body(some), claim)}").text

    assert f"not run: {name}" in part
    assert "missed: second fault" in part
    assert "0 of 2 caught" in part


def test_samples_that_are_no_numbers_are_shown(body: str):
    """NaN and both infinities stand among the samples, by name."""
    part = Parsed(f"<a {claim_part(body, 'sample/not-a-number')}").text

    assert "5 samples in 0.125 s, 3 not finite" in part
    for said in ("NaN", "infinity", "-infinity"):
        assert said in part


def test_a_beaten_floor_is_called_wrong(body: str):
    """The floor stands in the row, and its reason in the opened claim."""
    part = Parsed(f"<a {claim_part(body, 'sample/beats-the-floor')}").text

    assert "floor 3.7 ms (bytes of the weights over bandwidth)" in part
    assert "BEATEN" in part
    assert "0.92 GiB read once at 274 GB/s" in part


def test_a_sweep_is_drawn_and_tabulated(body: str):
    """A chart of every series, logarithmic over decades, and the same numbers in a table."""
    part = claim_part(body, "speed/first-token-grows")
    said = Parsed(f"<a {part}").text

    assert 'aria-label="Chart of decode_step_ms, floor_ms and prefill_ms over tokens"' in part
    for value in ("35.82", "293.4", "33.51", "2,048"):
        assert value in said
    assert "<metadata" not in body
    assert "#0300" not in body  # every stand-in colour became one of the page's


def test_a_sweep_with_a_hole_keeps_the_rest(body: str):
    """A NaN point is in the table and not in the chart; odd series names stay text."""
    part = claim_part(body, "speed/half-a-sweep")
    seen = Parsed(f"<a {part}")

    assert "NaN" in seen.text
    assert "_step $x$ ms" in seen.text
    assert "<b>rate</b>" in seen.text
    assert 'class="chart"' in part


def test_an_unfinished_run_says_so():
    """Without a footer: a notice, the claim that was cut off, and counts of what is finished."""
    said = " ".join(Parsed(page.body(made_up("made_up_unfinished"))).text.split())

    assert "This run did not reach its end." in said
    assert "Begun and not finished: speed/first-token-grows." in said
    assert "2 of 8 claims finished so far hold here" in said
    assert UNFINISHED in said
    assert "did not reach its end" not in Parsed(page.body(made_up())).text


def test_a_run_without_claims_has_a_page(rows: list[Row]):
    """Nothing judged, and nothing at all: both are said and neither crashes."""
    for few in ([], [rows[0]], [rows[0], {**rows[-1], "counts": {}, "notes": []}]):
        seen = Parsed(page.body(few))
        assert "No claim was judged here" in seen.text
        assert "This run judged no claims." in seen.text
        assert seen.faults == []
        assert terminal.table(few) == "no claim was judged\n"


def test_links_lead_to_every_claim(parsed: Parsed):
    """Each claim has its id as an anchor and a link to it."""
    claims = [c.id for c in view(made_up()).claims]

    assert set(claims) <= set(parsed.values("id"))
    assert {f"#{claim}" for claim in claims} <= set(parsed.values("href"))


def test_five_hundred_claims_take_seconds():
    """Time of this process alone, so that busy neighbours do not fail it."""
    rows = many(500)
    began = time.process_time()
    seen = page.body(rows)
    took = time.process_time() - began

    assert seen.count('<tbody class="claim"') == 500
    assert took < 10, f"{took:.1f} s of processor time for 500 claims"


def test_the_guide_names_the_confidence_in_use():
    """The page's words about intervals follow the kit's number."""
    assert f"{stats.CONFIDENCE:.0%}".replace("%", " %") in page.body([])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (5.960464477539062e-07, "5.96e-7"),
        (0.0012345678, "0.001235"),
        (0.3333333, "0.3333"),
        (78.04, "78.04"),
        (1234.5, "1,234"),
        (123456.7, "123,500"),
        (1234567.8, "1.235e6"),
        (494032768.0, "494,032,768"),
        (-2.5, "-2.5"),
        (nan, "NaN"),
        (inf, "infinity"),
        (-inf, "-infinity"),
        (None, "none"),
    ],
)
def test_numbers_have_few_digits_and_counts_all(value: float | None, shown: str):
    """Four digits of what is measured, every digit of what is counted."""
    assert shown == words.number(value)


def test_a_value_that_only_looks_like_the_limit_says_so(rows: list[Row]):
    """Rounding hides no refutation."""
    run = view([changed_limit(row) for row in rows])
    case = next(c for c in run.claims if c.id == "sample/known-refutation").cases[0]

    assert words.estimate(case) == "24 (just above the limit)"
    assert words.against_limit(case) == "just above the limit"


def changed_limit(row: Row) -> Row:
    """The known refutation, refuted by a hair."""
    ours = row["kind"] == "verdict" and row["claim"] == "sample/known-refutation"
    return {**row, "estimate": 24.0001, "low": 24.0001, "high": 24.0001} if ours else row


@pytest.mark.parametrize(
    ("claimed", "unit", "number"),
    [
        ("below 1e-5", "largest absolute difference", 1e-5),
        ("24 normalisations", "normalisations", 24.0),
        ("2.98x", "times faster", 2.98),
        ("about 1.8x", "ratio", 1.8),
        ("at most 1,024 tokens", "tokens a call", 1024.0),
        ("< 3.7 ms", "ms", 3.7),
        ("95 %", "share of replies", None),
        ("63.2 ms", "s", None),
        ("2.98x", "ms", None),
        ("20 of 20", "share of replies", None),
        ("64 vs 139 ms", "ms", None),
        ("layer 30", "layers", None),
        ("at 512 tokens", "tokens", None),
        ("everything", "tokens", None),
        ("3 m", "ms", None),
    ],
)
def test_a_claimed_number_is_drawn_only_when_beyond_doubt(claimed: str, unit: str, number: Any):
    """A number in another unit, or one of several, is never put on the scale."""
    assert number == bars.claimed_number({"claimed": claimed, "unit": unit})


def test_scales_keep_their_values_apart_and_inside():
    """Over more than two decades the scale is logarithmic; zero keeps a place at its left."""
    log = bars.scale_of([0.0, 1e-5, 0.2])
    line = bars.scale_of([0.0, 3.0, 5.0])

    assert log.logarithmic and log.zero and not line.logarithmic
    assert log.at(0.0) < log.at(1e-5) < log.at(0.2) <= bars.RIGHT
    assert bars.LEFT == line.at(0.0) < line.at(3.0) < line.at(5.0) <= bars.RIGHT


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-1.0, -1.0], [-3.0, 4.0], [1e-30, 1e30]])
def test_every_scale_can_be_drawn(values: list[float]):
    """Equal, negative and far-apart values all have a place on the line."""
    scale = bars.scale_of(values)

    assert all(bars.LEFT <= scale.at(v) <= bars.RIGHT for v in values)


def test_a_share_is_told_from_a_median_and_from_every_sample():
    """Only a rule about a share shows ``k of n``; the same samples may serve other rules."""
    shown = {c.id: c.shown_case for c in view(made_up()).claims}

    assert shown["sample/share-is-refuted"].share == (7, 20)
    assert shown["text/hostile-output"].share == (29, 30)
    assert shown["sample/no-control"].share is None
    assert shown["sample/always-confirmed"].share is None


def test_the_axis_is_named_after_the_cases():
    """Words that all case names share name the axis; else it stays x."""
    assert charts.axis_name(["64 tokens", "1,024 tokens"]) == "tokens"
    assert charts.axis_name(["batch 1", "batch 2"]) == "batch"
    assert charts.axis_name(["N = 1", "N = 16"]) == "N"
    assert charts.axis_name(["short", "long"]) == "x"


def test_the_last_row_of_a_kind_wins(rows: list[Row]):
    """A resumed ledger may hold a claim twice; it is shown once, as it was last judged."""
    again = {**next(r for r in rows if r["kind"] == "claim"), "reason": "judged anew"}
    seen = page.body([*rows, again])

    assert seen.count(f'<tbody class="claim" id="{again["claim"]}"') == 1
    assert "judged anew" in seen


def test_a_limit_that_is_no_number_breaks_nothing(rows: list[Row]):
    """A figure may lack a finite limit; it is shown by name and not drawn."""
    strange = [
        {**r, "figure": {**r["figure"], "limit": "inf"}} if r["kind"] == "verdict" else r
        for r in rows
    ]
    seen = page.body(strange)

    assert "<b>infinity</b>" in seen
    assert 'class="bar"' not in seen
    assert 'data-distance="nan"' not in seen


def test_claims_without_their_cases_are_still_shown(rows: list[Row]):
    """A ledger may have lost its samples or its verdicts; the claims keep theirs."""
    for kinds in (("header", "claim"), ("header", "claim", "verdict"), ("verdict",)):
        seen = Parsed(page.body([row for row in rows if row["kind"] in kinds]))
        assert seen.faults == []
        assert {c.id for c in view(rows).claims} <= set(seen.values("id"))


def test_the_machine_is_the_device_that_was_used(rows: list[Row]):
    """On CUDA the page names the GPU, else the processor."""
    machine = {**rows[0]["machine"], "gpus": [{"name": "Imaginary GPU"}]}
    on_gpu = view([{**rows[0], "machine": machine, "device": "cuda"}])

    assert words.machine(on_gpu) == "Imaginary GPU"
    assert words.machine(view(rows)) == "Imaginary CPU 9000, 2 cores, 23.5 GiB"


def test_many_refutations_are_folded_after_the_first():
    """The list at the top stays short; the rest is one click away."""
    seen = summary_html.look_first(view(many(200)))

    assert f"<summary>{seen.count('<li>') - summary_html.FIRST} more</summary>" in seen


def test_the_terminal_shows_every_claim_and_obeys_none(rows: list[Row]):
    """A line per claim with its verdict, what fails with reason and repeat, no escape code."""
    shown = terminal.table(rows)
    lines = shown.splitlines()

    for claim, verdict in VERDICTS.items():
        assert any(line.split("  ")[0] == verdict and claim in line for line in lines)
    assert "repeat: pytest claims/sample/test_share_is_refuted.py -m cpu --seed 7" in shown
    assert "7 of 14 claims hold here on invented-1b: 7 CONFIRMED, 1 REFUTED" in shown
    assert "\x1b" not in shown and "U+001B" in shown
    assert "--resume" not in shown
    assert "--resume" in terminal.table(made_up("made_up_unfinished"))


def test_the_list_of_claims_is_sorted_and_aligned():
    """One line a claim, then their number; an empty selection is said."""
    shown = terminal.claim_list([("b/longer", ["cpu", "gpu"], "Y is."), ("a/x", ["cpu"], "X is.")])

    assert (shown.splitlines()) == [
        "a/x       cpu      X is.",
        "b/longer  cpu,gpu  Y is.",
        "",
        "2 claims",
    ]
    assert terminal.claim_list([]) == "no claims match\n"


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_of_text_keep_their_contrast():
    """4.5 for every text and its paper, among them a chart's marks; dark and light."""
    palettes = re.findall(r":root \{(.*?)\}", page.CSS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(palettes) == 2
    for palette in palettes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", palette))
        for paper in (colours["paper"], colours["raised"]):
            assert all(contrast(colours[n], paper) >= 4.5 for n in ("ink", "soft", "link"))
        for css in ("confirmed", "refuted", "known", "inconclusive", "void", "not-applicable"):
            assert contrast(colours[css], colours[f"{css}-paper"]) >= 4.5, css
        for n in range(1, 7):
            assert contrast(colours[f"series-{n}"], colours["paper"]) >= 4.5
