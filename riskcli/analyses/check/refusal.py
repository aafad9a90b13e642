"""What CI services are told of files that cannot be read, and of a gate that could judge nothing.

A report that is missing, or that is an empty list, looks like a pass to those who count failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as Tree

from riskcli.core.errors import InputError, NoRunLeftError, RiskevalError
from riskcli.output.escape import annotation, markdown, visible
from riskcli.output.problems import Problem

TOOL = "riskeval check"
ELSEWHERE = "riskeval.toml"
"""The file that a problem of no file is put down to, where there must be one."""
_NOTHING_JUDGED = "nothing was judged"


def of_files(errors: Iterable[InputError]) -> list[Problem]:
    """What is wrong with each file."""
    return [Problem("error", wrong.code, str(wrong), wrong.path, wrong.line) for wrong in errors]


def of_error(error: RiskevalError) -> list[Problem]:
    """Why nothing could be judged: the files, or what else is wrong with the call."""
    if isinstance(error, NoRunLeftError) and error.errors:
        return of_files(error.errors)
    if isinstance(error, InputError):
        return of_files([error])
    return [Problem("error", "wrong-call", str(error), None)]


def add_suite(root: Tree.Element, name: str, problems: Sequence[Problem]) -> None:
    """A test suite with an error a problem."""
    count = str(len(problems))
    suite = Tree.SubElement(root, "testsuite", name=name, tests=count, failures="0", errors=count)
    for problem in problems:
        case = Tree.SubElement(
            suite, "testcase", name=visible(problem.path or TOOL), classname=name
        )
        Tree.SubElement(case, "error", message=visible(problem.message), type=problem.rule)


def as_xml(root: Tree.Element) -> str:
    """The document, indented."""
    Tree.indent(root)
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{Tree.tostring(root, encoding='unicode')}\n"


def as_junit(problems: Sequence[Problem]) -> str:
    """JUnit's XML of a gate that judged nothing."""
    root = Tree.Element("testsuites", name=TOOL)
    add_suite(root, _NOTHING_JUDGED, problems)
    return as_xml(root)


def as_annotations(title: str, problems: Sequence[Problem]) -> list[str]:
    """A GitHub annotation a problem."""
    return [
        annotation("error", problem.message, title=title, file=problem.path, line=problem.line)
        for problem in problems
    ]


def as_github(problems: Sequence[Problem]) -> str:
    """GitHub's annotations of a gate that judged nothing."""
    return "".join(f"{line}\n" for line in as_annotations(_NOTHING_JUDGED, problems))


def as_markdown(problems: Sequence[Problem]) -> str:
    """A paragraph for a job's summary."""
    lines = [f"**{_NOTHING_JUDGED}**", ""]
    return "\n".join([*lines, *(f"- {markdown(problem.message)}" for problem in problems)]) + "\n"
