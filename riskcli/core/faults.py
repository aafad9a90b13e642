"""What is said of errors that no part of the program has words for."""

from __future__ import annotations

import errno
import os
import sys
import traceback

from riskcli.core.version import __version__

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
    where = "--debug shows where"
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
