"""Where a gate's verdict goes: stdout or a file, further reports, and GitHub's job summary."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from riskcli.analyses.check import display as refusal
from riskcli.analyses.check.case import TOPIC_QUANTITIES, column_quantities
from riskcli.analyses.check.display import AUTOMATIC, REFUSALS
from riskcli.analyses.check.gate import Gate
from riskcli.analyses.check.rules import COMPARISONS
from riskcli.analyses.check.rules import POLICIES as POLICIES
from riskcli.cli.options import Output, write
from riskcli.core.messages import InputError, RiskevalError
from riskcli.output.formats import IN_FILE, MARKDOWN, OutputFormat, emit
from riskcli.output.measure_words import meaning_of


def publish(gate: Gate, output: Output, reports: Iterable[tuple[OutputFormat, Path]]) -> None:
    """Write every report, the job summary under GitHub Actions, and last the result itself."""
    for format, file in reports:
        emit(format.render(gate, IN_FILE), file)
    _summarise(str(MARKDOWN.render(gate)))
    write(gate, output)


@contextmanager
def reporting(output: Output, reports: Iterable[tuple[OutputFormat, Path]]) -> Iterator[None]:
    """Let the reports for CI services say so where nothing can be judged; the error goes on."""
    try:
        yield
    except RiskevalError as error:
        problems = refusal.of_error(error)
        for format, file in (*reports, (output.output_format, output.output)):
            format = AUTOMATIC.chosen if format is AUTOMATIC else format
            if format.name in REFUSALS:
                with suppress(RiskevalError):  # the first error is the one to be told
                    emit(REFUSALS[format.name](problems), file)
        with suppress(RiskevalError):
            _summarise(refusal.as_markdown(problems))
        raise


def _summarise(text: str) -> None:
    """Add to the job's summary under GitHub Actions, on a line of its own."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary and os.environ.get("GITHUB_ACTIONS") == "true":
        _append(Path(summary), "\n" + text)


def _append(path: Path, text: str) -> None:
    """Other steps of the job write to the summary as well: it is added to, not replaced."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise InputError(path, "cannot-write", error.strerror or str(error)) from error


def rules_help() -> str:
    """What a rule can be made of."""
    lines = ["RULE = QUANTITY COMPARISON BOUND, as in: urisk@5 > -0.01", ""]
    lines.append(f"COMPARISON: {' '.join(COMPARISONS)}")
    lines.append("BOUND: a number, 5%, baseline, baseline - 0.005, 0.98 * baseline; for flags:")
    lines.append("       better, worse, none. `baseline` is the same quantity of the baseline.")
    lines += ["QUANTITY, with @ALPHA where it depends on alpha:"]
    lines += [f"  {column.name:18} {meaning_of(column)}" for column in column_quantities()]
    for quantity in TOPIC_QUANTITIES:
        name = f"{quantity.name}(TOPIC)" if quantity.of_topic else quantity.name
        lines.append(f"  {name:18} {quantity.meaning}")
    lines += ["", "Policies:"]
    lines += [f"  {policy.name:18} {policy.meaning}" for policy in POLICIES.values()]
    return "\n".join(lines)
