"""Expressions: precedence, calls with type arguments, literals, text."""

from __future__ import annotations

import pytest
from kavachc.syntax import ast
from syntax_text import body, expression, grouped, messages, module, read, write


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 * 2 + 3", "((1 * 2) + 3)"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("a || b && c", "(a || (b && c))"),
        ("a && b == c", "(a && (b == c))"),
        ("a == b | c", "(a == (b | c))"),
        ("a | b ^ c & d << e + f", "(a | (b ^ (c & (d << (e + f)))))"),
        ("a + b << c & d ^ e | f", "(((((a + b) << c) & d) ^ e) | f)"),
        ("a >> b >> c", "((a >> b) >> c)"),
        ("0..n + 1", "(0..(n + 1))"),
        ("0..=a || b", "(0..=(a || b))"),
        ("-a * b", "((-a) * b)"),
        ("a - -b", "(a - (-b))"),
        ("a--b", "(a - (-b))"),
        ("!a.b(c)[d]", "(!a.b(c)[d])"),
        ("~a & b", "((~a) & b)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("try f() + 1", "((try f()) + 1)"),
        ("try a.wait()", "(try a.wait())"),
        ("(try f()).ok", "(try f()).ok"),
        ("!try f()", "(!(try f()))"),
        ("spawn w.write(1)", "(spawn w.write(1))"),
        ("a with { b: 1 }.c", "(a with { b: 1 }).c"),
        ("try f() with { b: 1, c: 2 }", "(try (f() with { b: 1, c: 2 }))"),
        ("f() catch e => g() catch h => 1", "(f() catch e => (g() catch h => 1))"),
        ("a + f() catch _ => 1", "((a + f()) catch _ => 1)"),
        ("return f() catch _ => return 2", "(return (f() catch _ => (return 2)))"),
        ("fail Denied(reason: a + b)", "(fail Denied(reason: (a + b)))"),
        ("f() catch _ => continue", "(f() catch _ => (continue))"),
        ("f() catch _ => break", "(f() catch _ => (break))"),
        ("[1, [2], ]", "[1, [2]]"),
        ("f(a, name: b, )", "f(a, name: b)"),
        ("if a { b } else { c } + 1", "(if a { b\n} else { c\n} + 1)"),
        ("if f() catch _ => false { a }", "if (f() catch _ => false) { a\n}"),
        ("match -1 { -1 => a, _ => b }", "match (-1) { -1 => a, _ => b }"),
    ],
)
def test_precedence_and_grouping(text: str, meaning: str) -> None:
    assert grouped(text) == meaning


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ('ask<Yes>("a")', 'ask<Yes>("a")'),
        ('(try ask<Yes>("a")).ok', '(try ask<Yes>("a")).ok'),
        ("f<[Int]>(1)", "f<[Int]>(1)"),
        ("f<A<B<C>>, ()>(1)", "f<A<B<C>>, ()>(1)"),
        ("a.f<T>(x)", "a.f<T>(x)"),
        ("a<b", "(a < b)"),
        ("a < b", "(a < b)"),
        ("f(a<b, c>d)", "f((a < b), (c > d))"),
        ("f(a < b, c > (d))", "f((a < b), (c > d))"),
        ("a<b && c>d", "((a < b) && (c > d))"),
        ("f(a<b, c>=d)", "f((a < b), (c >= d))"),
        ("f(a<b, c>-d)", "f((a < b), (c > (-d)))"),
        ("a<<b>>c", "((a << b) >> c)"),
        ("i<n - 1", "(i < (n - 1))"),
    ],
)
def test_type_arguments_and_comparisons(text: str, meaning: str) -> None:
    assert grouped(text) == meaning


def test_type_argument_brackets_do_not_swallow_a_line_break() -> None:
    (record,) = module("type R {\n  a: Task<Int>\n  b: Task<Task<Int>>\n}").declarations
    assert isinstance(record, ast.RecordDeclaration)
    assert [write(field.type) for field in record.fields] == ["Task<Int>", "Task<Task<Int>>"]


@pytest.mark.parametrize("operator", ["==", "<", ">="])
def test_comparisons_do_not_chain(operator: str) -> None:
    _, (found,) = read(f"fn f() {{ a < b {operator} c }}")
    assert (found.code, found.message) == ("K0117", "comparisons cannot be chained")
    assert found.span is not None and found.span.text == operator
    assert found.help == "compare twice: `a < b && b < c`"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10_000", 10_000),
        ("0xff", 255),
        ("0b1010", 10),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("- 9_223_372_036_854_775_808", -(2**63)),
        ("-0x8000000000000000", -(2**63)),
    ],
)
def test_int_literals(text: str, value: int) -> None:
    node = expression(text)
    assert isinstance(node, ast.IntLiteral)
    assert node.value == value


@pytest.mark.parametrize(
    ("text", "value"), [("1.5", 1.5), ("2.5e-3", 0.0025), ("1_0.2_5", 10.25), ("1e3", 1000.0), ("1E+2", 100.0)]
)
def test_float_literals(text: str, value: float) -> None:
    node = expression(text)
    assert isinstance(node, ast.FloatLiteral)
    assert node.value == value


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("3_000_000ns", 3),
        ("5_000us", 5),
        ("100ms", 100),
        ("5s", 5_000),
        ("2m", 120_000),
        ("1h", 3_600_000),
        ("7d", 604_800_000),
        ("1_000s", 1_000_000),
        ("3_000_000ns", 3),
        ("5_000us", 5),
    ],
)
def test_duration_literals(text: str, milliseconds: int) -> None:
    node = expression(text)
    assert isinstance(node, ast.DurationLiteral)
    assert node.value_ns == milliseconds * 1_000_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9223372036854775808", "`9223372036854775808` is too large for Int"),
        ("-(9223372036854775808)", "`9223372036854775808` is too large for Int"),
        ("-9223372036854775808.abs()", "`9223372036854775808` is too large for Int"),
        ("1 - 9223372036854775808", "`9223372036854775808` is too large for Int"),
        ("--9223372036854775808", None),
        ("-9223372036854775809", "`9223372036854775809` is too large for Int"),
        ("9" * 9_999, f"`{'9' * 20}…{'9' * 16}` is too large for Int"),
        ("1e999", "`1e999` is too large for Float"),
        ("106752d", "the duration `106752d` is too long"),
        ("1_", "`1_` is not a number"),
        ("1__0", "`1__0` is not a number"),
        ("0xg", "`0xg` is not a number"),
        ("0b12", "`0b12` is not a number"),
        ("0o17", "`0o17` is not a number"),
        ("5x", "`5x` is not a number"),
        ("1.5s", "`1.5s` is not a number"),
        ("1.5.5", "`1.5.5` is not a number"),
    ],
)
def test_numbers_out_of_range_or_badly_written(text: str, message: str | None) -> None:
    assert messages(f"fn f() {{ {text} }}") == ([message] if message else [])


def test_a_range_of_ints_is_not_a_float() -> None:
    assert grouped("0..10") == "(0..10)"
    assert grouped("1.abs()") == "1.abs()"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"plain"', "plain"),
        (r'"\n\t\r\0\\\"\{\}"', '\n\t\r\0\\"{}'),
        (r'"\u{1F600}\u{e9}"', "😀é"),
        ('"é 日本 // no comment"', "é 日本 // no comment"),
        ('""', ""),
        ('""""""', ""),
        ('"""a "quoted" word"""', 'a "quoted" word'),
        ('"""\n    one\n      two\n\n    three\n    """', "one\n  two\n\nthree"),
        ('"""\n    one\n  """', "one"),
        ('"""\n"""', ""),
        ('"""\n\n"""', ""),
        ('"""\n\t\ta\n\t b\n"""', "\ta\n b"),
        ('"""\n  a\\nb\n    \\tc\n  """', "a\nb\n  \tc"),
        ('"""one\n  two"""', "one\ntwo"),
    ],
)
def test_text_literals(text: str, value: str) -> None:
    node = expression(text)
    assert isinstance(node, ast.StringLiteral)
    assert "".join(str(part) for part in node.parts) == value
    assert node.span.text == text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('"a {b} c"', ["a ", "b", " c"]),
        ('"{a}{b}"', ["a", "b"]),
        ('"x {f("y {z} \\"")} w"', ["x ", 'f("y {z} "")', " w"]),
        ('"{if a { "1" } else { "2" }}"', ['if a { "1"\n} else { "2"\n}']),
        ('"{\n a +\n b\n}"', ["(a + b)"]),
        ('"{a\n.b}"', ["a.b"]),
        ('"""\n  {a}\n    {b} c\n  """', ["a", "\n  ", "b", " c"]),
        ('"""\n  {a}\n"""', ["a"]),
        ('"""{a}\n  b"""', ["a", "\nb"]),
        ('"""\n  x {"""\n q\n"""} y\n  """', ["x ", '"q"', " y"]),
    ],
)
def test_expressions_in_text(text: str, parts: list[str]) -> None:
    node = expression(text)
    assert isinstance(node, ast.StringLiteral)
    assert [part if isinstance(part, str) else write(part) for part in node.parts] == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r'"\q"', r"`\q` is not an escape"),
        (r'"\u{110000}"', r"`\u{110000}` is not an escape"),
        (r'"\u{D800}"', r"`\u{D800}` is not an escape"),
        (r'"\u{}"', r"`\u{}` is not an escape"),
        (r'"\u12"', r"`\u` is not an escape"),
        ('"}"', "a `}` in text needs a backslash"),
        ('"abc', 'this text is never closed: the closing `"` is missing'),
        ('"""abc', 'this text is never closed: the closing `"""` is missing'),
        ('"{}"', "expected an expression, found `}`"),
        ('"{a b}"', "expected `}`, found `b`"),
    ],
)
def test_mistakes_in_text(text: str, message: str) -> None:
    assert messages(f"fn f() {{\n{text}\n}}") == [message]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("AiError.Denied(r)", "AiError.Denied(r)"),
        ("AiError.Denied", "AiError.Denied"),
        ("Point(x: 0, y: _, )", "Point(x: 0, y: _)"),
        ("A() | B | 3", "A() | B | 3"),
        ("1..5", "1..5"),
        ("-5..=-1", "-5..=-1"),
        ("1s..2s", "1000000000ns..2000000000ns"),
        ('"a"', '"a"'),
        ("-1.5", "-1.5"),
        ("true", "true"),
        ("-9223372036854775808", str(-(2**63))),
        ("x if x > 3", "x if (x > 3)"),
    ],
)
def test_patterns(text: str, meaning: str) -> None:
    assert grouped(f"match v {{ {text} => 1 }}") == f"match v {{ {meaning} => 1 }}"


def test_arms_end_with_a_comma_or_a_line() -> None:
    text = "match v {\n 1 => a,\n 2 => { b }\n 3 |\n 4 => c\n | 5 => fail d,\n}"
    (statement,) = body("match v {\n 1 => a,\n 2 => { b }\n 3 |\n 4 => c\n _ => fail d,\n}")
    assert isinstance(statement, ast.ExpressionStatement) and isinstance(statement.expression, ast.Match)
    assert [write(arm) for arm in statement.expression.arms] == [
        "1 => a", "2 => { b\n}", "3 | 4 => c", "_ => (fail d)",
    ]  # fmt: skip
    assert messages(f"fn f() {{\n{text}\n}}") != []
