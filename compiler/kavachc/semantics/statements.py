"""Blocks and statements, places that can change, and loops (spec 2, 3)."""

from __future__ import annotations

from typing import cast

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import Label
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.assertions import check_assert
from kavachc.semantics.binders import check_binder, check_take_apart, with_parts
from kavachc.semantics.body import DROPPED, Body, Loop, unknown
from kavachc.semantics.maps import entries_of
from kavachc.semantics.names import is_known
from kavachc.semantics.operators import arithmetic_result
from kavachc.semantics.promises import note_held
from kavachc.semantics.ranks import needs_wanted
from kavachc.semantics.rules import note_use
from kavachc.semantics.types import (
    BOOL,
    FLOAT,
    INT,
    NEVER,
    NOTHING,
    UNKNOWN,
    ArrayType,
    MapType,
    RecordType,
    TupleType,
    Type,
)
from kavachc.semantics.wording import a, near_miss, single_spaced
from kavachc.syntax import ast


def check_block(body: Body, node: ast.Block, wanted: Type | None) -> typed.Block:
    """A block. Its value is that of its last expression, dropped when `wanted` is DROPPED.

    A block in which a statement never ends is of type NEVER, and then has no result.
    """
    body.scope.enter()
    statements: list[typed.Statement] = []
    result: typed.Expr | None = None
    ends = True
    for position, statement in enumerate(node.statements):
        last = position == len(node.statements) - 1
        if last and isinstance(statement, ast.ExpressionStatement):
            result = _last_expression(body, statement.expression, wanted, ends)
            ends = ends and result.type is not NEVER
        else:
            checked, checked_ends = check_statement(body, statement)
            statements.append(checked)
            ends = ends and checked_ends
    body.scope.leave()
    if not ends or wanted is DROPPED or (result is not None and result.type is NOTHING):
        if result is not None:
            statements.append(typed.ExpressionStatement(result.span, result))
        return typed.Block(node.span, NEVER if not ends else NOTHING, tuple(statements), None)
    return typed.Block(node.span, NOTHING if result is None else result.type, tuple(statements), result)


def check_function_body(body: Body, node: ast.Block) -> typed.Block:
    """The body of the function; one with a result must give it wherever it ends."""
    function = body.function
    assert function is not None
    if function.result is NOTHING:
        return check_block(body, node, DROPPED)
    # The result of a closure may be what its body gives.
    is_open = function.result is UNKNOWN and function.captures is not None and not body.guesses
    block = check_block(body, node, None if is_open else function.result)
    gives_nothing = block.result is None and block.type is not NEVER
    if gives_nothing and function.result is not UNKNOWN and not _ends_in_reported(block):
        leave = "`return`" if function.error is None else "`return` or `fail`"
        help_text = f"end it with {a(function.result)}, or leave it with {leave} on every way"
        body.report(codes.RESULT_MISSING, function.span, name=body.name(), type=function.result, help=help_text)
    return block


def _ends_in_reported(block: typed.Block) -> bool:
    """The block's last statement is already known to be wrong."""
    if not block.statements:
        return False
    last = block.statements[-1]
    return isinstance(last, typed.ExpressionStatement) and last.expression.type is UNKNOWN


def _last_expression(body: Body, node: ast.Expression, wanted: Type | None, is_reached: bool) -> typed.Expr:
    """What stands after something that never ends gives the block no value, so it need not fit; a `[]` there still
    needs a type."""
    if not is_reached:
        return body.expression(node, wanted if needs_wanted(body, node) else DROPPED)
    if wanted is None or wanted is DROPPED:
        return body.expression(node, wanted)
    return body.value(node, wanted)


def check_statement(body: Body, node: ast.Statement) -> tuple[typed.Statement, bool]:
    """The typed statement, and whether what stands after it can run: False when it leaves or loops for ever."""
    match node:
        case ast.Declare():
            declare = _check_declare(body, node)
            return declare, declare.value.type is not NEVER
        case ast.TakeApart():
            value = body.operand(node.value) if node.type is None else body.value(node.value, body.resolve(node.type))
            return check_take_apart(body, node, value), value.type is not NEVER
        case ast.Assign():
            assign = _check_assign(body, node)
            return assign, not (isinstance(assign, typed.Assign) and assign.value.type is NEVER)
        case ast.For():
            return _check_for(body, node), True
        case ast.While():
            return _check_while(body, node)
        case ast.Assert():
            check = check_assert(body, node)
            return check, check.expression.type is not NEVER
        case ast.ExpressionStatement():
            expression = body.expression(node.expression, DROPPED)
            return typed.ExpressionStatement(node.span, expression), expression.type is not NEVER


def _check_declare(body: Body, node: ast.Declare) -> typed.Declare:
    """`const x = …`, `let x: T = …`. The name is known only after its value, so that it may shadow."""
    if node.type is not None:
        type_ = body.resolve(node.type)
        value = body.value(node.value, type_)
    else:
        value = body.declared_value(node.name.text, node.value)
        type_ = value.type
    fixed = "" if node.mutable else "declared with `const`"
    local = body.declare(node.name, type_, node.mutable, fixed)
    if not node.mutable:
        note_held(body, local, value)
    return typed.Declare(node.span, local, value)


def _check_assign(body: Body, node: ast.Assign) -> typed.Statement:
    if isinstance(node.target, ast.Name) and not is_known(body, node.target.text):
        return _check_undeclared(body, node, node.target)
    place = place_of(body, body.operand(node.target))
    operator = None if node.operator == "=" else cast("typed.ArithmeticOperator", node.operator[:-1])
    if place is None:
        body.expression(node.value, UNKNOWN)
        return typed.ExpressionStatement(node.span, unknown(node.span))
    if operator is None:
        value = body.value(node.value, place.type)
    else:
        value = body.operand(node.value, FLOAT if place.type is FLOAT else None)
        result = arithmetic_result(operator, place.type, value.type)
        if result is not place.type and UNKNOWN not in (place.type, value.type):
            help_text = None
            if {place.type, value.type} == {INT, FLOAT}:
                help_text = "a number is not converted by itself: use one type for both"
            body.report(
                codes.OPERATOR_TYPES,
                node.operator_span,
                operator=node.operator,
                left=place.type,
                right=value.type,
                help=help_text,
            )
    return typed.Assign(node.span, place, operator, node.operator_span, value)


def _check_undeclared(body: Body, node: ast.Assign, name: ast.Name) -> typed.Statement:
    """`x = 3` of a name that is not known: it is reported once, and known from there on."""
    value = body.operand(node.value)
    text = single_spaced(node.value.span.text)
    known = list(body.scope.names())
    help_text = near_miss(name.text, known)
    if help_text is None:
        help_text = f"declare it: `let {name.text} = {text if node.operator == '=' else '…'}`"
    body.report(codes.UNKNOWN_NAME, name.span, name=name.text, help=help_text)
    body.declare(ast.Identifier(name.span, name.text), value.type, True)
    return typed.ExpressionStatement(node.span, unknown(node.span))


def place_of(body: Body, target: typed.Expr) -> typed.Place | None:
    """The place that `target` reads: a `let` name or a part of one. Anything else is reported, and None."""
    steps: list[typed.FieldStep | typed.IndexStep | typed.KeyStep] = []
    root = target
    while isinstance(root, typed.FieldGet | typed.IndexGet | typed.MapGet):
        if isinstance(root, typed.FieldGet):
            steps.append(_field_step(body, root))
        elif isinstance(root, typed.IndexGet):
            steps.append(typed.IndexStep(root.index, root.type, root.span))
        else:
            steps.append(typed.KeyStep(root.index, root.type, root.span))
        root = root.target
    if root.type is UNKNOWN:
        return None
    if isinstance(root, typed.ConstGet):
        name = root.constant.name
        help_text = f"declare it with `let` in a function: `let {name} = …`"
        body.report(codes.PLACE_NOT_MUTABLE, root.span, name=name, what="a constant", help=help_text)
        return None
    if not isinstance(root, typed.LocalGet):
        body.report(codes.NOT_A_PLACE, target.span)
        return None
    local = root.local
    if not local.mutable:
        why = body.fixed.get(id(local), "a parameter")
        help_text = f"declare it with `let`: `let {local.name} = …`"
        if why != "declared with `const`":
            help_text = f"copy it into a name of your own: `let changed = {local.name}`"
        if local.name == "self":
            help_text = _help_for_self(body, local.type)
        labels = (Label(local.span, "declared here"),)
        body.report(codes.PLACE_NOT_MUTABLE, root.span, name=local.name, what=why, help=help_text, labels=labels)
        return None
    return typed.Place(target.span, local, tuple(reversed(steps)), target.type)


def _help_for_self(body: Body, type_: Type) -> str:
    """A capability's implementation is called through copies of its value (K0240)."""
    capabilities = type_.capabilities if isinstance(type_, RecordType) else ()
    if any(method.name == body.name() for item in capabilities for method in item.methods):
        return "what implements a capability keeps nothing from call to call: keep it in `Files`, or give it back"
    return "let the method change its receiver: write `mut self`"


def _field_step(body: Body, node: typed.FieldGet) -> typed.FieldStep:
    record = node.target.type
    rule = record.fields[node.index].rule if isinstance(record, RecordType) else None
    if rule is None or not isinstance(record, RecordType):
        return typed.FieldStep(node.index, node.type)
    note_use(body, rule, record.arguments, node.span)
    return typed.FieldStep(node.index, node.type, rule, record.arguments)


def _check_for(body: Body, node: ast.For) -> typed.Statement:
    """Over an array, or over a range of Ints."""
    iterable = node.iterable
    if isinstance(iterable, ast.RangeExpression):
        start = body.value(iterable.start, INT)
        end = body.value(iterable.end, INT)
        local, block = _check_loop_body(body, node, INT)
        return typed.ForRange(node.span, local, start, end, iterable.inclusive, block)
    array = body.operand(iterable)
    element: Type = UNKNOWN
    if isinstance(array.type, ArrayType):
        element = array.type.element
    elif isinstance(array.type, MapType):
        element = TupleType((array.type.key, array.type.value))
        array = entries_of(array, array.type)
    elif array.type is not UNKNOWN:
        help_text = f"count up to it: `for i in 0..{single_spaced(iterable.span.text)}`" if array.type is INT else None
        body.report(codes.NOT_ITERABLE, iterable.span, type=array.type, help=help_text)
    local, block = _check_loop_body(body, node, element)
    return typed.ForEach(node.span, local, array, block)


def _check_loop_body(body: Body, node: ast.For, element: Type) -> tuple[typed.Local | None, typed.Block]:
    body.scope.enter()
    local, pattern = _loop_name(body, node.binder, element)
    body.loops.append(Loop())
    block = check_block(body, node.body, DROPPED)
    body.loops.pop()
    body.scope.leave()
    return local, block if local is None or pattern is None else with_parts(block, pattern, local)


def _loop_name(body: Body, binder: ast.Pattern, element: Type) -> tuple[typed.Local | None, typed.Pattern | None]:
    """The name for each element; for a tuple of names one of the compiler's own, and what takes it apart."""
    fixed = "a loop's own name"
    if isinstance(binder, ast.NamePattern):
        return body.declare(binder.name, element, False, fixed), None
    if isinstance(binder, ast.TuplePattern):
        pattern = check_binder(body, binder, element, False, fixed)
        return typed.Local("element", element, False, binder.span), pattern
    return None, None


def _check_while(body: Body, node: ast.While) -> tuple[typed.While, bool]:
    """`while true` without a `break` never ends, so that a function may end with it."""
    condition = body.value(node.condition, BOOL)
    loop = Loop()
    body.loops.append(loop)
    block = check_block(body, node.body, DROPPED)
    body.loops.pop()
    for_ever = isinstance(condition, typed.BoolValue) and condition.value and not loop.has_break
    return typed.While(node.span, condition, block), not for_ever
