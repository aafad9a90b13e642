"""The comment on a pull request: a gate's verdict in Markdown, in forty lines at most."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from riskcli.analyses.check.outcomes import OUTCOMES, WORDS, Verdict
from riskcli.analyses.check.summary import rule_row
from riskcli.analyses.diff import RunDiff, diff
from riskcli.analyses.diff_documents import Ranked, side_by_side
from riskcli.cli.evaluating import rules
from riskcli.cli.reading import Inputs
from riskcli.core.messages import Input, RiskevalError, counted
from riskcli.core.version import __version__
from riskcli.output.display import Display, Heading, cut
from riskcli.output.escape import markdown
from riskcli.output.problems import MARKER
from riskcli.output.renderers import as_markdown
from riskcli.output.verdict import Statement
from riskcli.scores.evaluation import Evaluation, evaluate

TOPICS = 3
"""So many topics of a measure are shown, with documents where these are known."""
_SENTENCES, _RULES, _LOSSES, _INPUTS, _DOCUMENTS = 6, 8, 5, 3, 3
_GIVE_WAY = ("ruins", "unjudged", "unproven")
"""The rules of sentences that are left out where there is no room, the last of these first."""
_FIRST = (WORDS["fail"], "ALARM", WORDS["inconclusive"])
"""What sentences begin with that have room before all others."""
_LETTERS = 1500
"""The longest line: forty of them are less than what GitHub takes."""
_CELL = 300
"""The longest cell: a row whose end is cut off would lose its scores."""


def as_comment(
    title: str,
    said: Sequence[str],
    tables: Sequence[Display],
    below: Sequence[str],
    inputs: Sequence[Input],
) -> str:
    """Verdict and sentences, the tables, and folded what else a reader may want to know."""
    files = sorted(inputs, key=lambda each: each.kind == "run")
    folded = [f"- {markdown(line)}" for line in (*below[:_INPUTS], f"riskeval {__version__}")]
    for each in files[:_INPUTS]:
        name, sha256 = markdown(f"{each.kind}: {each.path.name}"), each.sha256 or "unknown"
        folded.append(f"- {name}, SHA-256 `{sha256[:12]}`")
    left = len(files) - _INPUTS
    folded += [f"- and {counted(left, 'more file')}"] if left > 0 else []
    table = re.sub("\n{3,}", "\n\n", as_markdown(tables)).strip().split("\n")
    lines = [
        MARKER, f"### {markdown(title)}", "", *(f"{markdown(each)}  " for each in said), "", *table,
        "", "<details><summary>How it was judged</summary>", "", *folded, "</details>",
    ]  # fmt: skip
    return "".join(f"{line[:_LETTERS]}\n" for line in lines)


def sentences(said: Sequence[Statement], told: Sequence[str]) -> list[str]:
    """As many as there is room for, each with its measure where there are several.

    What fails is among them, however many measures pass.
    """
    several = len({each.about for each in said} - {""}) > 1
    last = [_room_for(each) for each in said]
    order = sorted(range(len(said)), key=last.__getitem__)[: _SENTENCES - len(told[:2])]
    kept = [said[i] for i in sorted(order)]
    return [*(f"{s.about}: {s.text}" if several and s.about else s.text for s in kept), *told[:2]]


def _room_for(said: Statement) -> int:
    """The lowest have room first."""
    firsts = [text for text in _FIRST if said.text.startswith(text)]
    if firsts:
        return _FIRST.index(firsts[0]) - len(_FIRST)
    return _GIVE_WAY.index(said.rule) + 1 if said.rule in _GIVE_WAY else 0


def of_one(verdicts: Sequence[Verdict], documents: Mapping[str, str]) -> list[Display]:
    """The rules of the only candidate by each measure, and the topics that lose most."""
    several = len(verdicts) > 1
    found = [(verdict, finding) for verdict in verdicts for finding in verdict.findings]
    found.sort(key=lambda one: -OUTCOMES.index(one[1].outcome))
    rows = [
        [v.measure, *(cut(cell, _CELL) if isinstance(cell, str) else cell for cell in rule_row(f))]
        for v, f in found[: _RULES - 2 * several]
    ]
    left = len(found) - len(rows)
    more = [f"Not shown: {counted(left, 'more rule')}."] if left else []
    words = [Heading(name, left=True) for name in ("measure", "", "rule", "loses most on", _RANKS)]
    tables = [Display.of_rows("", (*words[:3], "value", "p", words[1]), rows, more)]
    lost = [(verdict, loss) for verdict in verdicts for loss in verdict.losses[:TOPICS]]
    if len(verdicts) * TOPICS > _LOSSES:  # of each something
        lost.sort(key=lambda one: one[0].losses.index(one[1]))
    losses = [
        [verdict.measure, cut(loss.name or loss.topic, _CELL), f"{loss.baseline:.3f}",
         f"{loss.candidate:.3f}",
         cut(documents.get(loss.topic, ""), _CELL) if verdict is verdicts[0] else ""]
        for verdict, loss in lost[:_LOSSES]
    ]  # fmt: skip
    headings = (words[0], words[3], "baseline", "candidate", words[4])
    tables += [Display.of_rows("", headings, losses)] if losses else []
    hidden = [*([] if several else ["measure"]), *([] if documents else [_RANKS])]
    return [
        replace(each, columns=[c for c in each.columns if c.heading.text not in hidden])
        for each in tables
    ]


_RANKS = "relevant documents: rank before → now"


def documents(verdict: Verdict, evaluation: Evaluation, inputs: Inputs) -> dict[str, str]:
    """What the baseline has of relevant documents that the candidate lost or moved down, by topic.

    Both runs are read again, on the topics that lost most; scores that were kept have none.
    """
    names, files = (verdict.candidate, verdict.baseline), evaluation.files
    both = [files[name] for name in names if name in files]
    topics = tuple(loss.topic for loss in verdict.losses[:TOPICS])
    qrels = [each.path for each in evaluation.inputs if each.kind == "qrels"]
    other_ranks = inputs.human is not None or inputs.unjudged == "condensed"
    if len(both) < 2 or len(qrels) != 1 or not topics or other_ranks:
        return {}
    asked = replace(rules(inputs), measures=(verdict.measure,), only_topics=topics)
    with suppress(RiskevalError):  # a comment can do without
        again = evaluate(both, qrels=qrels[0], rules=replace(asked, unjudged="bounds"))
        run, baseline = (name for file in both for name in again.files if again.files[name] == file)
        found = diff(again, baseline, run=run)
        pair = found.pairs[0] if isinstance(found, RunDiff) else found.topics[0].pair
        return {topic: _moved(side_by_side(pair, topic).documents) for topic in topics}
    return {}


def _moved(documents: Sequence[Ranked]) -> str:
    lost = [each for each in documents if each.grade and each.grade > 0 and each.baseline_rank]
    lost = [each for each in lost if each.rank is None or each.rank > (each.baseline_rank or 0)]
    lost.sort(key=lambda each: (each.part or 0.0, each.baseline_rank))
    told = [
        f"{each.document} (grade {each.grade}): {each.baseline_rank} → {each.rank or 'lost'}"
        for each in lost[:_DOCUMENTS]
    ]
    left = len(lost) - _DOCUMENTS
    return "; ".join([*told, *([f"and {left} more"] if left > 0 else [])])
