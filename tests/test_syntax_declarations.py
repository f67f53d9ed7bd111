"""Declarations and statements: what they hold, line breaks, documentation, words that are keywords in places."""

from __future__ import annotations

import pytest
from kavachc.syntax import ast
from syntax_text import body, messages, module, write

REFERENCE = """
type PayError = Declined | Denied(reason: String)

capability Payments {
    fn refund(order: Int, amount: Int) ! PayError
}

type Bank: Payments {
    fn refund(self, order: Int, amount: Int) ! PayError {
        print("refunded {amount} on order {order}")
    }
}

agent Refunder {
    model Model(name: "claude-haiku-5-5", max_tokens: 30)
    settings AgentSettings(asks_under_way: UnderWay.Average)
    can Payments.refund, Ai

    limit Payments.refund {
        amount <= 500
        sum(amount) <= 700 per day, count <= 3 per 10m
    }

    on refund(order: Int, amount: Int) -> Bool ! PayError uses Payments.refund {
        try Payments.refund(order, amount)
        true
    }
}

const LIMIT: Int = 5
"""


def test_every_declaration_of_the_reference_page() -> None:
    error, payments, bank, refunder, limit = module(REFERENCE).declarations
    assert isinstance(error, ast.SumDeclaration)
    assert [variant.name.text for variant in error.variants] == ["Declined", "Denied"]
    assert [(field.name.text, write(field.type)) for field in error.variants[1].fields] == [("reason", "String")]
    assert isinstance(payments, ast.CapabilityDeclaration)
    (refund,) = payments.methods
    assert refund.span.text == "fn refund(order: Int, amount: Int) ! PayError"
    assert (refund.takes_self, refund.result, refund.uses) == (False, None, None)
    assert isinstance(bank, ast.RecordDeclaration)
    assert [capability.text for capability in bank.capabilities] == ["Payments"]
    assert bank.methods[0].signature.takes_self
    assert [parameter.name.text for parameter in bank.methods[0].signature.parameters] == ["order", "amount"]
    assert isinstance(limit, ast.ConstDeclaration)
    assert limit.span.text == "const LIMIT: Int = 5"
    assert isinstance(refunder, ast.AgentDeclaration)
    assert refunder.span.text == REFERENCE[REFERENCE.index("agent") : REFERENCE.index("\n\nconst")]


def test_an_agent_holds_its_settings_limits_and_handlers() -> None:
    agent = module(REFERENCE).declarations[3]
    assert isinstance(agent, ast.AgentDeclaration)
    assert [setting.kind for setting in agent.settings] == ["model", "settings"]
    assert [reference.span.text for reference in agent.can] == ["Payments.refund", "Ai"]
    (limit,) = agent.limits
    assert limit.target.span.text == "Payments.refund"
    assert [rule.span.text for rule in limit.rules] == [
        "amount <= 500", "sum(amount) <= 700 per day", "count <= 3 per 10m",
    ]  # fmt: skip
    assert [write(rule.condition) for rule in limit.rules] == [
        "(amount <= 500)", "(sum(amount) <= 700)", "(count <= 3)",
    ]  # fmt: skip
    windows = [rule.window for rule in limit.rules]
    assert windows[0] is None
    assert windows[1] is not None and isinstance(windows[1].length, ast.Identifier)
    assert windows[2] is not None and isinstance(windows[2].length, ast.DurationLiteral)
    (handler,) = agent.handlers
    signature = handler.signature
    assert (signature.name.text, signature.takes_self) == ("refund", False)
    assert signature.result is not None and write(signature.result) == "Bool"
    assert signature.error is not None and write(signature.error) == "PayError"
    assert signature.uses is not None and signature.uses[0].span.text == "Payments.refund"


@pytest.mark.parametrize(
    "text",
    [
        "type S = A | B(x: Int, y: Int,) | C",
        "type S =\n    A |\n    B(x: Int, y: Int) |\n    C",
        "type S =\n    | A\n    | B(\n        x: Int,\n        y: Int,\n    )\n    | C",
        "type S = A | B(x: Int, y: Int)\n\n// between\n    | C { fn m(self) { } }",
    ],
)
def test_variants_over_one_line_or_several(text: str) -> None:
    (declaration,) = module(text).declarations
    assert isinstance(declaration, ast.SumDeclaration)
    assert [variant.name.text for variant in declaration.variants] == ["A", "B", "C"]
    assert len(declaration.variants[1].fields) == 2
    assert len(declaration.methods) == text.count("fn")


@pytest.mark.parametrize("separator", [", ", "\n", ",\n", "\n\n// note\n"])
def test_fields_are_separated_by_a_comma_or_a_line(separator: str) -> None:
    (record,) = module(
        f"type R {{ a: Int = 1{separator}b: [String]{separator}fn m(self) -> Int {{ 1 }} }}"
    ).declarations
    assert isinstance(record, ast.RecordDeclaration)
    assert [field.span.text for field in record.fields] == ["a: Int = 1", "b: [String]"]
    assert record.fields[0].default is not None
    assert record.methods[0].span.text == "fn m(self) -> Int { 1 }"


def test_documentation_goes_to_what_follows() -> None:
    text = """
/// One.
///   Two.
type R {
    /// The a.
    a: Int
    //// not documentation
    b: Int
    /// Does m.
    fn m(self) { }
}
/// Sum.
type S =
    /// First.
    | A
    /// Second.
    | B(
        /// Field.
        x: Int
    )
/// Runs.
fn main() {
    /// before a statement it is a comment
    f()
}
/// C.
const C = 1
/// Cap.
capability P {
    /// Pays.
    fn pay()
}
/// Bot.
agent B {
    /// On.
    on x() { }
}
"""
    record, total, main, constant, capability, agent = module(text).declarations
    assert isinstance(record, ast.RecordDeclaration)
    assert record.documentation == "One.\n  Two."
    assert [field.documentation for field in record.fields] == ["The a.", None]
    assert record.methods[0].signature.documentation == "Does m."
    assert isinstance(total, ast.SumDeclaration)
    assert (total.documentation, [v.documentation for v in total.variants]) == ("Sum.", ["First.", "Second."])
    assert total.variants[1].fields[0].documentation == "Field."
    assert isinstance(main, ast.Function) and main.signature.documentation == "Runs."
    assert isinstance(constant, ast.ConstDeclaration) and constant.documentation == "C."
    assert isinstance(capability, ast.CapabilityDeclaration)
    assert (capability.documentation, capability.methods[0].documentation) == ("Cap.", "Pays.")
    assert isinstance(agent, ast.AgentDeclaration)
    assert (agent.documentation, agent.handlers[0].signature.documentation) == ("Bot.", "On.")


def test_documentation_after_code_is_a_warning() -> None:
    assert messages("type R {\n    a: Int /// the a\n    b: Int\n}") == [
        "this `///` comment documents nothing: it stands after code on its line"
    ]


def test_soft_keywords_are_ordinary_names() -> None:
    words = "model settings can limit on per by sum count tokens start wait cancel test day".split()
    fields = ", ".join(f"{word}: Int" for word in words)
    parameters = ", ".join(words)
    uses = "\n".join(f"const {word} = {word}.{word}({word}: {word}) + {word}" for word in words)
    module(f"type R {{ {fields} }}\nfn f({fields}) {{\n g({parameters})\n{uses}\n}}")
    for word in words:
        module(f"fn {word}() {{ }}\nagent A {{ on {word}() {{ {word} }}\n can {word}.{word}\n model {word} }}")
        module(f"agent A {{ limit {word} {{ {word} <= 1 per {word} }} }}")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a\nb", 2),
        ("a\n-b", 2),
        ("a\n(b)", 2),
        ("a\n[b]", 2),
        ("a\n{ b }", 2),
        ("a -\nb", 1),
        ("a\n+ b\n* c", 1),
        ("a\n    .b()\n    // between\n    .c()", 1),
        ("a\n\n|| b", 1),
        ("const x =\n    1", 1),
        ("f()\n    catch e =>\n    g()", 1),
        ("if a { }\nelse { }", 1),
        ("if a { }\nelse if b { }\n\nelse { }", 1),
        ("f(\n    a,\n    b\n    + c,\n)", 1),
        ("[\n    a,\n    -b\n]", 1),
        ("x = 1\nx += 2\nx -= 3\nx *= 4\nx /= 5\nx %= 6", 6),
        ("f({\n    a\n    b\n})", 1),
        ("return\na", 2),
        ("for i in 0..3 { }\nwhile a { }\nfor _ in xs { }", 3),
        ("const _y = 1\nconst _ = 2\nlet z: [Task<Bool>] = []", 3),
    ],
)
def test_line_breaks_and_statements(text: str, count: int) -> None:
    assert len(body(text)) == count


def test_a_block_in_parentheses_has_lines_of_its_own() -> None:
    (statement,) = body("f({\n    a\n    b\n}, g)")
    assert isinstance(statement, ast.ExpressionStatement) and isinstance(statement.expression, ast.Call)
    block = statement.expression.arguments[0].value
    assert isinstance(block, ast.Block)
    assert len(block.statements) == 2


def test_statements_hold_what_was_written() -> None:
    declare, assign, loop, forever = body(
        "let x: Int = 1\na.b[0] += 2\nfor _ in 0..3 { continue }\nwhile true { break }"
    )
    assert isinstance(declare, ast.Declare) and declare.mutable and write(declare.value) == "1"
    assert isinstance(assign, ast.Assign) and write(assign.target) == "a.b[0]"
    assert (assign.operator, assign.operator_span.text) == ("+=", "+=")
    assert (
        isinstance(loop, ast.For) and isinstance(loop.binder, ast.WildcardPattern) and write(loop.iterable) == "(0..3)"
    )
    assert isinstance(forever, ast.While) and forever.body.span.text == "{ break }"


def test_an_empty_file_has_no_declarations() -> None:
    for text in ("", "\n\n", "// nothing", "  \t\n// a\n"):
        assert module(text).declarations == ()
