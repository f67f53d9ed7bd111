"""What a syntax error says, where it points, and that one mistake gives one message."""

from __future__ import annotations

import pytest
from kavachc.syntax import ast
from syntax_text import messages, module, read


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn f() { const x }", "expected `:` or `=`, found `}`"),
        ("fn f() { g(1 2) }", "expected `)` or `,`, found `2`"),
        ("fn f() { x = = 2 }", "expected an expression, found `=`"),
        ("fn f() { 1 + }", "expected an expression, found `}`"),
        ("fn f() { a b }", "expected a new line or `}`, found `b`"),
        ("fn f() { x. }", "expected a name, found `}`"),
        ("fn f() { if a = b { } }", "expected `{`, found `=`"),
        ("fn f() { match x { 1 -> 2 } }", "expected `=>`, found `->`"),
        ("fn f() { match x { + } }", "expected a pattern or `}`, found `+`"),
        ("fn f() {\n    else { }\n}", "expected a statement or `}`, found `else`"),
        ("fn f() { if return { } }", "expected an expression, found `return`"),
        ("fn f(\n{ }", "expected a parameter or `)`, found `{`"),
        ("fn f() -> { }", "expected a type, found `{`"),
        ("fn f() - { }", "expected `!`, `->`, `uses` or `{`, found `-`"),
        ("fn f()\n{ }", "expected `!`, `->`, `uses` or `{`, found the end of the line"),
        ("fn f(a Int) { }", "expected `:`, found `Int`"),
        ("type T { a Int }", "expected `:`, found `Int`"),
        ("type T { = }", "expected a field or a method or `}`, found `=`"),
        ("type S = A | | B", "expected a name, found `|`"),
        ("agent A { foo }", "expected `model`, `settings`, `can`, `limit`, `on` or `}`, found `foo`"),
        ("capability C { x }", "expected `fn` or `}`, found `x`"),
        ("5", "expected `fn`, `type`, `capability`, `agent`, `const` or the end of the file, found `5`"),
        ("fn f() { } }", "`}` closes nothing: no `{` is open"),
        ("fn f() { ) }", "`)` does not close the `{` that is open"),
        ("fn f() { g(a] }", "`]` does not close the `(` that is open"),
        ("fn f() { let type = 5 }", "`type` is a keyword and cannot be a name"),
        ("fn match() { }", "`match` is a keyword and cannot be a name"),
        ("fn f(a: Int, self) { }", "`self` can only be the first parameter"),
        ("fn f() { const x = 5; g(x); }", "Kavach has no semicolons"),
        ("fn f() { var x = 5 }", "`var` is not part of Kavach"),
        ("func f() { }", "`func` is not part of Kavach"),
        ("fn f() { a and b }", "`and` is not part of Kavach"),
        ("fn f() { a ** b }", "`**` is not part of Kavach"),
        ("fn f() { 'a' }", "the character `'` (U+0027) has no meaning here"),
        ("fn f() { na\u00efve }", "the character `\u00ef` (U+00EF) has no meaning here"),
        ("fn f() { g(\u201ca\u201d) }", "the character `\u201c` (U+201C) has no meaning here"),
        ("fn f() { a\u00a0}", "the character U+00A0 has no meaning here"),
        ("fn f() { \0 }", "the control character U+0000 cannot stand in a program"),
        ('fn f() { "\x1b[2J" }', "the control character U+001B cannot stand in a program"),
        ("// \u202e\nfn f() { }", "the control character U+202E cannot stand in a program"),
        ("fn f() { }\r", "the control character U+000D cannot stand in a program"),
    ],
)
def test_one_mistake_one_message_in_the_readers_words(text: str, message: str) -> None:
    assert messages(text) == [message]


def test_every_broken_declaration_is_reported_and_the_others_are_kept() -> None:
    text = """\
fn a() { }
fn b() { 1 + }
/// kept
type C { x: Int }
fn d( { g(; ] "unclosed
agent E { can Ai }
fn f() { x y }
fn g() { }
"""
    tree, found = read(text)
    assert [item.span.place() for item in found if item.span] == ["test.kav:2:14", "test.kav:5:7", "test.kav:7:12"]
    kept = [d.signature.name.text if isinstance(d, ast.Function) else d.name.text for d in tree.declarations]
    assert kept == ["a", "C", "E", "g"]
    assert isinstance(tree.declarations[1], ast.RecordDeclaration)
    assert tree.declarations[1].documentation == "kept"


def test_an_unclosed_bracket_is_shown_where_it_was_opened() -> None:
    tree, (first, second) = read("fn a() {\n    if b {\n        c()\n\nfn d() { }\nfn e() {\n    f(1,\n")
    assert first.message == "expected `}` to close `{`, found `fn`"
    assert [(label.text, label.span.place()) for label in first.labels] == [
        ("this `{` is never closed", "test.kav:2:10")
    ]
    assert second.message == "expected `)` to close `(`, found the end of the file"
    assert [label.span.place() for label in second.labels] == ["test.kav:7:6"]
    assert len(tree.declarations) == 1


def test_a_bracket_that_joined_the_lines_is_shown() -> None:
    _, (found,) = read("fn a() {\n    f(1, g(2)\n    h()\n}\n")
    assert found.message == "expected `)` or `,`, found `h`"
    assert [(label.text, label.span.place()) for label in found.labels] == [("this `(` is open", "test.kav:2:6")]


def test_escaped_quotes_inside_an_expression_in_text_are_explained() -> None:
    _, (found,) = read('fn a() { f("json {\\"a\\": 1}") }')
    assert found.help == r"inside `{ }`, quotes need no backslash; for a `{` of the text itself write `\{`"


def test_a_complete_declaration_before_the_mistake_is_kept() -> None:
    tree, found = read("fn a() { } fn b() { }\nfn c() { }")
    assert [item.message for item in found] == ["expected a new line or the end of the file, found `fn`"]
    assert [d.signature.name.text for d in tree.declarations if isinstance(d, ast.Function)] == ["a", "c"]


def test_semicolons_are_reported_once_and_end_statements() -> None:
    tree, found = read("fn a() {\n    b();\n    c(); d();\n}\n")
    assert len(found) == 1
    (function,) = tree.declarations
    assert isinstance(function, ast.Function)
    assert len(function.body.statements) == 3


def test_several_control_characters_are_one_message() -> None:
    _, (found,) = read("fn a() { \0 \x01\n \x02 }")
    assert found.notes == ("2 more of such characters follow in this file",)


def test_mistakes_come_in_the_order_of_the_text() -> None:
    found = messages("fn a() { 9223372036854775808 }\nfn b() { + }\n")
    assert found == ["`9223372036854775808` is too large for Int", "expected a statement or `}`, found `+`"]


@pytest.mark.parametrize(
    "text",
    [
        "fn f() { " + "(" * 5_000 + ")" * 5_000 + " }",
        "fn f() " + "{" * 5_000 + "}" * 5_000,
        "fn f() { " + '"{' * 5_000 + "1" + '}"' * 5_000 + " }",
        "fn f() { " + "[" * 100_000,
        "fn f(x: " + "A<" * 5_000 + "B" + ">" * 5_000 + ") { }",
        "fn f() { " + "-" * 5_000 + "1 }",
        "fn f() { " + "try " * 5_000 + "a() }",
        "fn f() { " + "if a { " * 5_000 + "} " * 5_001,
    ],
)
def test_deep_nesting_is_refused_and_no_crash(text: str) -> None:
    assert messages(text) == ["nested deeper than 256 levels"]


def test_nesting_up_to_the_limit_is_read() -> None:
    module("fn f() { " + "(" * 255 + "1" + ")" * 255 + " }")
    module("fn f() { " + '"{' * 255 + "1" + '}"' * 255 + " }")


@pytest.mark.parametrize(
    "text",
    [
        "a" + " + a" * 10_000,
        "if a { }" + " else if a { }" * 10_000,
        "a" + ".b()" * 10_000,
        "a catch e => " * 10_000 + "b",
        "match a { " + "1 => 2, " * 10_000 + "}",
        "match a { " + "1 | " * 10_000 + "2 => 3 }",
        "f(" + "a, " * 10_000 + ")",
        "a\n" * 10_000,
    ],
)
def test_long_chains_are_not_deep(text: str) -> None:
    tree, found = read(f"fn f() {{ {text} }}")
    assert found == []
    assert len(tree.declarations) == 1


@pytest.mark.parametrize(
    "text",
    ["a<" * 20_000, "a<" * 3_000 + "b" + ">" * 3_000 + " x", "/// a\n" * 50_000 + "x\nfn f() { }", "a b\n" * 5_000],
)
def test_hostile_text_costs_no_square(text: str) -> None:
    assert 1 <= len(messages(f"fn f() {{ {text} }}")) <= 3


def test_optionals_nest_256_deep() -> None:
    assert not read("fn f(x: Int" + "?" * 256 + ") { }")[1]
    assert [item.code for item in read("fn f(x: Int" + "?" * 5000 + ") { }")[1]] == ["K0116"]
