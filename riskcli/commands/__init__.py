"""The program: its commands, each imported when it runs, and what is said of errors."""

import errno
import os
import sys
import traceback
from importlib import import_module
from typing import Any

import click

from riskcli.cli.option import LazyGroup
from riskcli.core.inputs import one_call
from riskcli.core.messages import RiskevalError
from riskcli.core.stopping import INTERRUPTED, forget_stdout
from riskcli.core.version import __version__
from riskcli.output.escape import visible

COMMANDS = {
    "score": "Risk table of the runs: effectiveness, URisk, TRisk, ZRisk, GeoRisk.",
    "explain": "How one run's value and its significance mark were computed.",
    "significance": "Which runs differ: all pairs, or each from the baseline.",
    "sweep": "How the verdict changes with alpha, baseline, measure or population.",
    "topics": "Where a run's risk comes from, topic by topic.",
    "diff": "What changed between two runs: which topics, and which documents.",
    "population": "Freeze a population, so later runs do not change a leaderboard.",
    "check": "A gate for CI: do candidates hold up against a baseline?",
    "power": "Before a run: how many topics detect a loss, and which loss given topics detect.",
    "help": "Words, signs and codes explained; settings in force, citation, completion.",
    "validate": "Every problem in run files, with file, line and code.",
    "matrix": "The run × topic matrix of effectiveness scores itself.",
    "plot": "Figures for papers: SVG, PNG, PDF, HTML.",
    "store": "A store of scores: list it, verify it, remove what is old.",
    "organise": "From submissions to everything an organiser publishes and sends.",
    "report": "A leaderboard to publish: one HTML page, computed in the browser.",
    "train": "Train rankers that lose less against a baseline, and test whether they do.",
    "rank": "Rank documents with a learned model: a TREC run.",
    "demo": "Write sample runs and judgements to try the program with.",
}
"""Every command with the line that the help shows."""


ANNEXES = {
    "plot": "plots",
    "organise": "organise",
    "report": "page",
    "train": "learn",
    "rank": "learn",
}
"""The rooms of the commands that the core does without; each command is a module of its name."""


class Program(LazyGroup):
    """The commands, those of the annexes apart."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for title, apart in (("Commands", False), ("Figures, pages, learning", True)):
            with formatter.section(title):
                lines = self.summaries.items()
                formatter.write_dl([line for line in lines if (line[0] in ANNEXES) is apart])


def load_command(name: str) -> click.Command:
    """The command of that name, imported only now: no command pays for the others."""
    module = import_module(f"riskcli.{ANNEXES.get(name, 'commands')}.{name}")
    command: click.Command = getattr(module, name)
    return command


def _note_debug(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    ctx.ensure_object(dict)["debug"] = wanted


@click.group(
    cls=Program,
    summaries=COMMANDS,
    load=load_command,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="riskeval %(version)s")
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_note_debug,
    help="Print the traceback of a fault in riskeval itself.",
)
def riskeval() -> None:
    """Risk-sensitive evaluation of search systems.

    A mean hides the topics that a new system ruins; riskeval shows them. Try:

        riskeval score RUNS/ --baseline NAME

    Exit codes: 0 done; 1 done, and the answer is no; 2 wrong input or command line;
    70 a fault in riskeval itself; 130 or 143 interrupted.
    """


# What is said of errors that no part of the program has words for.


_NO_MEMORY = "the machine, or a limit set on this process, does not have the memory that this takes"
_ABOUT_PYTREC_EVAL = (
    "install pytrec-eval-terrier; where it has no wheel (Linux on ARM) that needs a C compiler, "
    "and a network to fetch trec_eval's sources"
)
_ON_STDOUT = (errno.EBADF, errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.ENXIO)


def trouble_with_the_machine(error: Exception) -> str | None:
    """A sentence for what files, memory and threads can do to us; None for a fault of ours."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return f"out-of-memory: {_NO_MEMORY}"
    if isinstance(error, ImportError) and _short_of_memory(str(error)):
        return f"out-of-memory: {_NO_MEMORY} ({error})"
    if isinstance(error, ImportError) and "oo many open files" in str(error):
        return f"no-file: {error} (ulimit -n)"
    if isinstance(error, ImportError) and "pytrec_eval" in f"{error.name} {error}":
        return f"pytrec_eval cannot be imported ({error}): {_ABOUT_PYTREC_EVAL}"
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return "no-thread: the system allows no more threads; try --jobs 1"
    if isinstance(error, OSError):
        return _trouble_with_a_file(error)
    return None


def _short_of_memory(text: str) -> bool:
    return "failed to map segment" in text or "annot allocate memory" in text


def _trouble_with_a_file(error: OSError) -> str | None:
    why = error.strerror or str(error)
    if error.filename is not None:
        named = os.fsdecode(error.filename) if not isinstance(error.filename, int) else "a stream"
        return f"{named}: unusable: {why}"
    return f"stdout: cannot-write: {why}" if error.errno in _ON_STDOUT else None


def report(error: Exception, debug: bool) -> str:
    """The one line for a fault of ours; the traceback goes to a file, or to stderr for `debug`."""
    kind = f"{type(error).__name__}: {error}".splitlines()[0][:200].rstrip(": ")
    lines = [
        f"riskeval {__version__}, Python {sys.version.split()[0]} on {sys.platform}\n",
        f"command line: {sys.argv[1:]!r}\n",
        *traceback.format_exception(error),
    ]
    if debug:
        sys.stderr.write("".join(lines))
        where = "the traceback is above"
    else:
        kept = _kept("".join(lines))
        where = f"the traceback is in {kept}" if kept else "--debug prints the traceback"
    return f"a fault in riskeval {__version__}, please report it ({kind}); {where}"


def _kept(text: str) -> str | None:
    """The name of a new file that holds the text; None where none can be written."""
    import tempfile  # late: it takes longer to load than the rest of this module

    try:
        handle, name = tempfile.mkstemp(prefix="riskeval-", suffix=".traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return None
    return name


# Running a command: the one place where errors become exit codes.


WRONG_INPUT = 2
UNFORESEEN = 70


def run() -> None:
    """Run the command and exit: 0 done, 1 for "no", 2 for wrong input, 70 for a fault of ours."""
    # Nothing here multiplies matrices: threads for that would only cost time to start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    wishes: dict[str, Any] = {"debug": False}
    try:
        with one_call():
            code = _run(wishes)
    except KeyboardInterrupt:
        code = fail("interrupted", INTERRUPTED)
    except Exception as error:
        said = trouble_with_the_machine(error)  # for which riskeval is not to blame
        code = UNFORESEEN if said is None else WRONG_INPUT
        fail(said or report(error, wishes["debug"]), code)
        forget_stdout()
    sys.exit(code)


def _run(wishes: dict[str, Any]) -> int:
    """The exit code of the command, where nothing but its input or its answer is wrong."""
    try:
        code = riskeval.main(prog_name="riskeval", standalone_mode=False, obj=wishes)
        try:
            sys.stdout.flush()
        except BrokenPipeError:  # its reader has seen enough; the answer stays
            forget_stdout()
    except RiskevalError as error:
        code = fail(str(error), error.exit_code)
        forget_stdout()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = fail("interrupted", INTERRUPTED)
    except (BrokenPipeError, SystemExit):  # click makes a SystemExit of the former
        code = 0  # the reader has seen enough
        forget_stdout()
    return code if isinstance(code, int) else 0


def fail(message: str, code: int) -> int:
    """Say why, and give the exit code."""
    shown = "\n".join(map(visible, message.split("\n")))
    click.echo(f"riskeval: {shown}", err=True)
    return code
