"""`riskeval help`: words and commands explained, and pages that are no work on runs."""

from importlib.resources import files
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from riskcli.cli.option import Command, program
from riskcli.cli.options import Output, output_options, write
from riskcli.cli.settings import choose, in_force, settings_schema
from riskcli.cli.types import PATH, among, profiles
from riskcli.core.messages import Provenance
from riskcli.core.version import __version__
from riskcli.output.display import PlainRows
from riskcli.output.result import Result

WIDTH = 80
COMPLETION_IN = {
    "bash": 'eval "$(riskeval help completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(riskeval help completion zsh)" in ~/.zshrc',
    "fish": "riskeval help completion fish > ~/.config/fish/completions/riskeval.fish",
}


class Pages(click.Group):
    """A page by its name; any other word is explained."""

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args) if known else ("WORD", _word, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Pages"):
            pages = self.commands.items()
            formatter.write_dl([(name, page.get_short_help_str(WIDTH)) for name, page in pages])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Pages, commands and words."""
        from riskcli.commands.glossary import known_words

        words = [*_commands(ctx, None, incomplete), *known_words()]
        items = [CompletionItem(word) for word in words if word.startswith(incomplete)]
        return [*super().shell_complete(ctx, incomplete), *items]


def _commands(ctx: click.Context, _param: click.Parameter | None, incomplete: str) -> list[str]:
    group = ctx.find_root().command
    names = group.list_commands(ctx) if isinstance(group, click.Group) else []
    return [name for name in names if name.startswith(incomplete)]


@click.group(
    cls=Pages,
    invoke_without_command=True,
    subcommand_metavar="[PAGE|COMMAND|WORD]",
    context_settings={"ignore_unknown_options": True},
)
@click.pass_context
def help(ctx: click.Context) -> None:  # noqa: A001
    """Explain a command, a measure, a column, a sign, an option, a policy or a code; or a page."""
    if ctx.invoked_subcommand is None:
        from riskcli.commands.glossary import listed

        pages = {name: page.get_short_help_str(WIDTH) for name, page in help.commands.items()}
        parts = {"Pages": pages.items(), "Commands": program().summaries.items()}
        click.echo(listed(parts))
        click.echo("riskeval help NAME shows one of them, or explains any WORD and --option.")


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def _word(words: tuple[str, ...]) -> None:
    """Explain one command (`population freeze`) or word."""
    group, context, word = program(), click.get_current_context(), " ".join(words)
    if words[0] in group.summaries:
        parent, command = context.find_root(), group.get_command(context, words[0])
        within = words[1:]
        while within and isinstance(command, click.Group):
            part = command.get_command(context, within[0])
            assert part is not None  # a name that is none is refused there
            parent, command = click.Context(command, parent, info_name=words[0]), part
            within = within[1:]
        if not within:
            click.echo(command.get_help(click.Context(command, parent, info_name=words[-1])))
            return
    from riskcli.commands.glossary import explained

    for line in explained(word, group.every_command).split("\n"):
        click.echo(click.wrap_text(line, WIDTH) if len(line) > WIDTH else line)


@help.command()
def words() -> None:
    """All words that can be explained: measures, columns, signs, codes."""
    from riskcli.commands.glossary import overview

    click.echo(overview())


@help.command()
@click.argument("command", default="score", metavar="[COMMAND]", shell_complete=_commands)
@click.option(
    "--profile", metavar="NAME", shell_complete=among(profiles), help="Settings of it, too."
)
@click.option("--config", "file", type=PATH, metavar="FILE", help="Settings of this file alone.")
@output_options()
@click.pass_context
def settings(
    ctx: click.Context, command: str, profile: str | None, file: Path | None, output: Output
) -> None:
    """Options of COMMAND (score) in force here, and where each came from.

    Settings are in riskeval.toml, or under [tool.riskeval] in pyproject.toml, here or in a parent
    folder of the repository: the long options as keys. Those in a table [profile.NAME] count with
    --profile NAME. The command line wins.
    """
    if file is not None:
        choose(ctx, file)
    values = in_force(program().get_command(ctx, command), profile)
    rows = [(option, _spelled(value), source) for option, value, source in values]
    provenance = Provenance({"command": command, "profile": profile})
    result = Result(("option", "value", "source"), rows, provenance)
    write(PlainRows(result, len(rows)), output)


def _spelled(value: object) -> str:
    """The value as it would stand on the command line."""
    if value is None or value == []:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


@help.command("settings-schema")
def schema() -> None:
    """The JSON Schema of settings files, for editors."""
    click.echo(settings_schema(program().every_command()), nl=False)


@help.command()
def rules() -> None:
    """What the rules of `check --require` can refer to."""
    from riskcli.analyses.check.files import rules_help

    click.echo(rules_help())


@help.command()
@click.argument("what", type=click.Choice(["bibtex", "methods"]), default="bibtex")
def cite(what: str) -> None:
    """BibTeX of riskeval and its measures; `methods`: a paragraph.

    Cite the papers of the measures that you report. `methods` says what the default settings do;
    change what you have changed (`riskeval help settings` shows it).
    """
    name = {"bibtex": "cite.bib", "methods": "methods.tex"}[what]
    text = (files(__package__) / name).read_text("utf-8")
    click.echo(text.replace("VERSION", __version__), nl=False)


@help.command(epilog="Put " + "; ".join(COMPLETION_IN.values()) + ".")
@click.argument("shell", type=click.Choice(list(COMPLETION_IN)))
def completion(shell: str) -> None:
    """What SHELL (bash, zsh, fish) needs to complete commands and words."""
    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(program(), {}, "riskeval", "_RISKEVAL_COMPLETE").source())
    if shell == "bash":  # which would take the @ of ERR@20 for the end of a word
        click.echo('COMP_WORDBREAKS="${COMP_WORDBREAKS//@/}"')
