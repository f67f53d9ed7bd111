"""Effects, waiting and recursion over the whole program, and constants, which have none (spec 5, 8.2)."""

from __future__ import annotations

import pytest
from checking import error_of, errors_of, function_named, program_of

PROGRAM = """
capability Pay { fn pay() ! Error }
type Slow: Pay { fn pay(self) ! Error { Time.sleep(1s) } }
type Fast: Pay { fn pay(self) ! Error { print(1) } }
agent A {
    can Pay, Ai
    on h() ! Error { try Pay.pay() }
    on asks() -> Int ! Error { try ask<Int>("a") }
}
fn speaks() { print(1) }
fn sleeps() { Time.sleep(1s) }
fn both() {
    speaks()
    sleeps()
}
fn later() -> Task<()> { spawn sleeps() }
fn direct() ! Error { try Slow().pay() }
fn through(p: Pay) ! Error { try p.pay() }
fn uses_agent(a: A) ! Error { try a.h() }
fn starts() -> A { A.start(Pay: Fast()) }
fn even(n: Int) -> Bool { if n == 0 { true } else { odd(n - 1) } }
fn odd(n: Int) -> Bool { if n == 0 { false } else { even(n - 1) } }
fn calls_even() -> Bool { even(4) }
fn again() -> Task<()> { spawn again_now() }
fn again_now() { const t = again() }
"""


@pytest.mark.parametrize(
    ("name", "effects", "may_wait"),
    [
        ("speaks", "Console", False),
        ("sleeps", "Time", True),
        ("both", "Console Time", True),
        ("later", "Time", False),
        ("direct", "Time", True),
        ("through", "", True),
        ("uses_agent", "", True),
        ("starts", "Ai", False),
        ("Slow.pay", "Time", True),
        ("Fast.pay", "Console", False),
        ("A.h", "Pay.pay", True),
        ("A.asks", "Ai", True),
        ("main", "", False),
    ],
)
def test_effects_and_waiting(name: str, effects: str, may_wait: bool) -> None:
    function = function_named(program_of(PROGRAM), name)
    assert " ".join(sorted(str(effect) for effect in function.effects)) == effects
    assert function.may_wait == may_wait


def test_recursion_is_a_cycle_of_calls_and_spawn_is_none() -> None:
    program = program_of(PROGRAM)
    assert {item.name for item in program.functions if item.is_recursive} == {"even", "odd"}


def test_recursion_through_a_capability_and_a_handler() -> None:
    program = program_of(
        """
        capability C { fn m() }
        type R: C { a: [A], fn m(self) { for x in self.a { x.h() } } }
        agent A {
            can C
            on h() { C.m() }
        }
        """
    )
    assert {item.name for item in program.functions if item.is_recursive} == {"R.m", "A.h"}
    assert all(method.may_wait is False for item in program.capabilities for method in item.methods)


@pytest.mark.parametrize(
    ("source", "message", "label"),
    [
        ("fn f() uses Console { Time.sleep(1s) }", "`f` uses `Time`, which its `uses` does not list",
         "this uses `Time`"),
        ("fn f() uses Ai { g() }\nfn g() { print(1) }", "`f` uses `Console`, which its `uses` does not list",
         "`g` uses `Console`"),
        ("fn f() uses Console { spawn g() }\nfn g() { Time.sleep(1s) }",
         "`f` uses `Time`, which its `uses` does not list", "`g` uses `Time`"),
        ("agent A { can Ai }\nfn f() uses Console { A.start() }", "`f` uses `Ai`, which its `uses` does not list",
         "this uses `Ai`"),
        ("agent A { can Ai\n on h() { print(1) } }", "the handler `h` uses `Console`, which its agent may not",
         "this uses `Console`"),
        ("capability C {\n fn m()\n fn n()\n}\nagent A { can C.m\n on h() { C.n() } }",
         "the handler `h` uses `C.n`, which its agent may not", "this uses `C.n`"),
        ("capability C { fn m() }\nagent A { can C.m\n on h() { f(C) } }\nfn f(c: C) { c.m() }",
         "the handler `h` uses `C`, which its agent may not", "this uses `C`"),
        ("agent A {\n on h() { Time.now() } }", "the handler `h` uses `Time`, which its agent may not",
         "this uses `Time`"),
    ],
)  # fmt: skip
def test_promises_are_kept(source: str, message: str, label: str) -> None:
    found = error_of(source)
    assert found.message == message
    assert [item.text for item in found.labels] == [label]


def test_promises_are_upper_bounds() -> None:
    program_of("capability C { fn m() }\nfn f() uses Ai, Console, C { print(1) }")
    assert [line.split(" ", 1)[1] for line in errors_of("fn f() uses Foo, Time.now { }")] == [
        "there is no capability `Foo`",
        "`Time` is built in, and is given as a whole",
    ]


def test_constants() -> None:
    program = program_of(
        """
        const A = B * 2
        const B: Int = size(3)
        const C = [Mode.Observe]
        const D: Float = 1
        const E = wrong() catch _ => 5
        fn size(n: Int) -> Int { if n == 0 { 0 } else { size(n - 1) } }
        fn wrong() -> Int ! Error { fail AiError.Denied("x") }
        """
    )
    assert [f"{item.name}: {item.type}" for item in program.constants] == [
        "A: Int",
        "B: Int",
        "C: [Mode]",
        "D: Float",
        "E: Int",
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("const A = A", "the constant `A` needs itself"),
        ("const A = B\nconst B = A", "the constant `A` needs itself"),
        ("const A: Int = B\nconst B: Int = A", "the constant `A` needs itself"),
        ("const A: Int = f()\nfn f() -> Int { A }", "the constant `A` needs itself"),
        ("const A: R = R()\ntype R { x: Int = B }\nconst B: Int = f()\nfn f() -> Int { A.x }",
         "the constant `A` needs itself"),
        ("const A = Time.now()", "the constant `A` is computed when the program is built, and this uses `Time`"),
        ("const A = f()\nfn f() -> Int { g() }\nfn g() -> Int {\n    print(1)\n    2\n}",
         "the constant `A` is computed when the program is built, and this uses `Console`, in `f`"),
        ("const A = f()\nfn f() -> Int { const t = spawn g()\n 1 }\nfn g() { }",
         "the constant `A` is computed when the program is built, and this starts a task, in `f`"),
        ("const A = f()\nfn f() -> Int ! Error { 1 }", "`f` can fail with `Error`, and nothing handles that"),
        ("const A = try f()\nfn f() -> Int ! Error { 1 }", "`try` stands outside a function"),
        ("const A = return", "`return` stands outside a function"),
        ("const A: Error = AiError.Denied(\"x\")",
         "the constant `A` cannot be an `Error`: an `Error` exists only while the program runs"),
        ("const A: Int = \"a\"", "expected `Int`, but this is `String`"),
    ],
)  # fmt: skip
def test_constants_that_cannot_be(source: str, message: str) -> None:
    found = [line.split(" ", 1)[1] for line in errors_of(source)]
    assert found[0] == message
    assert len(found) == 1 or source == "const A = return"
