"""`riskeval validate`: what is wrong with files, all of it."""

import click

from riskcli.cli.option import Reach, command, own_option
from riskcli.cli.options import Output, full_option, output_options, tell, write
from riskcli.cli.progress import on_terminal
from riskcli.cli.reading import Files, file_options
from riskcli.cli.types import FROM_0, FROM_1
from riskcli.core.choices import Only
from riskcli.output.formats import FINDING_FORMATS, RowsFormat


@command(file_options, output_options(FINDING_FORMATS, for_people=True))
@own_option("--strict", is_flag=True, settings=Reach.NOTHING, help="Exit with 1 for warnings, too.")
@own_option(
    "--max-docs", type=FROM_1, default=1000, settings=Reach.NOTHING,
    help="Warn of topics with more documents.",
)  # fmt: skip
@own_option(
    "--max-findings", type=FROM_0, default=10, metavar="N", settings=Reach.NOTHING, key_only=True,
    help="Findings shown of one code and file, 0 for all; every one is counted.",
)  # fmt: skip
@own_option(
    "--only", choice=Only, default="all", settings=Reach.NOTHING, key_only=True,
    help="Findings to show; all are counted, and decide the exit code.",
)  # fmt: skip
@full_option("every finding of every file")
def validate(
    files: Files,
    output: Output,
    strict: bool,
    max_docs: int,
    max_findings: int,
    only: Only,
    full: bool,
) -> int:
    """Check RUNS (run files, folders of them, or files of scores) and report all that is wrong.

    Errors are what every other command refuses; warnings stop none. With --qrels that file
    is checked too, and the runs' topics are compared with it. Exits with 0 where nothing is
    refused, with 1 otherwise.
    """
    # Late: help and wrong options need no readers.
    from riskcli.analyses import checker
    from riskcli.analyses import validate as analysis

    checks = checker.Checks(
        max_docs, max_findings or None, files.max_bytes, files.run_names, files.input_format, only
    )
    with on_terminal(files.quiet) as progress:
        found = analysis.validate(
            files.runs,
            qrels=files.qrels,
            checks=checks,
            jobs=files.jobs,
            progress=progress,
            checksums=output.output_format.checksums,
            folders=files.folders,
        )
    tell(found.notes, files.quiet)
    write(found, output, full)
    if isinstance(output.output_format, RowsFormat) and not files.quiet:
        click.echo(found.summary(), err=True)
    refused = found.count("error") or (strict and found.count("warning"))
    return 1 if refused else 0
