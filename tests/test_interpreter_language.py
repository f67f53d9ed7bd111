"""Values, control flow, errors and panics in the interpreter, from source text."""

from __future__ import annotations

import time

import pytest
from interpreting import Ran, compiled, run
from kavachc.interpreter.output import Output
from kavachc.interpreter.run import interpret
from kavachc.options import RunOptions


def lines(source: str) -> list[str]:
    """What the body of `main` prints, with nothing going wrong."""
    ran = run(source if "fn main" in source else f"fn main() {{\n{source}\n}}")
    assert (ran.err, ran.status) == ("", 0)
    return ran.out.splitlines()


POINTS = """
type Point { x: Int, xs: [Int] }
type Line { from: Point, to: Point }
"""


@pytest.mark.parametrize(
    ("body", "printed"),
    [
        ("let a = [1]\nlet b = a\na.push(2)\nprint(a)\nprint(b)", ["[1, 2]", "[1]"]),
        ("let a = [1]\na.push(2)\nlet b = a\nb.push(3)\na.push(4)\nprint(a)\nprint(b)", ["[1, 2, 4]", "[1, 2, 3]"]),
        ("let a = [[1], [2]]\nlet b = a\nb[0][0] = 9\nprint(a)\nprint(b)", ["[[1], [2]]", "[[9], [2]]"]),
        ("let a = [[1]]\na[0].push(2)\nlet b = a[0]\na[0].push(3)\nb.push(4)\nprint(a)\nprint(b)",
         ["[[1, 2, 3]]", "[1, 2, 4]"]),
        ("let a = [[1]]\na.push(a[0])\na[0][0] = 5\nprint(a)", ["[[5], [1]]"]),
        ("let a = [[1], [2]]\na[0] = a[1]\na[1][0] = 7\nprint(a)", ["[[2], [7]]"]),
        ("let a = [1]\nfor x in a {\n a.push(x + 1)\n}\nprint(a)", ["[1, 2]"]),
        ("let a = [1]\na.push(0)\nfor x in a {\n a[1] = 5\n print(x)\n}\nprint(a)", ["1", "0", "[1, 5]"]),
        ("let a = [1, 2]\na.push(3)\nprint(a[{ a[2] = 9\n 2 }])\nprint(a)", ["3", "[1, 2, 9]"]),
        ("let a = [0]\na.push(1)\na[0] += { a[1] = 5\n a[1] }\nprint(a)", ["[5, 5]"]),
        ("let a = [1]\na.push(2)\nprint([a, { a.push(3)\n a }])", ["[[1, 2], [1, 2, 3]]"]),
        ("let p = Point(x: 1, xs: [1])\np.xs.push(2)\nlet q = p\nq.xs[0] = 9\np.x += 1\nprint(p)\nprint(q)",
         ["Point(x: 2, xs: [1, 2])", "Point(x: 1, xs: [9, 2])"]),
        ("let p = Point(x: 1, xs: [1])\np.xs.push(2)\nlet l = Line(from: p, to: p)\nl.from.xs.push(3)\np.xs.push(4)\n"
         "print(l)\nprint(p.xs)",
         ["Line(from: Point(x: 1, xs: [1, 2, 3]), to: Point(x: 1, xs: [1, 2]))", "[1, 2, 4]"]),
        ("let p = Point(x: 1, xs: [1])\np.xs.push(2)\nlet q = p with { x: 5 }\np.xs.push(3)\nprint(q)",
         ["Point(x: 5, xs: [1, 2])"]),
    ],
)  # fmt: skip
def test_no_two_names_share_state(body: str, printed: list[str]) -> None:
    assert lines(f"{POINTS}\nfn main() {{\n{body}\n}}") == printed


def test_a_callee_never_changes_its_callers_value() -> None:
    assert lines("""
    fn grown(xs: [Int]) -> [Int] {
        let mine = xs
        mine.push(0)
        mine
    }
    fn main() {
        let xs = [1]
        xs.push(2)
        let ys = grown(xs)
        xs.push(3)
        ys.push(4)
        print("{xs} {ys}")
    }
    """) == ["[1, 2, 3] [1, 2, 0, 4]"]


def test_a_tasks_result_is_each_waiters_own() -> None:
    assert lines("""
    fn made() -> [Int] { [1] }
    fn main() {
        const t = spawn made()
        let a = t.wait() catch _ => []
        a.push(2)
        let b = t.wait() catch _ => []
        b.push(3)
        print("{a} {b}")
    }
    """) == ["[1, 2] [1, 3]"]


def test_many_pushes_take_seconds_at_most() -> None:
    start = time.monotonic()
    assert lines("let xs: [Int] = []\nfor i in 0..100_000 {\n xs.push(i)\n}\nprint(xs.len() + xs[99_999])") == [
        "199999"
    ]
    assert time.monotonic() - start < 10


def test_loops_and_jumps() -> None:
    assert lines("""
    let total = 0
    for i in 0..=10 {
        if i == 3 { continue }
        if i == 6 { break }
        total += i
    }
    print(total)
    let n = 3
    while n > 0 {
        n -= 1
        for _ in 0..2 { break }
        if n == 1 { continue }
        print(n)
    }
    for i in 9_223_372_036_854_775_806..=9_223_372_036_854_775_807 { print(i) }
    for _ in 5..0 { print("never") }
    """) == ["12", "2", "0", "9223372036854775806", "9223372036854775807"]


def test_logical_operators_evaluate_the_right_side_only_when_needed() -> None:
    assert lines("""
    fn said(text: String, value: Bool) -> Bool {
        print(text)
        value
    }
    fn main() {
        print(said("a", false) && said("b", true))
        print(said("c", true) || said("d", true))
        const xs: [Int] = []
        print(xs.len() > 0 && xs[0] == 1)
    }
    """) == ["a", "false", "c", "true", "false"]


def test_matching() -> None:
    assert lines("""
    type Shape = Dot | Circle(radius: Int) | Pair(left: Int, right: Int)
    fn described(s: Shape) -> String {
        match s {
            Shape.Dot => "dot",
            Shape.Circle(0) => "empty",
            Shape.Circle(r) if r > 100 => "huge {r}",
            Shape.Circle(1..=9) => "small",
            Shape.Circle(_) => "circle",
            Shape.Pair(right: b, left: a) => "{a}-{b}",
        }
    }
    fn named(n: Int) -> String {
        match n { 1 | 2 => "few", -1 => "less", _ => "many" }
    }
    fn main() {
        for s in [Shape.Dot, Shape.Circle(0), Shape.Circle(101), Shape.Circle(9), Shape.Circle(10), Shape.Pair(1, 2)] {
            print(described(s))
        }
        print("{named(2)} {named(-1)} {named(7)}")
    }
    """) == ["dot", "empty", "huge 101", "small", "circle", "1-2", "few less many"]


FAILING = """
type A = Bad(code: Int)
type B = Worse
fn a(code: Int) -> Int ! A {
    if code > 0 { fail A.Bad(code) }
    code
}
fn b() -> Int ! B { fail B.Worse }
"""


def test_errors_go_where_they_should() -> None:
    assert lines(
        FAILING
        + """
    fn plus(x: Int, y: Int) -> Int ! A { a(x + y) catch e => fail e }
    fn outer() -> Int ! Error {
        const n = plus(try a(-1), 1) catch e => { print("caught {e}")
            7 }
        const m = plus(try a(5), 1) catch _ => { print("never")
            8 }
        n + m
    }
    fn both(code: Int) -> Int ! Error {
        const n = try a(code)
        n + try b()
    }
    fn main() {
        print(outer() catch e => { print("outer: {e}")
            0 })
        for code in [0, 3] {
            const text = both(code) catch e => match e {
                A.Bad(c) => c,
                B.Worse => 100,
                _ => 200,
            }
            print(text)
        }
    }
    """
    ) == ["outer: Bad(code: 5)", "0", "100", "3"]


def test_a_catch_may_return_break_or_fail() -> None:
    assert lines(
        FAILING
        + """
    fn first(codes: [Int]) -> Int {
        for code in codes {
            const n = a(code) catch _ => break
            const m = a(n - 1) catch _ => return -1
            if m == -3 { return m }
        }
        0
    }
    fn main() { print("{first([1])} {first([-2])} {first([-1, 1])}") }
    """
    ) == ["0 -3 0"]


def test_main_that_fails() -> None:
    ran = run(FAILING + 'fn main() ! Error {\nprint("before")\nconst n = try a(4)\nprint(n)\n}')
    assert ran == Ran("before\n", "error: Bad(code: 4)\n", 1)


@pytest.mark.parametrize(
    ("body", "panic"),
    [
        ("let n = 9_223_372_036_854_775_807\nprint(1)\nn += 1", "integer overflow at a.kav:4:3"),
        ("const xs = [1]\nprint(1)\nprint(xs[1])", "index 1 is out of range: the length is 1 at a.kav:4:7"),
        ("let xs = [1]\nprint(1)\nxs[-1] = 5", "index -1 is out of range: the length is 1 at a.kav:4:1"),
        ("let z = 0\nprint(1)\nprint(1 / z)", "division by zero at a.kav:4:9"),
        ("let s = 64\nprint(1)\nprint(1 << s)", "shift by 64 is outside 0..63 at a.kav:4:9"),
    ],
)
def test_panics(body: str, panic: str) -> None:
    ran = run(f"fn main() {{\n{body}\n}}")
    assert (ran.out, ran.status) == ("1\n", 101)
    message, _, place = panic.rpartition(" at ")
    assert ran.err.startswith(f"panic: {message} at a.kav:4:"), place


DEEP = """
fn down(n: Int) -> Int {
    if n == 0 { 0 } else { 1 + down(n - 1) }
}
fn main() {
    print(down(DEPTH))
}
"""


def test_a_hundred_thousand_nested_calls_and_no_more() -> None:
    """`down(n)` is n + 1 calls deep."""
    assert run(DEEP.replace("DEPTH", "99_999")) == Ran("99999\n", "", 0)
    too_deep = run(DEEP.replace("DEPTH", "100_000"))
    within, outermost = "  in down, called at a.kav:3:32\n", "  in down, called at a.kav:6:11\n"
    trace = within * 10 + "  … 99981 more\n" + within * 8 + outermost
    assert too_deep == Ran("", f"panic: calls are nested more than 100000 deep at a.kav:3:32\n{trace}", 101)


def test_only_recursive_calls_count_and_only_while_nested() -> None:
    assert (
        lines("""
    fn even(n: Int) -> Bool { if n == 0 { true } else { odd(n - 1) } }
    fn odd(n: Int) -> Bool { if n == 0 { false } else { even(n - 1) } }
    fn main() {
        for _ in 0..3 { print(even(60_000)) }
    }
    """)
        == ["true"] * 3
    )


def test_a_failure_through_many_calls() -> None:
    assert lines("""
    type Deep = Bottom(n: Int)
    fn down(n: Int) -> Int ! Deep {
        if n == 0 { fail Deep.Bottom(n) }
        1 + try down(n - 1)
    }
    fn main() { print(down(90_000) catch e => { print(e)
        1 }) }
    """) == ["Bottom(n: 0)", "1"]


def test_long_chains_of_operators() -> None:
    assert lines(f"print({' + '.join(['1'] * 5_000)})") == ["5000"]
    assert lines(f"fn one() -> Int {{ 1 }}\nfn main() {{ print({' + '.join(['one()'] * 5_000)}) }}") == ["5000"]


def test_constants_are_evaluated_by_the_compiler() -> None:
    source = """
    const base = 7 * 100
    const squares = made(base / 100)
    const point = Pair(left: squares, text: "{base}!")
    type Pair { left: [Int], text: String }
    fn made(n: Int) -> [Int] {
        let xs: [Int] = []
        for i in 0..n { xs.push(i * i) }
        xs
    }
    fn main() {
        let mine = squares
        mine.push(1)
        print("{mine.len()} {point}")
    }
    """
    assert lines(source) == ['8 Pair(left: [0, 1, 4, 9, 16, 25, 36], text: "700!")']


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("const a = 1 / (2 - 2)", "computing `a` when the program is built ends in a mistake: division by zero"),
        (
            "const a = forever(1)\nfn forever(n: Int) -> Int { forever(n) }",
            "computing `a` when the program is built ends in a mistake: calls are nested more than 100000 deep",
        ),
        (
            "const a = spin()\nfn spin() -> Int {\n while true { }\n 1\n}",
            "computing `a` when the program is built takes too long: more than 1_000_000 steps",
        ),
        (
            'const a = doubled()\nfn doubled() -> String {\n let s = "ab"\n for _ in 0..60 { s = "{s}{s}" }\n s\n}',
            "computing `a` when the program is built makes too large a value",
        ),
        ("agent A {\n model Model(max_tokens: 0)\n can Ai\n}", "the model's `max_tokens` is 0: it must be 1 or more"),
    ],
)
def test_mistakes_of_constants_are_diagnostics(source: str, message: str) -> None:
    assert compiled(f"{source}\nfn main() {{ print(1) }}")[1] == [message]


def test_a_stdout_that_takes_no_more_ends_the_program() -> None:
    program, errors = compiled("fn main() {\n for i in 0..100_000 { print(i) }\n}")
    assert program is not None and not errors
    errors_written = bytearray()

    def closed(content: bytes) -> None:
        raise BrokenPipeError

    status = interpret(program, RunOptions(), output=Output(closed, errors_written.extend))
    assert (errors_written.decode(), status) == ("error: cannot write to stdout\n", 1)

    panics, _ = compiled("fn main() {\n print(1)\n const xs = [1]\n print(xs[1])\n}")
    assert panics is not None
    errors_written.clear()
    status = interpret(panics, RunOptions(), output=Output(closed, errors_written.extend))
    assert status == 101 and errors_written.startswith(b"panic: index 1 is out of range")


def test_what_was_printed_comes_before_what_went_wrong() -> None:
    program, _ = compiled('fn main() {\n print("one")\n const xs = [1]\n print(xs[1])\n}')
    assert program is not None
    both = bytearray()
    assert interpret(program, RunOptions(), output=Output(both.extend, both.extend)) == 101
    assert both.decode().startswith("one\npanic: index 1 is out of range: the length is 1 at a.kav:4:")
