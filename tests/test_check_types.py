"""Types, literals, operators, and the two conversions (spec 2)."""

from __future__ import annotations

import pytest
from checking import error_of, errors_of, function_named, messages_in, program_of
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.types import FLOAT, INT


def value_of(expression: str, type_: str, before: str = "") -> typed.Expr:
    body = function_named(program_of(f"{before}\nfn f() -> {type_} {{ {expression} }}"), "f").body
    assert body is not None
    assert body.result is not None
    return body.result


@pytest.mark.parametrize(
    "expression", ["3", "-3", "--3", "1 + 2.5", "2.5 * 2", "-1 - x", "3 / 2", "if x > 1 { 1 } else { 2 }"]
)
def test_a_number_is_a_float_where_one_is_wanted(expression: str) -> None:
    assert value_of(f"const x = 1.5\n{expression}", "Float").type is FLOAT


def test_a_negated_literal_is_a_literal() -> None:
    smallest = value_of("-9223372036854775808", "Int")
    assert isinstance(smallest, typed.IntValue)
    assert smallest.value == -(2**63)
    zero = value_of("-0", "Float")
    assert isinstance(zero, typed.FloatValue)
    assert str(zero.value) == "-0.0"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("const n: Int = 2.5", "expected `Int`, but this is `Float`"),
        ("const n = 1\nconst x: Float = n", "expected `Float`, but this is `Int`"),
        ("const n = 1\nprint(n + 1.5)", "`+` does not work on `Int` and `Float`"),
        ("let x = 1.5\nx += 2", None),
        ("let n = 1\nn += 1.5", "`+=` does not work on `Int` and `Float`"),
        ('print("a" + 1)', "`+` does not work on `String` and `Int`"),
        ("print(1s * 1.5)", "`*` does not work on `Duration` and `Float`"),
        ("print(1 + 1s)", "`+` does not work on `Int` and `Duration`"),
        ("print(true < false)", "`<` does not work on `Bool` and `Bool`"),
        ("print(1 == 1s)", "`==` does not work on `Int` and `Duration`"),
        ("print(-true)", "`-` does not work on `Bool`"),
        ("print(!1)", "`!` does not work on `Int`"),
        ("print(~1.0)", "`~` does not work on `Float`"),
        ("print(1 && true)", "expected `Bool`, but this is `Int`"),
        ("if 1 { }", "expected `Bool`, but this is `Int`"),
        ("while 1 { }", "expected `Bool`, but this is `Int`"),
        ("print(1[0])", "an `Int` has no elements to take by index"),
        ('print([1]["a"])', "expected `Int`, but this is `String`"),
        ("const x: Int = print(1)", "expected `Int`, but this gives nothing"),
        ("const x: Int = if true { 1 }", "`if` without `else` gives nothing, and an `Int` is expected"),
        ('const x = if true { 1 } else { "a" }', "expected `String`, but this is `Int`"),
        ("const x = return", "this never gives a value: it leaves before it could"),
        ("print(return)", "this never gives a value: it leaves before it could"),
        ("const r = 0..3", "a range stands only in `for` and in patterns"),
        ("for x in 5 { }", "`for` cannot go over an `Int`"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said(statement: str, message: str | None) -> None:
    assert messages_in(statement) == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("1s + 2s - -3s", "Duration"),
        ("2 * 1s * 3 / 4", "Duration"),
        ("1h / 1m", "Int"),
        ("Time.now() - Time.now()", "Duration"),
        ("Time.now() + 1d - 1h", "Instant"),
        ('"a" + "b"', "String"),
        ("5.5 % 2", "Float"),
        ("6 & 3 | 1 ^ 2 << 3 >> 1", "Int"),
        ('"a" < "b" && 1s <= 2s && Time.now() >= Time.now() && 1.5 > 1', "Bool"),
        ("[[1], [2]] == [[1], [3]]", "Bool"),
        ("AiError.NoKey(variable: \"A\") != AiError.Denied(\"b\")", "Bool"),
    ],
)  # fmt: skip
def test_operators_that_there_are(expression: str, type_: str) -> None:
    value_of(expression, type_)


def test_what_is_shown_keeps_its_own_type() -> None:
    body = function_named(program_of("fn f(b: Bool) { print(if b { 1 } else { 2 }) }"), "f").body
    assert body is not None
    statement = body.statements[0]
    assert isinstance(statement, typed.ExpressionStatement)
    assert isinstance(statement.expression, typed.CallBuiltin)
    assert statement.expression.arguments[0].type is INT


def test_empty_arrays_need_a_type() -> None:
    assert messages_in("const xs = []") == ["nothing says what this empty array is to hold"]
    assert messages_in("const xs: [[Int]] = [[]]\nprint(xs == [])\nprint([1] == [])") == []
    assert errors_of("fn f(xs: [String]) -> [Int] {\n    return []\n}\nfn g() -> [Int] { f([]) }") == []


def test_bare_numbers_in_an_array_take_the_type_of_the_others() -> None:
    made = value_of("const x = 1.5\n[1, x, -2]", "[Float]")
    assert isinstance(made, typed.ArrayMake)
    assert [element.type for element in made.elements] == [FLOAT, FLOAT, FLOAT]
    assert messages_in("const n = 1\nprint([1.5, n])") == ["expected `Float`, but this is `Int`"]


TASKS_AND_AGENTS = """
    capability C { fn m() }
    type R: C { fn m(self) { } }
    type Holder { c: C }
    agent A { }
    fn f() -> Int { 1 }
"""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("print(spawn f() == spawn f())",
         "values of `Task<Int>` cannot be compared with `==`: a task is equal to nothing"),
        ("print(A.start() != A.start())", "values of `A` cannot be compared with `!=`: an agent is equal to nothing"),
        ("print(Holder(c: R()) == Holder(c: R()))",
         "values of `Holder` cannot be compared with `==`: it holds a capability, which is equal to nothing"),
        ("print([spawn f()])", "a `[Task<Int>]` cannot be shown: it holds a task, which has no text"),
        ('print("{A.start()}")', "an `A` cannot be shown: an agent has no text"),
        ('print("{Holder(c: R())}")', "a `Holder` cannot be shown: it holds a capability, which has no text"),
        ("print(R() == R())", None),
        ('print("{print(1)}")', None),
    ],
)  # fmt: skip
def test_what_has_no_text_and_no_equal(statement: str, message: str | None) -> None:
    assert messages_in(statement, TASKS_AND_AGENTS) == ([] if message is None else [message])


def test_errors_convert_to_error_and_implementations_to_capabilities() -> None:
    program = program_of(
        """
        capability C { fn m() }
        type R: C { fn m(self) { } }
        type S: C { fn m(self) { } }
        type Wrong { code: Int }
        fn pick(first: Bool) -> C { if first { R() } else { S() } }
        fn fails() ! Error { fail Wrong(code: 1) }
        fn both(cs: [C], e: Error) { }
        fn main() { both([R(), S()], AiError.Denied("x")) }
        """
    )
    fails = function_named(program, "fails").body
    assert fails is not None
    statement = fails.statements[0]
    assert isinstance(statement, typed.ExpressionStatement)
    assert isinstance(statement.expression, typed.Fail)
    assert isinstance(statement.expression.error, typed.ToError)
    pick = function_named(program, "pick").body
    assert pick is not None
    assert isinstance(pick.result, typed.If)
    assert isinstance(pick.result.then.result, typed.ToCapability)


def test_arrays_are_not_converted_as_a_whole() -> None:
    assert messages_in("const rs = [R()]\nconst cs: [C] = rs", TASKS_AND_AGENTS) == [
        "expected `[C]`, but this is `[R]`"
    ]
    found = error_of("capability C { }\ntype R { }\nfn f(c: C) { }\nfn main() { f(R()) }")
    assert found.help == "declare that it is one: `type R: C { … }`"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("type R { r: R }", "`R` has no end: a value of it would hold another `R`, and so on"),
        (
            "type A { b: B }\ntype B = C(a: A) | D(a: A)",
            "`A` has no end: a value of it would hold another `A`, and so on",
        ),
        ("type S = A(s: S) | B(s: S)", "`S` has no end: a value of it would hold another `S`, and so on"),
    ],
)
def test_types_that_hold_themselves_have_no_end(source: str, message: str) -> None:
    assert error_of(source).message == message


def test_types_may_hold_themselves_in_arrays() -> None:
    program_of("type R { rs: [R], s: [S] }\ntype S = A | B(r: R, s: [S])\nfn f(a: R, b: R) -> Bool { a == b }")


def test_task_takes_one_type() -> None:
    assert errors_of("fn f(t: Task, u: Task<Int, Int>, v: Int<Bool>) { }") == [
        "1:9 `Task` takes one type argument, but none is given",
        "1:18 `Task` takes one type argument, but 2 are given",
        "1:37 `Int` takes no type arguments, but 1 is given",
    ]


def test_records_and_variants_are_made_by_name_or_in_order() -> None:
    before = 'type P { x: Int, y: Int = 2, name: String = "p" }\ntype S = Empty | Full(p: P, n: Int)'
    assert (
        messages_in('P(1)\nP(1, 2, "a")\nP(x: 1, name: "b")\nP(1, name: "c")\nS.Empty\nS.Full(P(1), n: 2)', before)
        == []
    )
    assert messages_in(
        'P()\nP(1, 2, "a", 4)\nP(z: 1)\nP(x: 1, x: 2)\nP(x: 1, 2)\nP(x: "a")\n'
        "S.Full\nS.Full()\nS.Empty()\nS(1)\nS.Ful(1)",
        before,
    ) == [
        "`P` needs `x`",
        "`P` takes 3 fields, but 4 are given",
        "`P` has no field `z`",
        "`x` is given twice",
        "an argument without a name stands after one with a name",
        "expected `Int`, but this is `String`",
        "`S.Full` needs `p` and `n`",
        "`S.Full` needs `p` and `n`",
        "`S.Empty` has no fields",
        "`S` is a choice of variants: name one of them",
        "`S` has no variant `Ful`",
    ]


def test_defaults_fill_in_after_the_written_fields() -> None:
    made = value_of("P(y: 5)", "P", "type P { x: Int = 1 + 1, y: Int, z: [Int] = [] }")
    assert isinstance(made, typed.RecordMake)
    assert [index for index, _ in made.fields] == [1, 0, 2]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("type R { x: Int = f() }\nfn f() -> Int { 1 }",
         "the default of `R.x` is a plain value: literals, constants and what is made of them"),
        ("type S = A(x: Int = { 1 })",
         "the default of `S.A.x` is a plain value: literals, constants and what is made of them"),
        ('type R { x: Int = "a" }', "expected `Int`, but this is `String`"),
        ("type R { x: [R] = [R()] }", "the default of `x` has no end: it makes a `R`, which needs it again"),
    ],
)  # fmt: skip
def test_defaults_are_plain_values(source: str, message: str) -> None:
    assert error_of(source).message == message


def test_changed_copies() -> None:
    before = "type P { x: Int, y: Int = 2 }"
    assert messages_in("print(P(1) with { y: 3 } with { x: 2 })", before) == []
    assert messages_in(
        'P(1) with { z: 3 }\nP(1) with { x: "a" }\nP(1) with { x: 1, x: 2 }\n1 with { x: 1 }', before
    ) == [
        "`P` has no field `z`",
        "expected `Int`, but this is `String`",
        "`x` is given twice",
        "`with` makes a changed copy of a record, and this is `Int`",
    ]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("n = 2", "`n` cannot change: it is declared with `const`"),
        ("C = 2", "`C` cannot change: it is a constant"),
        ("for i in 0..2 {\n    i = 3\n}", "`i` cannot change: it is a loop's own name"),
        ("match n { m => { m = 3 } }", "`m` cannot change: it is bound by a pattern"),
        ("g(1) catch e => { e = AiError.Denied(\"a\") }", "`e` cannot change: it is the error that was caught"),
        ("[1].push(2)", "this is not something that can change"),
        ("C.push(2)", "`Int` has no method `push`"),
        ("ps[0].x += 1\nps[0].xs[n] = 3\nps.push(ps[0])\nps[0].xs.push(1)", None),
        ("ps[0].z = 1", "`P` has no field `z`"),
        ("ps[0].x = \"a\"", "expected `Int`, but this is `String`"),
    ],
)  # fmt: skip
def test_only_let_names_change(statement: str, message: str | None) -> None:
    before = "type P { x: Int, xs: [Int] = [] }\nconst C = 1\nfn g(p: Int) ! AiError { }"
    found = messages_in(f"const n = 1\nlet ps = [P(1)]\n{statement}", before)
    assert found == ([] if message is None else [message])


def test_a_parameter_cannot_change() -> None:
    found = error_of("fn f(n: Int) {\n    n = 2\n}")
    assert found.message == "`n` cannot change: it is a parameter"
    assert found.help == "copy it into a name of your own: `let changed = n`"
    assert error_of("fn f() {\n    const n = 1\n    n = 2\n}").help == "declare it with `let`: `let n = …`"


def test_ints_are_ints_where_nothing_else_is_wanted() -> None:
    assert value_of("1 + 2", "Int").type is INT


@pytest.mark.parametrize("expression", ["if true { ONE } else { OTHER }", "match 1 { 1 => ONE, _ => OTHER }"])
@pytest.mark.parametrize(
    ("settled", "open_"), [("[2.5]", "[]"), ("[2.5]", "[1]"), ("[[1]]", "[[]]"), ('["a": 1]', "[:]")]
)
def test_the_order_of_branches_does_not_matter(expression: str, settled: str, open_: str) -> None:
    left = expression.replace("ONE", "{ const _x: Int = (fail Wrong())\n[] }").replace("OTHER", settled)
    for one, other in ((settled, open_), (open_, settled)):
        whole = expression.replace("ONE", one).replace("OTHER", other)
        assert not errors_of(f"fn f() {{ const x = {whole}\nprint(x) }}")
    if settled.startswith("[") and ":" not in settled:
        assert not errors_of(f"type Wrong {{ }}\nfn f() ! Wrong {{ const x = {left}\nprint(x) }}")


@pytest.mark.parametrize("expression", ["if true { [] } else { [] }", "match 1 { 1 => none, _ => none }", "[[], []]"])
def test_branches_that_all_say_nothing_are_an_error(expression: str) -> None:
    assert errors_of(f"fn f() {{ const x = {expression}\nprint(x) }}")
