"""Tables for papers and web pages: what they hold, and that no name can break out of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riskcli.core.messages import UsageError
from riskcli.output import escape
from riskcli.output.display import Cell, Display, Heading
from riskcli.output.latex import as_latex
from riskcli.output.renderers import as_html
from tests.helpers.inprocess import riskeval
from tests.helpers.program import SAMPLES, Key

HOSTILE = [
    "a_b", "50%", "R&D", "$x$", "#1", "{", "}", r"\input{/etc/passwd}", "~", "^", "<script>", "|",
    '"', "`", "''", "--", "---", ",,", "[0]", "*", "=cmd()", "&lt;", "é", "ß", "α", "-1",
    "\x1b[31m", "@mean", "a  b",
]  # fmt: skip
SCORE = ("score", SAMPLES, "-m", "ERR@20", "-b", "indriCASP")

DISPLAY = Display.of_rows(
    "Title & more",
    [
        Heading("run", left=True),
        Heading("α=1\nURisk", marked=True),
        Heading("α=1\nZRisk", ranked=True),
    ],
    [
        [Cell("best_run"), Cell("-0.1", mark="worse"), Cell("3.00", rank=1, best=True)],
        [Cell("other"), Cell("0.2"), Cell("–")],
    ],
    ["▲ better, ▼ worse."],
)


def hostile_display() -> Display:
    headings = [Heading("run", left=True), Heading("Mean", marked=True)]
    rows = [[Cell(name), Cell("0.5", mark="better")] for name in HOSTILE]
    return Display.of_rows(" ".join(HOSTILE), headings, rows, HOSTILE)


# ---------------------------------------------------------------- LaTeX


def test_a_latex_table_has_its_parts() -> None:
    lines = as_latex([DISPLAY], "tab:risk").splitlines()
    assert lines == [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{Title \& more}",
        r"\label{tab:risk}",
        r"\small",
        r"\begin{tabular}{@{}lrr@{\hspace{.35em}}r@{}}",
        r"\toprule",
        r"\multicolumn{1}{c}{} & \multicolumn{3}{c}{$\alpha$=1} \\",
        r"\cmidrule(lr){2-4}",
        r"run & URisk\phantom{$^{\dagger}$} & ZRisk & {\scriptsize\#} \\",
        r"\midrule",
        r"best\_run & $-$0.1$^{\ddagger}$ & \textbf{3.00} & {\scriptsize 1} \\",
        r"other & 0.2\phantom{$^{\dagger}$} & -- & {\scriptsize } \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        r"\noindent\parbox{\linewidth}{\footnotesize\raggedright",
        r"$^{\dagger}$ better, $^{\ddagger}$ worse.",
        "Bold: the best of its column.}",
        r"\end{table}",
    ]


def test_mathematics_in_a_caption_of_ones_own_and_nowhere_else() -> None:
    shown = replace(DISPLAY, lead=r"Risk at $\alpha = 5$, 100% of a_b", title="$x$")
    caption = next(line for line in as_latex([shown]).splitlines() if "caption" in line)
    assert caption == r"\caption{Risk at $\alpha = 5$, 100\% of a\_b: \$x\$}"


def test_siunitx_aligns_bare_numbers_and_leaves_the_rest_in_braces() -> None:
    text = as_latex([DISPLAY], siunitx=True)
    assert r"\usepackage{booktabs,siunitx}" in text
    assert r"S[table-format=-1.1,table-space-text-post={$^{\dagger}$}]" in text
    assert r"best\_run & -0.1 {$^{\ddagger}$} & \bfseries 3.00 & {\scriptsize 1} \\" in text
    assert r"& {--} &" in text


def test_many_runs_are_a_table_over_pages() -> None:
    rows = [[Cell(f"r{i}"), Cell("0.1")] for i in range(64)]
    text = as_latex([Display.of_rows("Title", [Heading("run", left=True), Heading("x")], rows)])
    assert r"\begin{longtable}" in text and r"\begin{table" not in text
    assert text.count(r"\toprule") == 1 and r"\endhead" in text


def test_a_wide_table_spans_two_columns() -> None:
    headings = [Heading("run", left=True), *(Heading(f"measure {i}") for i in range(9))]
    text = as_latex([Display.of_rows("", headings, [[Cell("0.123")] * 10])])
    assert r"\begin{table*}" in text


def test_every_float_has_its_key() -> None:
    """A float wanders off: the text formats say a shared line once, LaTeX below each table."""
    text = riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "latex").out
    floats = text.split(r"\begin{table")[1:]
    assert len(floats) == 2
    assert all(
        "worse at $\\gamma$" in each and "t, jackknife; Holm over 8 tests" in each
        for each in floats
    )
    shown = riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "table").out
    assert shown.count("worse at γ") == 1


@given(st.text())
def test_escaped_text_is_no_order_to_latex(text: str) -> None:
    escaped = escape.latex(text)
    commands = (
        r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar"
        r"|textasciigrave|ldots)\{\}|\{\\char34\}|\{[][*]\}|\{\}|\\[{}$&%#_]|\$[^$\n]*\$"
    )
    rest = re.sub(commands, "", escaped)
    assert not re.search(r'[\\{}$&%#_~^<>|"`\[\]*\x00-\x1f]', rest)


def test_brackets_and_stars_cannot_become_arguments_of_a_line_break() -> None:
    assert escape.latex("[2cm]") == "{[}2cm{]}"
    assert escape.latex("*") == "{*}"


def test_ligatures_are_parted() -> None:
    assert escape.latex("a--b---c") == "a-{}-b-{}-{}-c"
    assert escape.latex("''") == "'{}'"


@pytest.mark.parametrize("label", ["a}b", r"\x", "a b", "", "50%"])
def test_a_label_that_latex_could_misread_is_refused(label: str) -> None:
    with pytest.raises(UsageError, match="label"):
        as_latex([DISPLAY], label)


def test_several_tables_have_labels_of_their_own() -> None:
    text = as_latex([DISPLAY, DISPLAY], "tab:risk")
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:risk", "tab:risk-2"]


def test_letters_that_pdflatex_lacks_are_announced() -> None:
    shown = Display.of_rows("系统", [Heading("run")], [[Cell("x")]])
    assert "LuaLaTeX" in as_latex([shown])
    assert "LuaLaTeX" not in as_latex([hostile_display()])


def test_score_prints_latex_with_caption_and_label() -> None:
    ran = riskeval(*SCORE, "-f", "latex", Key("caption", "Risk & gain"), Key("label", "tab:risk"))
    assert r"\caption{Risk \& gain}" in ran.out
    assert r"\label{tab:risk}" in ran.out
    assert ran.out.count(r"\textbf{") == 5
    assert r"0.2810$^{\dagger}$" in ran.out and r"\underline" not in ran.out


def test_captions_of_several_tables_say_what_each_is() -> None:
    ran = riskeval("score", SAMPLES, "-b", "indriCASP", "-f", "latex", Key("caption", "Risk"))
    captions = re.findall(r"\\caption\{(\w+): (\w+)@20", ran.out)
    assert captions == [("Risk", "ERR"), ("Risk", "nDCG")]


@pytest.mark.parametrize(
    "arguments",
    [
        ("-f", "tsv", Key("caption", "x")),
        ("-f", "table", Key("label", "x")),
        ("-f", "json", Key("label", "x")),
    ],
)
def test_words_that_a_format_has_no_place_for_are_refused(arguments: tuple[str, ...]) -> None:
    ran = riskeval(*SCORE, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "belongs to" in ran.err


def test_the_suffix_tells_the_format(tmp_path: Path) -> None:
    for name, start in (("t.tex", "% needs"), ("t.html", "<figure")):
        riskeval(*SCORE, "-o", tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)


CLASSES = {
    "article": "\\documentclass{article}",
    "ACM": "\\documentclass[sigconf,nonacm]{acmart}",
    "LNCS": "\\documentclass{llncs}",
}

_TITLE = r"\title{T}\author{A}\maketitle"


def _found(file: str) -> bool:
    ran = subprocess.run(["kpsewhich", file], capture_output=True, check=False)
    return ran.returncode == 0


def many_runs(tmp_path: Path) -> Path:
    """More runs than fit a page, with names of 40 characters."""
    names = [f"bm25_rm3_monoT5_duoT5_rerank_top1000_{i:03d}" for i in range(60)]
    scores = [",".join(str((i * 7 + j * 13) % 89 / 100) for j in range(6)) for i in range(60)]
    file = tmp_path / "many.csv"
    lines = [f"{name},{row}" for name, row in zip(names, scores, strict=True)]
    file.write_text("\n".join(["run,1,2,3,4,5,6", *lines]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("paper", CLASSES)
def test_latex_compiles_as_it_stands(tmp_path: Path, paper: str) -> None:
    """Without a line that is too wide, in the classes that papers of this field are written in."""
    if shutil.which("pdflatex") is None:
        pytest.skip("no TeX is installed")
    needed = {"article": ["booktabs.sty"], "ACM": ["acmart.cls", "xstring.sty"]}
    for file in [*needed.get(paper, ["llncs.cls"]), "siunitx.sty", "longtable.sty"]:
        if not _found(file):
            pytest.skip(f"TeX has no {file}")
    own = ("score", SAMPLES, "-b", "indriCASP", "-f", "latex")
    tables = [
        riskeval(*own, "-a", "1,5", Key("caption", r"Risk at $\alpha$")).out,
        riskeval(*own, "-m", "AP,nDCG@20", "--columns", "mean,georisk", Key("no-ranks")).out,
        riskeval(*own, "-m", "AP", "--columns", "mean,urisk,georisk", Key("siunitx")).out,
        riskeval("significance", SAMPLES, "-m", "ERR@20", "-f", "latex").out,
        as_latex([DISPLAY], "tab:wide"),
        riskeval(*own, "-m", "AP,RR", "-a", "1,5", "--columns", "mean,georisk").out,
        riskeval(
            *own, "-m", "AP,RR", "--columns", "mean,mean_p,georisk_interval", Key("siunitx")
        ).out,
        riskeval("score", many_runs(tmp_path), "-m", "AP", "-a", "1,5", "-f", "latex").out,
        riskeval("sweep", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-f", "latex").out,
        riskeval("check", SAMPLES, "-m", "ERR@20", "-b", "indriCASP", "-f", "latex").out,
    ]
    if paper == "article":
        tables.append(as_latex([hostile_display()], "tab:hostile"))
    source = tmp_path / "paper.tex"
    source.write_text(
        f"{CLASSES[paper]}\n\\usepackage{{booktabs,siunitx,longtable,graphicx}}\n\\begin{{document}}\n{_TITLE}\n"
        + "\n".join(tables) + "\\end{document}\n",
        encoding="utf-8",
    )  # fmt: skip
    options = ["-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode"]
    call = ["pdflatex", *options, source.name]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, check=False)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
    if paper != "article":  # names made to break tables are wide too
        assert "Overfull \\hbox" not in said


# ---------------------------------------------------------------- HTML


class Outline(HTMLParser):
    """The elements and the texts of a fragment."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_is_a_figure_with_header_cells() -> None:
    text = as_html([DISPLAY], "risk")
    assert '<figure class="riskeval" id="risk">' in text
    assert "<caption>Title &amp; more</caption>" in text
    assert '<th scope="col" align="right">α=1<br>ZRisk <small>#</small></th>' in text
    assert '<th scope="row" align="left">best_run</th>' in text
    assert (
        '<td align="right" class="worse">-0.1<span role="img" aria-label="worse">▼</span></td>'
        in text
    )
    assert '<td align="right"><strong>3.00</strong> <small>1</small></td>' in text


def test_html_holds_hostile_names_as_text() -> None:
    outline = Outline(as_html([hostile_display()], '"><script>'))
    assert not outline.open
    assert set(outline.tags) == {
        "figure", "table", "caption", "thead", "tr", "th", "tbody", "td", "span", "figcaption",
        "br",
    }  # fmt: skip
    for name in HOSTILE:
        assert escape.visible(name) in outline.texts


def test_score_prints_an_html_fragment() -> None:
    outline = Outline(riskeval(*SCORE, "-f", "html").out)
    assert outline.tags.count("tr") == 10
    assert not outline.open
