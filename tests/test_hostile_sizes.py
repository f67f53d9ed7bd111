"""Programs of absurd sizes: a message or a result in bounded time, and never a traceback (issue 3, "Must hold")."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from kavachc.diagnostics.diagnostic import CompileErrors
from kavachc.diagnostics.render import render_all
from kavachc.driver import Compilation
from kavachc.engines import ENGINES, Engine, run_engine, skip_reason
from kavachc.options import RunOptions

DEEP = 200_000
# Of the CPU: most take less than one. Many things may run at once where the tests run.
CPU_SECONDS_MAX = 60
TOO_DEEP = "nested deeper than 256 levels"
TWO = "fn main() { }\n"


def main(body: str) -> str:
    return f"fn main() {{\n{body}\n}}\n"


def variants(count: int, fields: str = "") -> str:
    return "type S = " + " | ".join(f"V{index}{fields}" for index in range(count)) + "\n"


def arms(count: int, pattern: str) -> str:
    return "\n".join(f"    {pattern.format(index, count - 1 - index)} => {index}" for index in range(count))


REFUSED = {
    "parentheses": (main(f"print({'(' * DEEP}1{')' * DEEP})"), TOO_DEEP),
    "brackets": (main(f"print({'[' * DEEP}1{']' * DEEP})"), TOO_DEEP),
    "braces": (main("{" * DEEP + "}" * DEEP), TOO_DEEP),
    "signs": (main(f"print({'-' * DEEP}1)"), TOO_DEEP),
    "negations": (main(f"print({'!' * DEEP}true)"), TOO_DEEP),
    "tries": (main("try " * DEEP + "f()"), TOO_DEEP),
    "type arguments": (f"fn f(x: {'A<' * DEEP}Int{'>' * DEEP}) {{ }}\n" + TWO, TOO_DEEP),
    "types": (f"fn f(x: {'[' * DEEP}Int{']' * DEEP}) {{ }}\n" + TWO, TOO_DEEP),
    "optionals": (f"fn f(x: Int{'?' * DEEP}) {{ }}\n" + TWO, TOO_DEEP),
    "text in text": (main("print(" + '"{' * DEEP + "1" + '}"' * DEEP + ")"), TOO_DEEP),
    "ifs": (main("if true {" * DEEP + "}" * DEEP), TOO_DEEP),
    "matches": (main("match 1 { _ => " * DEEP + "}" * DEEP), TOO_DEEP),
    "a sum of 10 MB": (main("print(" + "+".join(["1"] * 2_500_000) + ")"), "nested deeper than 50,000 levels"),
    "words of 10 MB": (main("x " * 5_000_000), "expected a new line or `}`, found `x`"),
    "a name of 10 MB": (main(f"print({'a' * 10_000_000})"), "is not known here"),
    "text without an end": (main("print(1)\n" * 50_000 + 'print("abc'), "this text is never closed"),
    "NUL bytes": ("\0" * 3_000_000, "the control character U+0000 cannot stand in a program"),
    "semicolons": (main(";" * 1_000_000), "Kavach has no semicolons"),
    "closing brackets": (")" * 1_000_000, "`)` closes nothing"),
    "a line break of old machines": ("fn main() {\r    print(1)\r}\r", "the control character U+000D"),
    "a byte order mark inside": ("fn main() {\ufeff\n}\n", "the character U+FEFF has no meaning here"),
    "mistakes": ("".join(f"fn f{index}( {{ }}\n" for index in range(3_000)) + TWO, "expected a parameter or `)`"),
    "texts without an end": ('fn f() { print("a\n' * 1_000_000, "this text is never closed"),
    "imports": ("".join(f'import "x{index}.kav"\n' for index in range(3_000)) + TWO, "x0.kav`"),
    "variants missing": (
        variants(1_000)
        + "type P { a: S, b: S }\nfn f(p: P) -> Int {\n    match p {\n"
        + arms(1_000, "P(S.V{}, S.V{})")
        + "\n    }\n}\n"
        + TWO,
        "this `match` ",
    ),
    "a literal twice": (
        "fn f(n: Int) -> Int {\n    match n {\n" + arms(10_000, "{}") + "\n    77 => 1\n    _ => 0\n    }\n}\n" + TWO,
        "this arm never runs",
    ),
    "every second literal": (
        "fn f(n: Int) -> Int {\n    match n {\n" + arms(10_000, "{}0") + "\n    }\n}\n" + TWO,
        "this `match` misses",
    ),
    "combinations": (
        f"fn f(t: ({', '.join(['Bool'] * 24)})) -> Int {{\n    match t {{\n"
        + "\n".join(f"        ({', '.join('true' if i == j else '_' for j in range(24))}) => {i}" for i in range(24))
        + "\n    }\n}\n"
        + TWO,
        "this `match` ",
    ),
}


def matching(type_: str, pattern: str, before: str = "", last: str = "_ => 0") -> str:
    """A `match` of 10,000 arms."""
    return (
        before + f"fn f(n: {type_}) -> Int {{\n    match n {{\n{arms(10_000, pattern)}\n    {last}\n    }}\n}}\n" + TWO
    )


ACCEPTED = {
    "literals": matching("Int", "{}"),
    "literals, the largest first": matching("Int", "{1}"),
    "ranges": matching("Int", "{0}0..{0}7"),
    "texts": matching("String", '"a{}"'),
    "durations": matching("Duration", "{}s"),
    "all variants": matching("S", "S.V{0}(7) => 0\n    S.V{0}", variants(10_000, "(x: Int)"), ""),
    "variants": variants(1_000, "(x: Int)")
    + "fn f(s: S) -> Int {\n    match s {\n"
    + "\n".join(f"        S.V{index}(x) => x" for index in range(1_000))
    + "\n    }\n}\n"
    + main("print(f(S.V3(4)))"),
    "variants in pairs": variants(300)
    + "fn f(p: (S, S)) -> Int {\n    match p {\n"
    + arms(300, "(S.V{}, S.V{})")
    + "\n    _ => 0\n    }\n}\n"
    + main("print(f((S.V3, S.V296)))"),
    "functions": "".join(f"fn f{index}(x: Int) -> Int {{ x + {index} }}\n" for index in range(3_000))
    + main("print(" + " + ".join(f"f{index}(1)" for index in range(3_000)) + ")"),
    "parameters": f"fn f({', '.join(f'a{index}: Int' for index in range(2_000))}) -> Int {{ a7 }}\n"
    + main(f"print(f({', '.join(['1'] * 2_000)}))"),
    "elements": main(f"const xs = [{', '.join(map(str, range(100_000)))}]\nprint(xs.len())"),
    "terms": main("const a = 1\nprint(" + " + ".join(["a"] * 10_000) + ")"),
    "calls in a row": "type R {\n    n: Int\n    fn f(self) -> R { R(self.n + 1) }\n}\n"
    + main("print(R(1)" + ".f()" * 10_000 + ".n)"),
    "parts of a text": main('const a = 1\nprint("' + "{a} " * 10_000 + '")'),
    "else ifs": main(
        "const a = 1\nif a == 0 { print(0) }" + "".join(f" else if a == {index} {{ }}" for index in range(2, 2_000))
    ),
    "fields": f"type R {{ {', '.join(f'f{index}: Int' for index in range(2_000))} }}\n"
    + main(f"const r = R({', '.join(['1'] * 2_000)})\nprint(r.f7)"),
    "records in a chain": "".join(f"type T{index} {{ a: T{index + 1} }}\n" for index in range(3_000))
    + "type T3000 { a: Int }\n"
    + TWO,
    "instances": "fn g<T>(x: T) -> T { x }\n"
    + "".join(f"type T{index} {{ n: Int }}\n" for index in range(1_000))
    + main("\n".join(f"g(T{index}(1))" for index in range(1_000))),
    "comments": "// a\n" * 300_000 + TWO,
    "a text of 10 MB": main(f'print("{"a" * 10_000_000}".len())'),
}


FUNCTIONS = 600
# A program for each thing that may be large, and what it prints. The first two are longer than LLVM optimises.
RUN = {
    "statements": (main("let x = 0\n" + "x += 1\nprint(x)\n" * 2_000), "".join(f"{n}\n" for n in range(1, 2_001))),
    "parts of a text": (main('const a = 1\nprint("' + "{a}" * 25_000 + '")'), "1" * 25_000 + "\n"),
    "calls that may wait": (
        "fn f(x: Int) -> Int uses Time {\n    Time.sleep(0s)\n    x + 1\n}\nfn main() uses Time, Console {\nlet x = 0\n"
        + "x = f(x)\n" * 800
        + "print(x)\n}\n",
        "800\n",
    ),
    "else ifs": (
        main(
            "const a = 1_999\nif a == 0 { print(0) }"
            + "".join(f" else if a == {index} {{ print({index}) }}" for index in range(1, 2_000))
        ),
        "1999\n",
    ),
    "arms": (
        "fn f(n: Int) -> Int {\n    match n {\n"
        + arms(2_000, "{}")
        + "\n    _ => 0\n    }\n}\n"
        + main("print(f(1_999))"),
        "1999\n",
    ),
    "elements": (main(f"const xs = [{', '.join(map(str, range(20_000)))}]\nprint(xs[19_999])"), "19999\n"),
    "functions": (
        "".join(f"fn f{index}(x: Int) -> Int {{ x + {index} }}\n" for index in range(FUNCTIONS))
        + main("print(" + " + ".join(f"f{index}(1)" for index in range(FUNCTIONS)) + ")"),
        f"{FUNCTIONS + sum(range(FUNCTIONS))}\n",
    ),
}
RUN_ENGINES = [engine for engine in ENGINES if engine.level == 2 or engine.kind == "interp-model"]


def outcome(folder: Path, source: str) -> str:
    """The text of the messages, of which the first are enough."""
    path = folder / "large.kav"
    path.write_bytes(source.encode())
    start = time.process_time()
    compilation = Compilation(str(path))
    try:
        _ = compilation.program
        text = ""
    except CompileErrors as errors:
        text = render_all(errors.diagnostics[:20], color=False)
    assert time.process_time() - start < CPU_SECONDS_MAX
    assert len(text) < 100_000
    return text


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_too_large_is_refused(name: str, tmp_path: Path) -> None:
    source, message = REFUSED[name]
    assert message in outcome(tmp_path, source)


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_only_large_is_accepted(name: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, ACCEPTED[name]) == ""


@pytest.mark.parametrize("engine", RUN_ENGINES, ids=[engine.name for engine in RUN_ENGINES])
@pytest.mark.parametrize("name", RUN)
def test_what_is_large_runs(name: str, engine: Engine, tmp_path: Path) -> None:
    if reason := skip_reason(engine):
        pytest.skip(reason)
    source, stdout = RUN[name]
    path = tmp_path / "large.kav"
    path.write_text(source)
    result = run_engine(engine, Compilation(str(path)), RunOptions())
    assert (result.stdout, result.stderr, result.status) == (stdout, "", 0)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "bytes.kav"
    path.write_bytes(b'fn main() { print("\xff") }')
    with pytest.raises(CompileErrors):
        _ = Compilation(str(path)).program
    assert sys.getrecursionlimit() >= DEEP
