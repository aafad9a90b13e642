"""`riskeval completion`: the shell's completion of commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from riskcli.cli.help import program

WHERE = {
    "bash": 'eval "$(riskeval completion bash)" in ~/.bashrc',
    "zsh": 'eval "$(riskeval completion zsh)" in ~/.zshrc',
    "fish": "riskeval completion fish > ~/.config/fish/completions/riskeval.fish",
}


@click.command(epilog="Put " + "; ".join(WHERE.values()) + ".")
@click.argument("shell", type=click.Choice(list(WHERE)))
def completion(shell: str) -> None:
    """Print what SHELL needs to complete commands, options, measures, columns and names."""
    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(program(), {}, "riskeval", "_RISKEVAL_COMPLETE").source())
    if shell == "bash":  # which would take the @ of ERR@20 for the end of a word
        click.echo('COMP_WORDBREAKS="${COMP_WORDBREAKS//@/}"')
