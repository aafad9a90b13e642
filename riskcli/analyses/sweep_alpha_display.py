"""Tables for people of a sweep over alpha: the answer, the events, the runs by alpha."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from riskcli.analyses.sweep_events import Course, Event, Lead, Series, Swept
from riskcli.core.messages import counted, joined
from riskcli.output import display
from riskcli.output.display import (
    BASELINE_MARK,
    Cell,
    Column,
    Display,
    Heading,
    fitting,
    in_title,
    shortened,
)
from riskcli.output.measure_words import MINUS, about_logarithms, symbol, titled, weight, words_of
from riskcli.output.verdict import Statement
from riskcli.risk.measure import RiskMeasure

_ONE_LINE, _TWO_LINES = 49, 96
"""Characters of the answer's last column that take so many lines of 80 columns."""
_MOST_LINES = 15
"""Of the answer, but for what stands above and below its rows."""
_NAME = 20
"""Names in a list are no longer."""


# The answer: who leads from which alpha on, whom TRisk marks from where to where, who breaks even.


def answer(swept: Swept, gamma: float) -> Display:
    """Everything that matters in a line each."""
    letter = symbol(swept.convention)
    rows: list[list[str]] = []
    for most in (_TWO_LINES, _ONE_LINE):
        rows = list(_answer_rows(swept, most))
        if sum(1 + (len(row[-1]) > _ONE_LINE) for row in rows) <= _MOST_LINES:
            break
    headings = [
        Heading("measure", left=True, names=True), Heading("", left=True, names=True),
        Heading(f"run, and {letter}", left=True),
    ]  # fmt: skip
    caption = "Leads: the order in this sample."
    if any(course.measure.value_is_t for course in swept.courses):
        caption += (
            f" ▲ gains, ▼ losses counted {_times(swept)} times outweigh the other "
            f"(γ = {gamma:g}, per run, uncorrected)."
        )
    caption += " ⁻ sign turned, higher is riskier." if swept.convention == MINUS else ""
    caption += "" if swept.events else " Nothing changes."
    caption += " More: --full, --between RUN RUN."
    title = f"{_what_changes(swept)}, {counted(len(swept.rows), 'run')}"
    shown = Display.of_rows(title, headings, rows, [caption, *about_logarithms([swept.measure])])
    return replace(shown, marks="arrows")


def _answer_rows(swept: Swept, most: int) -> Iterator[list[str]]:
    """Measure, what is said of it, and runs in no more characters than that."""
    yield from (_lead_row(swept, lead, most) for lead in swept.leads)
    for measure in dict.fromkeys(course.measure for course in swept.courses):
        mine = [course for course in swept.courses if course.measure is measure]
        lines = _marked(swept, mine) if measure.value_is_t else _even(swept, mine, most)
        yield from ([titled(measure, swept.convention), *line] for line in lines)


def _what_changes(swept: Swept) -> str:
    """The beginning of a title."""
    letter, weights = symbol(swept.convention), _weights(swept)
    about = f"{swept.measure}, baseline {in_title(swept.baseline)}"
    return f"{about}: what changes as {letter} goes from {weights[0]:g} to {weights[1]:g}"


def _weights(swept: Swept) -> tuple[float, float]:
    """The ends of the range, as the convention has them."""
    return weight(swept.span.first, swept.convention), weight(swept.span.last, swept.convention)


def _times(swept: Swept) -> str:
    """How often losses count."""
    letter = symbol(swept.convention)
    return letter if swept.convention == MINUS else f"1+{letter}"


def _at(swept: Swept, alpha: float) -> str:
    """An alpha with two decimals, small ones with two figures."""
    number = weight(alpha, swept.convention)
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def _names(swept: Swept, rows: Sequence[int]) -> str:
    """One run, two, or the first of several that are equal."""
    names = [shortened(swept.runs[row], _NAME) for row in rows]
    return " = ".join(names) if len(names) < 3 else f"{names[0]} = {len(names) - 1} others"


def _lead_row(swept: Swept, lead: Lead, most: int) -> list[str]:
    """A chain of leaders; a long one keeps its beginning and its end."""
    (_, first), *others = lead.stretches
    steps = [_names(swept, first)]
    steps += [f"{_names(swept, runs)} at {_at(swept, alpha)}" for alpha, runs in others]
    swaps = counted(lead.swaps, "swap")
    for left_out in range(len(steps)):
        kept = steps
        if left_out:
            kept = [steps[0], f"({left_out} more)", *steps[1 + left_out :]]
        text = f"{' → '.join(kept)} ({swaps})"
        if len(text) <= most:
            break
    return [titled(lead.measure, swept.convention), "leads", text]


def _marked(swept: Swept, courses: Sequence[Course]) -> Iterator[list[str]]:
    """From and up to which alpha runs are marked, and which are throughout."""
    for mark, state in (("▲", "better"), ("▼", "worse")):
        starts: list[tuple[float, int]] = []
        ends: list[tuple[float, int]] = []
        for course in courses:
            for (_, before), (alpha, after) in zip(course.states, course.states[1:], strict=False):
                starts += [(alpha, course.run)] if after == state else []
                ends += [(alpha, course.run)] if before == state else []
        yield from _listed_at(swept, f"{mark} from", sorted(starts), _ONE_LINE)
        yield from _listed_at(swept, f"{mark} up to", sorted(ends, reverse=True), _ONE_LINE)
        yield from _throughout(swept, f"{mark} at every {symbol(swept.convention)}", courses, state)
    yield from _throughout(swept, f"at no {symbol(swept.convention)} ▲ or ▼", courses, "")


def _even(swept: Swept, courses: Sequence[Course], most: int) -> Iterator[list[str]]:
    """Where each run breaks even; the others have one sign throughout."""
    even = [(alpha, course.run) for course in courses for alpha, _ in course.states[1:]]
    letter, turned = symbol(swept.convention), swept.convention == MINUS
    above, below = ("below", "above") if turned else ("above", "below")
    yield from _listed_at(swept, "is 0 at", sorted(even, reverse=True), most)
    yield from _throughout(swept, f"{above} 0 at every {letter}", courses, "positive")
    yield from _throughout(swept, f"{below} 0 at every {letter}", courses, "negative")


def _listed_at(
    swept: Swept, label: str, found: Sequence[tuple[float, int]], most: int
) -> Iterator[list[str]]:
    if found:
        texts = [f"{_names(swept, [row])} {_at(swept, alpha)}" for alpha, row in found]
        yield [label, fitting(texts, most)]


def _throughout(
    swept: Swept, label: str, courses: Sequence[Course], state: str
) -> Iterator[list[str]]:
    rows = [each.run for each in courses if [of for _, of in each.states] == [state]]
    if len(rows) == len(courses) > 1:
        yield [label, f"all {len(rows)} runs"]
    elif rows:
        yield [label, fitting([_names(swept, [row]) for row in rows], _ONE_LINE)]


# What it says, in sentences.


def statements(swept: Swept) -> Iterator[Statement]:
    """Who leads throughout, where the lead passes on, and whose gains outweigh its losses."""
    still = [lead for lead in swept.leads if len(lead.stretches) == 1]
    by_leader: dict[tuple[int, ...], list[RiskMeasure]] = {}
    for lead in still:
        by_leader.setdefault(lead.stretches[0][1], []).append(lead.measure)
    if by_leader:
        rows, of = max(by_leader.items(), key=lambda item: len(item[1]))
        verb = "leads" if len(rows) == 1 else "lead"
        titles = joined([titled(measure, swept.convention) for measure in of])
        yield Statement(
            "lead-stays",
            f"{_among(swept)}{_names(swept, rows)} {verb} by {titles} at any weight of losses "
            f"({_range_in_words(swept)}).",
            swept.about, tuple(swept.runs[row] for row in rows),
        )  # fmt: skip
    passing = [lead for lead in swept.leads if len(lead.stretches) > 1]
    passing.sort(key=lambda lead: not words_of(lead.measure).headline)
    yield from (_passes(swept, lead) for lead in passing[:1])
    yield from _outweighed(swept)


def _among(swept: Swept) -> str:
    """Whom a lead is over, where not all runs are looked at."""
    return f"Of these {len(swept.rows)} runs " if len(swept.rows) < len(swept.runs) else ""


def _word(swept: Swept) -> str:
    return "alpha-hat" if swept.convention == MINUS else "alpha"


def _range_in_words(swept: Swept) -> str:
    first, last = _weights(swept)
    return f"{_word(swept)} {first:g} to {last:g}"


def _passes(swept: Swept, lead: Lead) -> Statement:
    """From whom to whom, at which alpha; of many changes the first run and the last."""
    (_, first), *others = lead.stretches
    title, word = titled(lead.measure, swept.convention), _word(swept)
    by = "by" if _among(swept) else "By"
    if len(others) <= 2:
        (alpha, second), *rest = others
        then = [f"to {_names(swept, second)} at {word} {_at(swept, alpha)}"]
        then += [f"to {_names(swept, runs)} at {_at(swept, alpha)}" for alpha, runs in rest]
        passed = f"the lead passes from {_names(swept, first)} {' and '.join(then)}."
    else:
        alpha, last = others[-1]
        passed = (
            f"the lead passes {len(others)} times, from {_names(swept, first)} at last to "
            f"{_names(swept, last)} at {word} {_at(swept, alpha)}."
        )
    runs = dict.fromkeys(swept.runs[row] for _, rows in lead.stretches for row in rows)
    ends = {"first_alpha": others[0][0], "last_alpha": others[-1][0]}
    numbers = {"changes": float(len(others)), **ends}
    return Statement(
        "lead-passes",
        f"{_among(swept)}{by} {title} {passed}",
        swept.about,
        tuple(runs),
        (),
        numbers,
    )


def _outweighed(swept: Swept) -> Iterator[Statement]:
    """Whose gains outweigh its losses at every alpha; else up to which alpha somebody's do."""
    courses = [course for course in swept.courses if not course.measure.value_is_t]
    if not courses:
        return
    always = [each.run for each in courses if [of for _, of in each.states] == ["positive"]]
    even = sorted((alpha, each.run) for each in courses for alpha, _ in each.states[1:])
    everywhere = _range_in_words(swept)
    rows = always
    numbers: dict[str, float | None] = {"runs": float(len(always)), "of": float(len(courses))}
    if always:
        names = fitting([_names(swept, [row]) for row in always], 60)
        text = f"Gains outweigh losses throughout ({everywhere}) in {names}."
    elif even:
        alpha, row = even[-1]
        rows, numbers = [row], {**numbers, "alpha": alpha}
        text = (
            "In no run do gains outweigh losses throughout; longest in "
            f"{_names(swept, [row])}, to {_word(swept)} {_at(swept, alpha)}."
        )
    else:
        text = f"In no run do gains outweigh losses ({everywhere})."
    yield Statement(
        "break-even", text, swept.about, tuple(swept.runs[r] for r in rows), (), numbers
    )


# The events and the runs by alpha.


def event_table(swept: Swept, most: int, gamma: float) -> Display:
    """What changes at which alpha, the first `most` of it."""
    letter = symbol(swept.convention)
    rows = [
        [
            display.decimal(weight(event.alpha, swept.convention), 4),
            titled(event.measure, swept.convention),
            _in_words(swept, event),
        ]
        for event in swept.events[:most]
    ]
    caption = [] if swept.events else ["Nothing changes."]
    if len(swept.events) > most:
        more = counted(len(swept.events) - most, "event")
        caption.append(f"And {more} more: --top shows them, --of and --between choose.")
    if any(event.kind == "significance" for event in swept.events):
        caption.append(f"TRisk's significance: level γ = {gamma:g}, per run (no correction).")
    headings = [Heading(letter), Heading("measure", left=True), Heading("what changes", left=True)]
    return Display.of_rows(_what_changes(swept), headings, rows, caption)


def _in_words(swept: Swept, event: Event) -> str:
    """The event in words."""
    run = swept.runs[event.run]
    if event.other is not None:
        return f"{run} overtakes {swept.runs[event.other]}"
    losses = f"losses, counted {_times(swept)} times"
    if event.kind == "break-even":
        return f"{run} turns {event.after}: its {losses}, outweigh its gains"
    state, change = (event.after, "from here ") if event.after else (event.before, "")
    stronger, weaker = ("gains", losses) if state == "better" else (f"{losses},", "gains")
    no_longer = "" if event.after else "no longer "
    return f"{run}: {change}its {stronger} {no_longer}significantly outweigh its {weaker}"


def series_tables(swept: Swept, width: int) -> list[Display]:
    """A table a measure; of many alphas, as many as fit, evenly spread."""
    tables = [
        _table(swept, measure, width)
        for measure in swept.shown
        if measure.id in swept.series[0].values
    ]
    if not tables:
        return []
    about = ["# rank among all runs, 1 is best.", *about_logarithms([swept.measure])]
    if len(tables[-1].headings) <= len(swept.series[0].alphas):
        about.append(f"Not every {symbol(swept.convention)} is shown: -f tsv has them all.")
    if swept.convention == MINUS:
        about.append("⁻ sign turned, higher is riskier.")
    return [*tables[:-1], replace(tables[-1], caption=about)]


def _table(swept: Swept, measure: RiskMeasure, width: int) -> Display:
    linear, *smooth = swept.series
    rows = np.array(swept.rows)
    order = rows[np.argsort(linear.ranks[measure.id][0][rows], kind="stable")].tolist()
    names = [
        Cell(f"{swept.runs[row]} {BASELINE_MARK}", strong=True)
        if row == swept.own_row
        else Cell(swept.runs[row])
        for row in order
    ]
    left = [Column(Heading("run", left=True, names=True), names)]
    right = [_column(series, measure, 0, order, "s(x)") for series in smooth]
    every = [
        _column(linear, measure, i, order, f"{weight(alpha, swept.convention):g}")
        for i, alpha in enumerate(linear.alphas)
    ]
    about = f"({swept.measure}, {in_title(swept.baseline)})"
    title = f"{titled(measure, swept.convention)} by {symbol(swept.convention)} {about}"
    for most in range(len(every), 1, -1):
        columns = [*left, *(every[i] for i in display.thinned(len(every), most)), *right]
        if display.width_of(columns) <= width:
            break
    return Display(title, columns)


def _column(
    series: Series, measure: RiskMeasure, i: int, order: Sequence[int], heading: str
) -> Column:
    """The measure's values at the i-th alpha, with their ranks."""
    places = min(words_of(measure).decimals, 3)
    values = display.decimals(series.values[measure.id][i][order].tolist(), places)
    ranks = series.ranks[measure.id][i][order].tolist()
    cells = [
        Cell(text, rank=None if rank != rank else int(rank))
        for text, rank in zip(values, ranks, strict=True)
    ]
    return Column(Heading(heading, ranked=True), cells)
