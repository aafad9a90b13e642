"""Reading lines of fields at the speed of the machine.

Why this room exists. An organiser scores 170 runs of 100,000 lines each, and a gate in CI reads the
same files at every commit. A loop over lines in Python takes about four times as long as what
stands here (4.0 ms against 1.2 ms for a run of 5,000 lines), and several times the memory, since
each field becomes an object. Here a file stays bytes: Arrow finds the columns, numpy does the rest.

The rule is that the quick way only ever *vouches*. `read` answers with a table where every line has
as many fields as it should and every number is one; otherwise it answers None, and the caller reads
line by line to say what is wrong, and where. So what is right is read quickly, what is wrong is
read with care, and there is one grammar: tests compare the two ways on the same texts.

* `fields`: the text as a `Table`, or None. White space other than single blanks or tabs is
  squeezed first, which costs more time and changes nothing else.
* `repeated`: columns of few distinct texts (topic, tag), found by comparing neighbours.
* `texts`: many texts in one buffer, taken, hashed and compared eight bytes at a time; topic and
  document as one hash. Equal hashes are a reason to look, never an answer.

Everything else imports from here, not from the modules; Arrow is used nowhere else for runs and
judgements.
"""

from riskcli.trec.fast.fields import NUMBER, REPEATED, TEXT, Table, read
from riskcli.trec.fast.texts import (
    Pairs,
    Texts,
    Words,
    may_repeat,
    may_repeat_between,
    pair_hashes,
)

__all__ = [
    "NUMBER",
    "REPEATED",
    "TEXT",
    "Pairs",
    "Table",
    "Texts",
    "Words",
    "may_repeat",
    "may_repeat_between",
    "pair_hashes",
    "read",
]
