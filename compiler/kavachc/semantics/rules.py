"""Rules of fields (spec 2.where): what they may say, and where they are looked at.

A value that is given to a field with a rule is looked at before it is put there:

    Person(age: n)          Person(age: { const _field = n
                                          if rule(_field) { } else { panic("the rule of …") }
                                          _field })

A place that was changed is looked at by the engines, from the innermost field outward (`FieldStep.rule`).
"""

from __future__ import annotations

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import panics
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.body import Body
from kavachc.semantics.effects import Effects, Node
from kavachc.semantics.graph import components
from kavachc.semantics.types import BOOL, NEVER, NOTHING, STRING, UNKNOWN, FieldRule, RecordType, SumType, Type
from kavachc.semantics.wording import quoted
from kavachc.semantics.world import Edge, Facts, GenericCall, RuleEntry, World
from kavachc.source import Span


def check_rule(world: World, maker: Body, entry: RuleEntry) -> None:
    """Check the rule, a Bool over the field alone, and make it the body of its function."""
    function, written = entry.rule.function, entry.declaration.rule
    assert written is not None
    facts = world.facts.setdefault(function, Facts())
    body = Body(world.at(written.span), maker.dispatch, facts, type_parameters=function.type_parameters)
    [field] = function.parameters
    body.scope.declare(field)
    body.fixed[id(field)] = "the field that the rule is about"
    function.body = typed.Block(written.span, BOOL, (), body.value(written, BOOL))
    default = world.defaults.get(entry.field)
    entry.rule.default = None if default is None else default.value


def check_calls(world: World, effects: Effects) -> None:
    """Rules compute with their field, do nothing else, and come to an end."""
    functions = {entry.rule.function: entry.rule for entry in world.rules}
    for function, rule in functions.items():
        found = effects.why_impure(world.facts[function], calls_values=False)
        if found is not None:
            labels = (Label(found[1], "here"),) if found[1] != function.span else ()
            world.bag.report(codes.FIELD_RULE_NOT_PURE, function.span, place=rule.place, reason=found[0], labels=labels)
    nodes: list[Node] = [*functions]
    for component, has_cycle in components(nodes, effects.runs_now):
        members = [item for item in component if isinstance(item, typed.Function)]
        first = next((item for item in functions if item in members), None)
        if has_cycle and first is not None:
            others = [item.name for item in members if item not in functions]
            notes = (f"by way of {quoted(sorted(others))}",) if others else ()
            world.bag.report(codes.FIELD_RULE_CYCLE, first.span, place=functions[first].place, notes=notes)


def looked_at(body: Body, owner: RecordType | SumType, rule: FieldRule | None, value: typed.Expr) -> typed.Expr:
    """`value`, which is given to a field of `owner`, after a look at whether the field's rule holds for it."""
    if rule is None or value.type in (NEVER, UNKNOWN):
        return value
    note_use(body, rule, owner.arguments, value.span)
    span, held = value.span, body.fresh("_field", value, value.type)
    found = typed.LocalGet(span, value.type, held.local)
    holds = typed.CallFunction(span, BOOL, rule.function, (found,), owner.arguments)
    message = panics.FIELD_RULE_BROKEN.format(place=rule.place, rule=rule.text)
    panic = typed.Panic(span, NEVER, typed.StringValue(span, STRING, message))
    check = typed.If(span, NOTHING, holds, typed.Block(span, NOTHING, (), None), panic)
    return typed.Block(span, value.type, (held, typed.ExpressionStatement(span, check)), found)


def note_use(body: Body, rule: FieldRule, type_arguments: tuple[Type, ...], span: Span) -> None:
    """The body has the rule looked at."""
    body.facts.edges.append(Edge(rule.function, span, True, True))
    if type_arguments:
        body.facts.calls_of_generics.append(GenericCall(rule.function, type_arguments, span))
