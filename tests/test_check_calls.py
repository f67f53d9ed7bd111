"""Calls and their arguments, errors and how they are handled, results and loops (spec 3, 4)."""

from __future__ import annotations

import pytest
from checking import error_of, errors_of, function_named, messages_in, program_of
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.types import NEVER, NOTHING

BEFORE = """
    type E = No | Denied(reason: String)
    type R { x: Int
        fn m(self, by: Int) -> Int { self.x + by }
    }
    fn f(a: Int, b: Int) -> Int { a + b }
    fn fails() -> Int ! E { fail E.No }
    fn plain() -> Int { 1 }
"""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("f(1)", "`f` needs `b`"),
        ("f()", "`f` needs `a` and `b`"),
        ("f(1, 2, 3)", "`f` takes 2 arguments, but 3 are given"),
        ("plain(1)", "`plain` takes no arguments, but 1 is given"),
        ("f(1, c: 2)", "`f` has no parameter `c`"),
        ("f(1, a: 2)", "`a` is given twice"),
        ("f(a: 1, 2)", "an argument without a name stands after one with a name"),
        ('f(1, "a")', "expected `Int`, but this is `String`"),
        ("f<Int>(1, 2)", "`f` takes no type arguments, but 1 is given"),
        ("R.m(1)", "`m` is called on a value of `R`, not on the type"),
        ("R(x: 1).m", "`m` is a method of `R`, not a field"),
        ("R(x: 1).x()", "`x` is a field of `R`, and cannot be called"),
        ("R(x: 1).n()", "`R` has no method `n`"),
        ("Time.sleeep(1s)", "`Time` has no method `sleeep`"),
        ("(1)(2)", "an `Int` cannot be called"),
        ("const g = 1\ng(2)", "an `Int` cannot be called"),
        ("f(b: 1, a: 2)\nR(x: 1).m(by: 2)\nTime.sleep(duration: 1s)", None),
    ],
)
def test_arguments(statement: str, message: str | None) -> None:
    assert messages_in(statement, BEFORE) == ([] if message is None else [message])


def test_named_arguments_are_evaluated_as_written() -> None:
    program = program_of(BEFORE + "fn g() -> Int { R(x: plain()).m(by: f(b: plain(), a: 2)) }")
    outer = function_named(program, "g").body
    assert outer is not None
    assert isinstance(outer.result, typed.CallFunction)
    block = outer.result.arguments[1]
    assert isinstance(block, typed.Block)
    bound = [statement.local for statement in block.statements if isinstance(statement, typed.Declare)]
    assert [local.name for local in bound] == ["b", "a"]
    assert isinstance(block.result, typed.CallFunction)
    assert [argument.local for argument in block.result.arguments if isinstance(argument, typed.LocalGet)] == [
        bound[1],
        bound[0],
    ]


def test_a_fallible_call_stays_inside_its_try_when_arguments_are_out_of_order() -> None:
    program = program_of("fn f(a: Int, b: Int) -> Int ! Error { a }\nfn g() -> Int ! Error { try f(b: 1, a: 2) }")
    body = function_named(program, "g").body
    assert body is not None
    assert isinstance(body.result, typed.Block)
    assert isinstance(body.result.result, typed.Try)
    assert isinstance(body.result.result.operand, typed.CallFunction)


@pytest.mark.parametrize(
    ("source", "message", "help_text"),
    [
        ("fn g() ! Error { fails() }", "`fails` can fail with `E`, and nothing handles that",
         "write `try fails()` or `fails() catch e => …`"),
        ("fn g(n: Int) -> Int { try fails() }", "`try` leaves `g` with an error, but `g` cannot fail",
         "write `fn g(n: Int) -> Int ! E`, or handle the error with `catch`"),
        ("fn g() { fail E.No }", "`fail` leaves `g` with an error, but `g` cannot fail", "write `fn g() ! E`"),
        ("agent A {\n    on g() { fail E.No }\n}", "`fail` leaves `g` with an error, but `g` cannot fail",
         "write `on g() ! E`"),
        ("fn g() ! AiError { try fails() }", "`E` is not the error that `g` fails with, `AiError`",
         "handle it with `catch`, and `fail` with the function's own error"),
        ("fn g() ! AiError { fail E.No }", "`E` is not the error that `g` fails with, `AiError`", None),
        ("fn g() ! E { fail 1 }", "`Int` cannot be an error type",
         "an error type is a `type` of your own, or `Error`"),
        ("fn g() ! Error { try plain() }", "`try` is for a call that can fail, and `plain` cannot",
         "leave `try` out"),
        ("fn g() { plain() catch e => 1 }", "`catch` is for a call that can fail, and `plain` cannot",
         "leave `catch` out"),
        ("fn g() ! Error { try 1 }", "`try` is for a call that can fail, and this is not a call",
         "write `try` on the call itself"),
        ("fn g() -> Int { 1 + fails() catch e => 2 }", None, None),
        ('fn g() { const n = fails() catch e => "a" }', "expected `Int`, but this is `String`", None),
        ("fn g() ! Int { }", "`Int` cannot be an error type", "an error type is a `type` of your own, or `Error`"),
        ("type T { t: Task<Int> }\nfn g() ! T { }", "`T` cannot be an error type",
         "it holds a task, which has no text"),
        ("type T { t: Task<Int> }\nfn g(t: T) ! Error { fail t }", "`T` cannot be an error type",
         "it holds a task, which has no text"),
    ],
)  # fmt: skip
def test_errors_are_handled(source: str, message: str | None, help_text: str | None) -> None:
    if message is None:
        assert len(errors_of(BEFORE + source)) == 2
        return
    found = error_of(BEFORE + source)
    assert (found.message, found.help) == (message, help_text)


def test_errors_that_fit() -> None:
    program = program_of(
        BEFORE
        + """
    fn same() -> Int ! E { try fails() }
    fn wider() -> Int ! Error { try fails() }
    fn caught() -> Int { fails() catch e => match e { E.No => 1, E.Denied(_) => 2 } }
    fn dropped() { fails() catch e => print(e) }
    fn leaves() -> Int { const n = fails() catch _ => { return 3 }
        n }
"""
    )
    wider = function_named(program, "wider").body
    assert wider is not None
    assert isinstance(wider.result, typed.Try)
    assert wider.result.converts
    dropped = function_named(program, "dropped").body
    assert dropped is not None
    statement = dropped.statements[0]
    assert isinstance(statement, typed.ExpressionStatement)
    assert isinstance(statement.expression, typed.Catch)
    assert statement.expression.type is NOTHING


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("fn g() -> Int { for i in 0..3 { return i } }", "`g` gives an `Int`, but can end without one"),
        ("fn g() -> Int { }", "`g` gives an `Int`, but can end without one"),
        ("fn g() -> Int { while true { break } }", "`g` gives an `Int`, but can end without one"),
        ("fn g() -> Int { if true { 1 } }", "`if` without `else` gives nothing, and an `Int` is expected"),
        ("fn g() -> Int { if true { } else { 1 } }", "expected `Int`, but this gives nothing"),
        ("fn g() -> Int { if true { 1 } else { } }", "expected `Int`, but this gives nothing"),
        ("fn g(n: Int) -> Int { match n { 0 => { }, _ => 1 } }", "expected `Int`, but this gives nothing"),
        ("fn g() -> Int { return }", "`g` gives an `Int`: `return` needs a value"),
        ("fn g() { return 1 }", "`g` gives nothing, so `return` takes no value"),
        ('fn g() -> Int { "a" }', "expected `Int`, but this is `String`"),
        ("fn g() -> Int { print(1) }", "expected `Int`, but this gives nothing"),
        ("fn g() { break }", "`break` stands outside a loop"),
        ("fn g() { if true { continue } }", "`continue` stands outside a loop"),
        ("fn g() -> Int { while true { } }", None),
        ("fn g() -> Int { while true { while true { break } } }", None),
        ("fn g() -> Int ! E { fail E.No }", None),
        ("fn g() -> Int { if true { return 1 } else { return 2 } }", None),
        ("fn g() -> Int {\n    return 1\n    print(2)\n}", None),
        ("fn g(n: Int) -> Int { match n { 0 => { return 1 }, _ => 2 } }", None),
        ("fn g() { if true { 1 } else { \"a\" } }", None),
        ("fn g(n: Int) { match n { 0 => 1, _ => print(2) } }", None),
        ("fn g() { plain() }", None),
        ("fn g() -> () { return print(1) }", None),
    ],
)  # fmt: skip
def test_results(source: str, message: str | None) -> None:
    assert [line.split(" ", 1)[1] for line in errors_of(BEFORE + source)] == ([] if message is None else [message])


def test_a_block_that_never_ends_has_no_result() -> None:
    body = function_named(program_of("fn g() -> Int {\n    return 1\n    2\n}"), "g").body
    assert body is not None
    assert (body.type, body.result) == (NEVER, None)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("spawn 1", "`spawn` starts a call of a function or a method, and this is none"),
        ("spawn R(x: 1)", "`spawn` starts a call of a function or a method, and this is none"),
        ("let xs = [1]\nspawn xs.push(2)", "`push` changes a value in place, so it cannot be spawned"),
        ("const t = spawn f(b: 1, a: 2)\nprint(try t.wait())", None),
        ("const t = spawn fails()\nprint(try t.wait())\nt.cancel()", None),
        ("const t = spawn ask<Int>(\"a\")\nconst u: Task<Int> = t", None),
        ("const t: Task<Task<Int>> = spawn g()", None),
        ("const t = spawn print(1)\ntry t.wait()", None),
    ],
)  # fmt: skip
def test_spawn(statement: str, message: str | None) -> None:
    before = BEFORE + "    fn g() -> Task<Int> { spawn plain() }"
    assert messages_in(statement, before) == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ('try ask("a")', "nothing says what `ask` is to give"),
        ("try ask<Int>(1)", "expected `String`, but this is `Int`"),
        ('try ask<Int, Int>("a")', "`ask` takes one type argument, but 2 are given"),
        ('try ask<Duration>("a")',
         "`ask` cannot give a `Duration`: a `Duration` is not something that a model can write"),
        ('try ask<[T]>("a")',
         "`ask` cannot give a `[T]`: it holds a task, which is not something that a model can write"),
        ('try ask<()>("a")', "`ask` cannot give a `()`: nothing, `()` is not something that a model can write"),
        ('print(try ask<[R]>("a"))\nprint(try ask<String>("a"))\nprint(try ask<E>("a"))', None),
    ],
)  # fmt: skip
def test_ask(statement: str, message: str | None) -> None:
    before = BEFORE + "    type T { a: [Task<Int>] }"
    assert messages_in(statement, before) == ([] if message is None else [message])
