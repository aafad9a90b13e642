"""Figures for papers and pages. This is the room's door: what draws needs the extra `plots` and is
imported when a figure is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riskcli.core.messages import UsageError, lacking
from riskcli.plots.kinds import OF_EXPERIMENTS, find, refuse_what_figures_lack
from riskcli.plots.kinds import FigureWidth as FigureWidth

if TYPE_CHECKING:
    import altair as alt

    from riskcli.scores.comparisons import Options
    from riskcli.scores.matrix import ScoreMatrix


def drawing() -> Any:
    """What draws, loaded late: help and wrong options need neither numpy nor the extra."""
    try:
        from riskcli.plots import save
    except ImportError as error:
        raise lacking(f"figures need {error.name}", "plots") from error
    return save


def chart(
    matrix: ScoreMatrix,
    options: Options,
    kind: str,
    *,
    figure: str | None = None,
    width: int | str | None = None,
    of: str | None = None,
    **settings: Any,
) -> alt.TopLevelMixin:
    """The figure as an Altair chart; `settings` are those of `Request`."""
    kind, of = find(kind, figure, of)
    if kind in OF_EXPERIMENTS:
        raise UsageError(f"{kind} is drawn from the folder of `riskeval train`: riskeval plot does")
    refuse_what_figures_lack(kind, options.convention, options.loss, of)
    save = drawing()
    from riskcli.plots.request import Request, width_in  # late, as above

    wanted = Request(matrix, options, of=of, **width_in(width), **settings)
    made: alt.TopLevelMixin = save.chart(kind, wanted)
    return made
