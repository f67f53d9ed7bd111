"""The text form: what is printed, that it reads back the same, and what the reader refuses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_texts import PRELUDE, function_text
from kavachc.ir.errors import IrTextError
from kavachc.ir.module import (
    Agent,
    Attribute,
    Block,
    Capability,
    Cases,
    Field,
    FieldRule,
    Function,
    Instruction,
    Limit,
    Local,
    Location,
    Method,
    Model,
    Module,
    Record,
    Rule,
    Sum,
    Value,
    Variant,
    Vtable,
)
from kavachc.ir.ops import ATTRIBUTE_KINDS, DEPTHS, OPS, PREDICATES, WAYS, Op
from kavachc.ir.parser import parse_module
from kavachc.ir.printer import print_module
from kavachc.ir.types import NOTHING, SCALARS, Address, Array, FunctionValue, IrType, Map, Named, Outcome, Task

WHOLE = """entry main

record Point {
  x: int where "x >= 0 \\"…\\"" "x check"
  tags: [string]
}

record Empty {
}

sum PayError {
  Declined
  Denied(reason: string where "reason != \\{\\}" check, at: instant)
}

capability Payments {
  refund(int, $Point) -> nothing ! $PayError waits
  total() -> int
}

agent Refunder {
  model "claude-haiku-5-5" 4096 Anthropic at "" budget 0 within 600000000000
  settings Average Enforce
  capabilities [Payments]
  limit Payments.refund {
    condition "amount > 0" <= 0 per 0
    sum_float "sum(amount) < 7.5 per day" < 7.5 per 86400000000000
  }
  limit Ai {
  }
}

vtable bank Payments $Point [bank.refund, "bank total"]

function main(%who: string) -> task<[int]> ! error waits owns "main.kav" @3:1 {
  local &n: int
  local &"odd name": outcome<nothing>
entry:
  %1: int = const.int -5
  %2: float = const.float 1e16
  %3: float = const.float -inf
  %4: bool = const.bool true
  %5: string = const.string "a\\n\\u{1b}\\"\\\\ä"
  local.set &n %1 @4:2
  %6: address<int> = local.address &n
  %7: bool = int.compare <= %1, %1
  %8: outcome<nothing, $PayError> = call.capability Payments 0 plain %1, %2 @5:9
  %9: outcome<answer> = ask [$Point] prompt "the schema" "[]" "" %1, %5
  branch %7 loop "the end" @6:1
loop:
  switch %1 [0: loop, -1: "the end"] "the end"
"the end":
  unreachable
}
"""


def test_the_text_reads_back() -> None:
    assert print_module(parse_module(WHOLE)) == WHOLE


def test_comments_and_spaces_do_not_matter() -> None:
    loose = WHOLE.replace("entry:\n", "entry: // where it starts\n\n").replace("  local", "\t local")
    assert print_module(parse_module(loose)) == WHOLE


def test_values_are_numbered_anew_in_the_order_of_the_text() -> None:
    text = function_text(
        """
        entry:
          jump next
        last:
          return %20
        next:
          %20: nothing = const.nothing
          %7: nothing = copy %20
          jump last
        """
    )
    printed = print_module(parse_module(text))
    assert "return %1\n" in printed
    assert "%2: nothing = copy %1\n" in printed


def test_an_empty_module_has_no_text() -> None:
    assert print_module(Module()) == ""
    assert parse_module("").functions == {}


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("entry:\n  jump nowhere", 3, "there is no block nowhere"),
        ("entry:\n  return %1", 3, "nothing makes %1"),
        ("entry:\n  %1: int = const.int 1\n  %1: int = const.int 1\n  return %1", 4, "%1 is made twice"),
        ("entry:\n  %1: int = const.int 1.5", 3, "an integer is wanted, not 1.5"),
        ("entry:\n  %1: int = int.plus %1, %1", 3, "there is no op int.plus"),
        ("entry:\n  %1: int = release %1", 3, "release has no result"),
        ("entry:\n  copy %1", 3, "copy has a result"),
        ("entry:\n  %1: int = local.get &x", 3, "there is no such local"),
        ("entry:\n  unreachable\nentry:\n  unreachable", 4, "there are two blocks entry"),
        ("local &x: int\nlocal &x: int", 3, "there are two locals &x"),
        ("entry:\n  %1: list<int> = const.nothing", 3, "a type is wanted, not list"),
        ("entry:\n  %1: bool = int.compare ~ %1, %1", 3, "unexpected '~'"),
        ("entry:\n  %1: bool = int.compare = %1, %1", 3, "a predicate is wanted, not ="),
        ('entry:\n  %1: string = const.string "\\q"', 3, "unknown escape \\q"),
        ("entry:\n  unreachable\n)", 4, "a name is wanted, not )"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(body: str, line: int, message: str) -> None:
    with pytest.raises(IrTextError) as caught:
        parse_module(f'function f() -> nothing "f.kav" {{\n{body}\n}}\n')
    assert str(caught.value) == f"line {line}: {message}"
    assert caught.value.line == line


def test_two_functions_of_one_name_are_refused() -> None:
    text = function_text("entry:\n  unreachable")
    with pytest.raises(IrTextError, match="line 5: there are two functions f"):
        parse_module(text + text)


def test_text_that_ends_early_is_refused() -> None:
    with pytest.raises(IrTextError, match="a name is wanted, not the end of the text"):
        parse_module('function f() -> nothing "f.kav" {\nentry:\n  unreachable')


def test_the_prelude_of_the_tests_reads_back() -> None:
    assert print_module(parse_module(PRELUDE)) == PRELUDE.lstrip("\n")


# Generated modules: any shape that the text can hold, right or wrong.

NAMES = st.one_of(
    st.from_regex(r"[a-z][a-z0-9_]{0,4}(\.[a-z]{1,3})?", fullmatch=True),
    st.sampled_from(["inf", "nan", "entry", "local", "waits", "owns", "task", "per", "limit", "record", "ünï"]),
    st.text(max_size=4),
)
TEXTS = st.text(max_size=8)
LOCATIONS = st.none() | st.builds(Location, st.integers(1, 999), st.integers(1, 99))
INTEGERS = st.integers(-(2**63), 2**63 - 1)
TYPES: st.SearchStrategy[IrType] = st.recursive(
    st.sampled_from(list(SCALARS.values())) | st.builds(Named, NAMES),
    lambda inner: (
        st.builds(Array, inner)
        | st.builds(Map, inner, inner)
        | st.builds(Task, inner)
        | st.builds(Address, inner)
        | st.builds(FunctionValue, st.lists(inner, max_size=2).map(tuple), inner, st.none() | st.builds(Named, NAMES))
        | st.builds(Outcome, inner, st.none() | inner)
    ),
    max_leaves=3,
)
FIELD_RULES = st.none() | st.builds(FieldRule, TEXTS, NAMES)
FIELDS = st.lists(st.builds(Field, NAMES, TYPES, FIELD_RULES), max_size=2).map(tuple)
RECORDS = st.builds(Record, NAMES, FIELDS)
SUMS = st.builds(Sum, NAMES, st.lists(st.builds(Variant, NAMES, FIELDS), max_size=2).map(tuple))
METHODS = st.builds(Method, NAMES, st.lists(TYPES, max_size=2).map(tuple), TYPES, st.none() | TYPES, st.booleans())
CAPABILITIES = st.builds(Capability, NAMES, st.lists(METHODS, max_size=2).map(tuple))
RULES = st.builds(
    Rule, st.sampled_from(["count", "sum_int"]), TEXTS, st.booleans(), INTEGERS, INTEGERS | st.floats(allow_nan=False)
)
LIMITS = st.lists(st.builds(Limit, NAMES, st.lists(RULES, max_size=2).map(tuple)), max_size=2).map(tuple)
MODELS = st.builds(Model, TEXTS, st.integers(0, 9999), NAMES, TEXTS, st.integers(0, 9999), st.integers(1, 2**63 - 1))
AGENTS = st.builds(Agent, NAMES, MODELS, NAMES, NAMES, LIMITS, st.lists(NAMES, max_size=2).map(tuple))
VTABLES = st.builds(Vtable, NAMES, NAMES, TYPES, st.lists(NAMES, max_size=2).map(tuple))


@st.composite
def functions(draw: st.DrawFn) -> Function:
    parameter_names = draw(st.lists(NAMES, max_size=2, unique=True))
    values = [Value(draw(TYPES), name) for name in parameter_names]
    function = Function(
        draw(NAMES),
        draw(TEXTS),
        list(values),
        draw(TYPES),
        draw(st.none() | TYPES),
        draw(st.booleans()),
        draw(st.booleans()),
        location=draw(LOCATIONS),
        captures=draw(st.none() | st.lists(TYPES, max_size=2).map(tuple)),
    )
    function.locals = [Local(name, draw(TYPES)) for name in draw(st.lists(NAMES, max_size=2, unique=True))]
    function.blocks = [Block(name) for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))]
    values.append(Value(NOTHING))
    function.blocks[0].instructions.append(Instruction(OPS["const.nothing"], [], (), values[-1]))
    for block in function.blocks:
        for op in draw(st.lists(st.sampled_from(list(OPS.values())), max_size=4)):
            if "local" in op.attributes and not function.locals:
                continue
            count = draw(st.integers(0, 2)) if op.operands.endswith("*") else len(op.operands)
            operands = [draw(st.sampled_from(values)) for _ in range(count)]
            attributes = tuple(draw(attribute(op, name, function)) for name in op.attributes)
            result = None if op.result == "none" else Value(draw(TYPES))
            block.instructions.append(Instruction(op, operands, attributes, result, draw(LOCATIONS)))
            if result is not None:
                values.append(result)
    return function


def attribute(op: Op, name: str, function: Function) -> st.SearchStrategy[Attribute]:
    blocks = st.sampled_from(function.blocks)
    if ATTRIBUTE_KINDS[name] == "value":
        constants: dict[str, st.SearchStrategy[Attribute]] = {
            "const.int": INTEGERS,
            "const.float": st.floats(),
            "const.bool": st.booleans(),
            "const.string": TEXTS,
        }
        return constants[op.name]
    kinds: dict[str, st.SearchStrategy[Attribute]] = {
        "number": st.integers(-1, 99),
        "name": NAMES,
        "text": TEXTS,
        "way": st.sampled_from(WAYS),
        "predicate": st.sampled_from(PREDICATES),
        "depth": st.sampled_from(DEPTHS),
        "local": st.sampled_from(function.locals or [Local("none", NOTHING)]),
        "type": TYPES,
        "block": blocks,
        "cases": st.lists(st.tuples(st.integers(-1, 3), blocks), max_size=2).map(lambda items: Cases(tuple(items))),
    }
    return kinds[ATTRIBUTE_KINDS[name]]


@st.composite
def modules(draw: st.DrawFn) -> Module:
    return Module(
        {item.name: item for item in draw(st.lists(RECORDS, max_size=2))},
        {item.name: item for item in draw(st.lists(SUMS, max_size=2))},
        {item.name: item for item in draw(st.lists(CAPABILITIES, max_size=2))},
        draw(st.lists(AGENTS, max_size=2)),
        {item.name: item for item in draw(st.lists(VTABLES, max_size=2))},
        {item.name: item for item in draw(st.lists(functions(), max_size=2))},
        draw(NAMES),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sets(st.tuples(st.integers(0, 9), st.booleans()), max_size=2)),
    )


@settings(max_examples=150, deadline=None)
@given(modules())
def test_any_module_reads_back(module: Module) -> None:
    text = print_module(module)
    again = parse_module(text)
    assert print_module(again) == text
    for name in (
        "records",
        "sums",
        "capabilities",
        "agents",
        "vtables",
        "entry",
        "can_ask",
        "can_send",
        "waiting_shapes",
    ):
        assert getattr(again, name) == getattr(module, name)
