"""`kavachc explain`: every code has a page, and the programs on it do what the page says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT
from kavachc.diagnostics import codes
from kavachc.diagnostics.codes import Code
from kavachc.diagnostics.diagnostic import CompileErrors
from kavachc.diagnostics.explain import ROWS, heading, page
from kavachc.driver import Compilation
from kavachc.errors import ToolError
from kavachc.syntax.loader import FILE_BYTES_MAX
from programs import kavachc

FENCE = re.compile(r"^```kavach (wrong|right|file [a-z.]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _large(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    return path


# Mistakes that no text of a program makes: what stands at the path instead.
NO_PROGRAM: dict[str, Callable[[Path], Path]] = {
    "K0001": lambda path: path,
    "K0002": _folder,
    "K0003": lambda path: _file(path, b"// caf\xe9\n"),
    "K0004": lambda path: _file(path, b"") / "inside.kav",
    "K0006": _large,
    "K0007": lambda path: _file(path, b"fn main() {\n" + b"    print(total)\n" * 1_000 + b"}\n"),
}


def found_in(path: Path) -> list[tuple[str, str]]:
    """Severity and code of every diagnostic of the program at `path`."""
    compilation = Compilation(str(path))
    try:
        _ = compilation.program
        items = [*compilation.bag.items, *compilation.notes()]
    except CompileErrors as errors:
        items = errors.diagnostics
    return [(item.severity, item.code) for item in items]


def test_a_code_is_given_to_one_message() -> None:
    written = [row.code for row in vars(codes).values() if isinstance(row, Code)]
    assert [code for code, times in Counter(written).items() if times > 1] == []


def test_pages_are_there_for_the_rows_and_for_nothing_else() -> None:
    folder = ROOT / "compiler" / "kavachc" / "diagnostics" / "explain"
    assert sorted(file.name for file in folder.iterdir()) == [f"{code}.md" for code in ROWS]


@pytest.mark.parametrize("code", ROWS)
def test_a_page_says_why_and_its_programs_are_wrong_and_right(code: str, tmp_path: Path) -> None:
    text = page(code)
    first, _, rest = text.partition("\n\n")
    assert first == f"# {code}: {heading(ROWS[code])}"
    assert len(rest.split("\n```", 1)[0]) > 60, "it says why"
    if code in NO_PROGRAM:
        assert ("error", code) in found_in(NO_PROGRAM[code](tmp_path / "a.kav"))
        return
    written = FENCE.findall(text)
    assert [kind for kind, _ in written if not kind.startswith("file ")] == ["wrong", "right"]
    folder = tmp_path
    for kind, program in written:
        # The program itself is `shop.kav`; further files follow it.
        if not kind.startswith("file "):
            folder = tmp_path / kind
            folder.mkdir()
        file = folder / (kind.removeprefix("file ") if kind.startswith("file ") else "shop.kav")
        # Pages show the control character U+0007 as its picture.
        file.write_text(program.replace("\u2407", "\u0007"), encoding="utf-8")
    found = {kind: found_in(tmp_path / kind / "shop.kav") for kind in ("wrong", "right")}
    assert {name for _, name in found["wrong"]} == {code}
    assert [item for item in found["right"] if item[0] == "error" or item[1] == code] == []


def test_the_command_shows_a_page_in_any_case() -> None:
    for code in ("K0201", "k0201"):
        ended = kavachc("explain", code)
        assert (ended.stdout, ended.stderr, ended.returncode) == (page("K0201"), "", 0)


def test_without_a_code_all_are_listed() -> None:
    lines = kavachc("explain").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(ROWS)
    assert "K0201  error    `…` is not known here" in lines


def test_an_unknown_code_names_those_that_are_near() -> None:
    with pytest.raises(ToolError, match=r"there is no code `K021`\n") as raised:
        page("K021")
    assert "`K0210`" in str(raised.value)
    ended = kavachc("explain", "nonsense")
    assert ended.returncode == 2
    assert ended.stderr == (
        "error: there is no code `nonsense`\nhelp: `kavachc explain` without a code lists them all\n"
    )
