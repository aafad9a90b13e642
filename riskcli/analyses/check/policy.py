"""Presets of rules: what a gate asks for where nobody wrote rules of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from riskcli.analyses.check.grammar import Rule, parse_rule
from riskcli.core.errors import UsageError, nearest

Outcome = Literal["pass", "fail", "inconclusive"]


@dataclass(frozen=True)
class LossTest:
    """Asks whether the candidate is below the baseline by the risk measure `of`, at `alpha`."""

    of: str
    alpha: float | None
    meaning: str

    def text(self, margin: float | None = None) -> str:
        """How reports name it."""
        at = "" if self.alpha is None else f"@{self.alpha:g}"
        if margin is not None:
            return f"{self.of}{at} not lower by more than {margin:g}"
        return f"{self.of}{at} not significantly lower"


@dataclass(frozen=True)
class Policy:
    """Tests, which are corrected together, and rules, which are plain comparisons."""

    name: str
    meaning: str
    tests: tuple[LossTest, ...] = ()
    rules: tuple[Rule, ...] = ()


_MEAN = LossTest("mean", None, "the mean is not significantly below the baseline's")
_GEORISK = LossTest("georisk", None, "GeoRisk is not significantly below the baseline's")
_LOSSES_TWICE = LossTest("trisk", 1.0, "losses weighted ×2 do not significantly outweigh the gains")

POLICIES = {
    policy.name: policy
    for policy in (
        Policy("lenient", "the mean alone", (_MEAN,)),
        Policy("standard", "the mean and GeoRisk", (_MEAN, _GEORISK)),
        Policy(
            "strict",
            "the mean, GeoRisk, losses weighted ×2, and no topic loses more than 0.3",
            (_MEAN, _GEORISK, _LOSSES_TWICE),
            (parse_rule("max_loss <= 0.3"),),
        ),
        Policy("none", "only the rules given with --require"),
    )
}
DEFAULT_POLICY = "standard"


def policy(name: str) -> Policy:
    """The preset of that name."""
    if name not in POLICIES:
        raise UsageError(f"no policy is called {name!r}{nearest(name, POLICIES)}")
    return POLICIES[name]


def checked_margins(policy: Policy, margin: float | Mapping[str, float] | None) -> dict[str, float]:
    """Margins by risk measure; a number alone is the mean's."""
    if margin is None:
        return {}
    margins = dict(margin) if isinstance(margin, Mapping) else {"mean": float(margin)}
    able = [test.of for test in policy.tests if test.alpha is None]
    for name, size in margins.items():
        if name not in able:
            known = ", ".join(able) or "nothing"
            raise UsageError(
                f"a margin for {name!r}: the policy {policy.name} tests {known}"
                f"{nearest(name, able)}"
            )
        if not 0 < size < float("inf"):
            raise UsageError(f"the margin for {name} is {size:g}, expected a number above 0")
    return margins
