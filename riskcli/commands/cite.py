"""`riskeval cite`: what to cite, and the sentence that says what was done."""

from __future__ import annotations

from dataclasses import dataclass

import click

from riskcli.core.version import __version__


@dataclass(frozen=True)
class Work:
    """A paper, as BibTeX has it."""

    key: str
    authors: str
    title: str
    venue: str
    year: int
    measures: str
    doi: str = ""


WORKS = (
    Work(
        "wang2012robust",
        "Wang, Lidan and Bennett, Paul N. and Collins-Thompson, Kevyn",
        "Robust Ranking Models via Risk-Sensitive Optimization",
        "Proceedings of SIGIR",
        2012,
        "URisk",
    ),
    Work(
        "dincer2014hypothesis",
        "Din{\\c{c}}er, B. Taner and Macdonald, Craig and Ounis, Iadh",
        "Hypothesis Testing for the Risk-Sensitive Evaluation of Retrieval Systems",
        "Proceedings of SIGIR",
        2014,
        "TRisk",
        "10.1145/2600428.2609625",
    ),
    Work(
        "dincer2016multiple",
        "Din{\\c{c}}er, B. Taner and Macdonald, Craig and Ounis, Iadh",
        "Risk-Sensitive Evaluation and Learning to Rank using Multiple Baselines",
        "Proceedings of SIGIR",
        2016,
        "ZRisk, GeoRisk",
        "10.1145/2911451.2911511",
    ),
    Work(
        "benham2020pluses",
        "Benham, Rodger and Moffat, Alistair and Culpepper, J. Shane",
        "On the Pluses and Minuses of Risk",
        "Proceedings of ECIR",
        2020,
        "the smooth loss, the minus convention",
    ),
)

METHODS = (
    f"Runs were compared with riskeval {__version__}. URisk \\cite{{wang2012robust}} and TRisk "
    "\\cite{dincer2014hypothesis} compare each run with the baseline topic by topic, losses "
    "counting $1+\\alpha$ times; ZRisk and GeoRisk \\cite{dincer2016multiple} compare it with the "
    "scores expected in the population of all runs. Differences of means were tested by the paired "
    "t test, those of ZRisk and GeoRisk by a delete-one-topic jackknife, at a significance level "
    "of 0.05, with Holm's correction over the runs of each column."
)


@click.command()
@click.option("--methods", is_flag=True, help="A paragraph for a paper instead: default settings.")
def cite(methods: bool) -> None:
    """BibTeX of riskeval and of the papers that its measures come from.

    Cite the papers of the measures that you report. `--methods` prints a paragraph that says what
    the default settings do; change what you have changed (`riskeval config` shows it).
    """
    if methods:
        click.echo(click.wrap_text(METHODS, 80))
        return
    software = (
        f"@software{{riskeval,\n  title = {{riskeval {__version__}}},\n"
        "  author = {{The riskeval authors}},\n"
        "  note = {Risk-sensitive evaluation of search systems}\n}"
    )
    click.echo("\n\n".join([software, *map(_bibtex, WORKS)]))


def _bibtex(work: Work) -> str:
    doi = f",\n  doi = {{{work.doi}}}" if work.doi else ""
    return (
        f"% {work.measures}\n@inproceedings{{{work.key},\n  author = {{{work.authors}}},\n"
        f"  title = {{{work.title}}},\n  booktitle = {{{work.venue}}},\n"
        f"  year = {{{work.year}}}{doi}\n}}"
    )
