"""The little language of rules: `trisk >= -2`, `mean >= baseline - 0.005`, `loss(151) <= 0`.

    rule     = quantity comparison bound
    quantity = NAME [ "@" NUMBER | "(" TOPIC | LOSS ")" ] [ "[" GROUP "]" ]
             | "worst_group" "(" NAME [ "@" NUMBER ] ")"
    bound    = sum | WORD            (a WORD only for flags: better, worse, none)
    sum      = product { ("+" | "-") product }
    product  = factor { "*" factor }
    factor   = NUMBER [ "%" ] | "baseline" | "-" factor | "(" sum ")"

`@` sets the alpha of that quantity. `baseline` is the same quantity of the baseline run. In square
brackets stands a group of topics, on which alone the quantity is measured.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riskcli.core.messages import UsageError, nearest

if TYPE_CHECKING:
    from riskcli.core.arrays import Floats

COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}
FLAG_WORDS = ("better", "worse", "none")

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>>=|<=|==|!=|[><@()\[\]%*+\-]))"
)
_TOPIC = re.compile(r"\s*\(\s*(?:'([^']*)'|\"([^\"]*)\"|([^()'\"]*?))\s*\)")
_GROUP = re.compile(r"\s*\[\s*(?:'([^']*)'|\"([^\"]*)\"|([^\[\]'\"]*?))\s*\]")
WORST_GROUP = "worst_group"
_DEEPEST = 50


@dataclass(frozen=True)
class Bound:
    """What a quantity is held against: slope * baseline + offset, or a word."""

    offset: float = 0.0
    slope: float = 0.0
    word: str | None = None

    def value(self, baseline: float) -> float:
        """The number that it comes to; `baseline` matters only where the rule names it."""
        return self.offset + (self.slope * baseline if self.slope else 0.0)


@dataclass(frozen=True)
class Rule:
    """A parsed rule; `text` is what the user wrote."""

    text: str
    quantity: str
    comparison: str
    bound: Bound
    alpha: float | None = None
    topic: str | None = None
    group: str | None = None
    """The group of topics that it is about; empty: each group, and so the worst."""

    def refused(self, why: str) -> UsageError:
        """The error where it cannot be asked."""
        return UsageError(f"rule {self.text!r}: {why}")

    def holds(self, value: float, baseline: float) -> bool:
        """Whether the numbers keep the rule."""
        return COMPARISONS[self.comparison](value, self.bound.value(baseline))


def parse_rule(text: str) -> Rule:
    """The rule that `text` spells; an error points at the place where it stops making sense."""
    return _Parser(text).rule()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.depth = 0

    def fail(self, expected: str, place: int | None = None) -> UsageError:
        at = self.place if place is None else place
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        actual = repr(self.text[at : at + 12]) if at < len(self.text) else "the end"
        pointer = "\n  " + self.text + "\n  " + " " * at + "^"
        return UsageError(f"rule {self.text!r}: found {actual}, expected {expected}{pointer}")

    def peek(self) -> tuple[str, str]:
        """Kind and text of the next token; kind is `end` at the end, `` where there is none."""
        match = _TOKEN.match(self.text, self.place)
        if match is None:
            return ("end", "") if not self.text[self.place :].strip() else ("", "")
        kind = match.lastgroup or ""
        return kind, match[kind]

    def take(self) -> str:
        match = _TOKEN.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        return match[match.lastgroup or 0]

    def accept(self, text: str) -> bool:
        """Whether the next token is this one; it is taken then."""
        if self.peek()[1] != text:
            return False
        self.take()
        return True

    def rule(self) -> Rule:
        quantity = self.named("a quantity such as mean, urisk@5 or loss(151)")
        topic = group = None
        if quantity == WORST_GROUP and self.accept("("):
            quantity, group = self.named("a quantity such as mean_diff or urisk@5"), ""
        alpha = self.alpha()
        if group is not None:
            if not self.accept(")"):
                raise self.fail("a closing bracket")
        elif alpha is None and self.peek()[1] == "(":
            topic = self.within(_TOPIC, "a topic in brackets, as in (151)")
        if group is None and self.peek()[1] == "[":
            group = self.within(_GROUP, "a group in brackets, as in [tail] or [type=tail]")
        if self.peek()[1] not in COMPARISONS:
            raise self.fail(f"one of {' '.join(COMPARISONS)}")
        comparison = self.take()
        bound = self.bound(comparison)
        if self.peek()[0] != "end":
            raise self.fail("nothing more")
        return Rule(self.text.strip(), quantity, comparison, bound, alpha, topic, group)

    def named(self, expected: str) -> str:
        if self.peek()[0] != "name":
            raise self.fail(expected)
        return self.take()

    def alpha(self) -> float | None:
        if not self.accept("@"):
            return None
        if self.peek()[0] != "number":
            raise self.fail("a value of alpha")
        return self.number()

    def within(self, brackets: re.Pattern[str], expected: str) -> str:
        """The name in brackets, perhaps in quotes."""
        match = brackets.match(self.text, self.place)
        name = next((found for found in match.groups() if found), None) if match else None
        if match is None or name is None:
            raise self.fail(expected)
        self.place = match.end()
        return name

    def bound(self, comparison: str) -> Bound:
        kind, word = self.peek()
        if kind == "name" and word in FLAG_WORDS:
            if comparison not in ("==", "!="):
                raise self.fail(f"a number after {comparison} (a word goes with == or !=)")
            self.take()
            return Bound(word=word)
        return self.sum()

    def sum(self) -> Bound:
        total = self.product()
        while self.peek()[1] in ("+", "-"):
            sign = 1.0 if self.take() == "+" else -1.0
            term = self.product()
            total = Bound(total.offset + sign * term.offset, total.slope + sign * term.slope)
        return total

    def product(self) -> Bound:
        total = self.factor()
        while self.accept("*"):
            start = self.place - 1
            factor = self.factor()
            if total.slope and factor.slope:
                raise self.fail("no product of baseline with itself", start)
            slope = total.slope * factor.offset + total.offset * factor.slope
            total = Bound(total.offset * factor.offset, slope)
        return total

    def factor(self) -> Bound:
        kind, text = self.peek()
        if kind == "number":
            value = self.number()
            return Bound(value / 100 if self.accept("%") else value)
        if self.accept("baseline"):
            return Bound(slope=1.0)
        if text not in ("-", "("):
            raise self.fail("a number or baseline")
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail("fewer brackets and signs")
        self.take()
        inner = self.factor() if text == "-" else self.sum()
        if text == "-":
            inner = Bound(-inner.offset, -inner.slope)
        elif not self.accept(")"):
            raise self.fail("a closing bracket")
        self.depth -= 1
        return inner

    def number(self) -> float:
        start = self.place
        value = float(self.take())
        if not math.isfinite(value):
            raise self.fail("a finite number", start)
        return value


# What a rule can speak of beside the columns of the risk table: topic by topic.


@dataclass(frozen=True)
class TopicQuantity:
    """A quantity that comes from single topics."""

    name: str
    meaning: str
    argument: str = ""
    """What stands in brackets after its name: a topic, a loss."""
    value: "Callable[[Floats, Floats], float] | None" = None
    """From the candidate's and the baseline's scores (on the topic named, or on all), where these
    are enough."""

    @property
    def spelled(self) -> str:
        """The name as rules write it."""
        return f"{self.name}({self.argument})" if self.argument else self.name


UNANSWERED = "unanswered"
MOVES = ("distance", "rbo", "overlap")
LOSS_SHARE = "loss_share"
_TESTED = "tested, for all topics like these: else inconclusive"
_MEAN_OVER = "the mean over topics"
_QUANTILE = re.compile(r"delta_q([1-9][0-9]?)")
TOPIC_QUANTITIES = (
    TopicQuantity(
        "max_loss", "the largest loss on any topic, 0 where there is none", "",
        lambda run, base: float(max(0.0, (base - run).max())),
    ),
    TopicQuantity(
        "max_gain", "the largest gain on any topic, 0 where there is none", "",
        lambda run, base: float(max(0.0, (run - base).max())),
    ),
    TopicQuantity(
        "loss", "how far the candidate falls below the baseline on a topic (a gain is below 0)",
        "TOPIC", lambda run, base: float((base - run)[0]),
    ),
    TopicQuantity(
        "score", "the candidate's score on a topic", "TOPIC", lambda run, _base: float(run[0])
    ),
    TopicQuantity(
        LOSS_SHARE, f"the share of topics that lose more than LOSS; {_TESTED}", "LOSS"
    ),
    TopicQuantity(
        "delta_q10", f"a quantile of the differences, here a tenth (delta_q1 to q99); {_TESTED}"
    ),
    TopicQuantity(UNANSWERED, "topics that the candidate's run does not answer"),
    TopicQuantity("distance", f"share of document pairs in another order (Kendall), {_MEAN_OVER}"),
    TopicQuantity("rbo", f"rank-biased overlap with the baseline's ranking, {_MEAN_OVER}"),
    TopicQuantity("overlap", f"share of the first 10 documents that both have, {_MEAN_OVER}"),
)  # fmt: skip


def topic_quantity(name: str) -> TopicQuantity | None:
    """The quantity of that name that comes from single topics, if there is one."""
    name = "delta_q10" if percent_of(name) else name
    return next((quantity for quantity in TOPIC_QUANTITIES if quantity.name == name), None)


def percent_of(name: str) -> int:
    """Which quantile of the differences it names; 0 if none."""
    match = _QUANTILE.fullmatch(name)
    return int(match[1]) if match else 0


def is_on_share(rule: Rule) -> bool:
    """Whether a rule is on a share of topics, and so tested."""
    return rule.quantity == LOSS_SHARE or percent_of(rule.quantity) > 0


def limits_losses(rule: Rule, topic: str) -> bool:
    """Whether it limits the loss on that topic, as one of those that it is about."""
    if rule.quantity != LOSS_SHARE and rule.topic not in (None, topic):
        return False
    if rule.quantity == "score" or percent_of(rule.quantity):
        return rule.comparison in (">=", ">", "==")
    counts = ("max_loss", "loss", LOSS_SHARE, "losses", "losses20")
    return rule.quantity in counts and rule.comparison in ("<=", "<", "==")


# Presets of rules: what a gate asks for where nobody wrote rules of their own.


@dataclass(frozen=True)
class LossTest:
    """Asks whether the candidate is below the baseline by the risk measure `of`, at `alpha`."""

    of: str
    alpha: float | None

    def text(self, margin: float | None = None) -> str:
        """How reports name it."""
        at = "" if self.alpha is None else f"@{self.alpha:g}"
        lower = "significantly lower" if margin is None else f"lower by more than {margin:g}"
        return f"{self.of}{at} not {lower}"


@dataclass(frozen=True)
class Policy:
    """Tests, which are corrected together, and rules, which are plain comparisons."""

    name: str
    meaning: str
    tests: tuple[LossTest, ...] = ()
    rules: tuple[Rule, ...] = ()


MEAN_TEST = LossTest("mean", None)
_GEORISK = LossTest("georisk", None)
_LOSSES_TWICE = LossTest("trisk", 1.0)

POLICIES = {
    policy.name: policy
    for policy in (
        Policy("lenient", "the mean alone", (MEAN_TEST,)),
        Policy("standard", "the mean and GeoRisk", (MEAN_TEST, _GEORISK)),
        Policy(
            "strict",
            "the mean, GeoRisk, losses weighted ×2, and no topic loses more than 0.3",
            (MEAN_TEST, _GEORISK, _LOSSES_TWICE),
            (parse_rule("max_loss <= 0.3"),),
        ),
        Policy("none", "only the rules given with --require"),
    )
}


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
            tested = f"{', '.join(able) or 'nothing'}{nearest(name, able)}"
            raise UsageError(f"a margin for {name!r}: the policy {policy.name} tests {tested}")
        if not 0 < size < float("inf"):
            raise UsageError(f"the margin for {name} is {size:g}, expected a number above 0")
    return margins
