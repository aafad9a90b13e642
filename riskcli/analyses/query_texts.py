"""What the topics of a result ask: their texts beside their ids."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from riskcli.core.messages import Note, counted, is_number
from riskcli.output.display import GAP, Cell, Column, Heading, cut, width_of
from riskcli.trec.queries import one_line

COLUMN = "query"
LEAST = 12
"""The columns of a terminal below which a text says nothing."""
_IN_SENTENCES = 40


@dataclass(frozen=True)
class QueryTexts:
    """The texts of a result's topics, and whether any were asked for."""

    by_topic: Mapping[str, str] = field(default_factory=dict)
    given: bool = False

    @classmethod
    def of(cls, queries: Mapping[str, str] | None, topics: Iterable[str]) -> "QueryTexts":
        """Those of these topics; topic 51 is 051 in the files of the first TRECs."""
        if queries is None:
            return cls()
        by_number = {_unpadded(topic): topic for topic in reversed([*queries])}
        named = {
            topic: queries.get(topic) or _padded(topic, queries, by_number) for topic in topics
        }
        lines = {topic: one_line(text) for topic, text in named.items()}
        return cls({topic: line for topic, line in lines.items() if line}, given=True)

    def of_topic(self, topic: str) -> str:
        """The text, empty where there is none."""
        return self.by_topic.get(topic, "")

    def named(self, topic: str) -> str:
        """The topic as a sentence names it: its id, and its text if there is one."""
        text = self.of_topic(topic)
        return f"{topic} {cut(text, _IN_SENTENCES)}".rstrip() if text else topic

    def notes(self, topics: Sequence[str]) -> list[Note]:
        """How many topics have no text, if any were asked for."""
        lacking = len(topics) - sum(topic in self.by_topic for topic in topics)
        if not self.given or not lacking:
            return []
        message = f"--queries has no text for {lacking} of {counted(len(topics), 'topic')}"
        return [Note("no-query", message, warning=lacking == len(topics))]

    def beside(self, columns: Sequence[Column], topics: Sequence[str], width: int) -> list[Column]:
        """The columns with the texts behind the first, cut to the room that is left, if any."""
        room = width - width_of(columns) - GAP
        if not self.given or room < LEAST:
            return [*columns]
        first, *others = columns
        return [first, self.column(topics, room, len(first.cells)), *others]

    def column(self, topics: Sequence[str], most: int, lines: int | None = None) -> Column:
        """The texts as a column of so many lines, those below the topics empty."""
        texts = [Cell(cut(self.of_topic(topic), most)) for topic in topics]
        below = [Cell("")] * ((lines or len(texts)) - len(texts))
        return Column(Heading(COLUMN, left=True, names=True), [*texts, *below])


def _unpadded(topic: str) -> str:
    return topic.lstrip("0") if is_number(topic) else topic


def _padded(topic: str, queries: Mapping[str, str], by_number: Mapping[str, str]) -> str:
    return queries.get(by_number.get(_unpadded(topic), ""), "")
