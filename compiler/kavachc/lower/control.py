"""Blocks, `if`, `match`, and the ways out: `return`, `break`, `continue`, `fail`, `try`, `catch`."""

from __future__ import annotations

from kavachc.ir import module as ir
from kavachc.ir.module import Block, Value
from kavachc.lower.calls import call
from kavachc.lower.function import ExpressionLowering, FunctionLowering, Join, Left, Loop, Way
from kavachc.lower.leaving import Exit, Held
from kavachc.lower.patterns import bind, test
from kavachc.lower.types import lower_type
from kavachc.semantics import typed_ast as typed


def _block(state: FunctionLowering, node: typed.Block) -> Value:
    mark = state.mark()
    for statement in node.statements:
        state.statement(statement)
    if node.result is None:
        state.release_to(mark)
        return state.build.nothing()
    value = state.value_as(node.result, node.type)
    state.release_to(mark)
    return value


def _if(state: FunctionLowering, node: typed.If) -> Value:
    build = state.build
    join = Join(state, "if", node.type)
    then, otherwise = build.new_block("then"), build.new_block("else")
    build.branch(state.value(node.condition), then, otherwise)
    state.start(then)
    with Way(state):
        join.bring_value(node.then)
    state.start(otherwise)
    with Way(state):
        if node.otherwise is None:
            join.bring(build.nothing())
        else:
            join.bring_value(node.otherwise)
    return join.finish()


def _match(state: FunctionLowering, node: typed.Match) -> Value:
    build = state.build
    join = Join(state, "match", node.type)
    mark = state.mark()
    subject = state.held(node.subject)
    for arm in node.arms:
        miss = build.new_block("next")
        with Way(state):
            test(state, arm.pattern, subject, miss)
            _arm_body(state, arm, subject, miss, join)
        state.start(miss)
    build.unreachable()
    value = join.finish()
    state.release_to(mark)
    return value


def _arm_body(state: FunctionLowering, arm: typed.MatchArm, subject: Value, miss: Block, join: Join) -> None:
    """The pattern fits: its names are bound, and the guard decides."""
    build = state.build
    mark = state.mark()
    bind(state, arm.pattern, subject)
    if arm.guard is not None:
        guarded, refused = build.new_block("guarded"), build.new_block("refused")
        build.branch(state.value(arm.guard), guarded, refused)
        state.start(refused)
        state.unwind(mark)
        build.jump(miss)
        state.start(guarded)
    value = state.value_as(arm.body, join.type)
    state.release_to(mark)
    join.bring(value)


def _return(state: FunctionLowering, node: typed.Return) -> Value:
    value = state.build.nothing() if node.value is None else state.value(node.value)
    state.leave_by_return(value)
    raise Left


def _fail(state: FunctionLowering, node: typed.Fail) -> Value:
    state.leave_by_failure(state.value(node.error))
    raise Left


def _panic(state: FunctionLowering, node: typed.Panic) -> Value:
    state.build.perform("panic", state.value(node.message))
    state.build.unreachable()
    raise Left


def _leave_loop(state: FunctionLowering, loop: Loop, exit: Exit) -> Value:
    state.leave_to(exit, loop.mark)
    raise Left


def _break(state: FunctionLowering, node: typed.Break) -> Value:
    loop = state.loops[-1]
    loop.has_break = True
    return _leave_loop(state, loop, loop.after)


def _continue(state: FunctionLowering, node: typed.Continue) -> Value:
    loop = state.loops[-1]
    return _leave_loop(state, loop, loop.next)


def _try(state: FunctionLowering, node: typed.Try) -> Value:
    def fails(error: Value) -> None:
        state.leave_by_failure(state.build.error_make(error) if node.converts else error)

    return call(state, node.operand, fails)


def _catch(state: FunctionLowering, node: typed.Catch) -> Value:
    build = state.build
    join = Join(state, "catch", node.type)
    handler = build.new_block("handler")
    to_handler = Exit("jump", handler)
    error = _error_local(state, node)
    mark = state.mark()
    can_fail = False

    def fails(value: Value) -> None:
        nonlocal can_fail
        can_fail = True
        build.local_set(error, value)
        state.leave_to(to_handler, mark)

    with Way(state):
        value = call(state, node.operand, fails)
        if node.operand.type != node.type:
            if node.wraps:
                value = build.optional_some(value)
            else:
                build.release(value)
                value = build.nothing()
        join.bring(value)
    if can_fail:
        state.start(handler)
        with Way(state):
            # From here on the error is in scope, by its name or not.
            state.owned.append(Held(error))
            value = state.value_as(node.handler, node.type)
            state.release_to(mark)
            join.bring(value)
    return join.finish()


def _error_local(state: FunctionLowering, node: typed.Catch) -> ir.Local:
    """Where the error stands for the handler."""
    if node.binder is not None:
        return state.variable(node.binder)
    return state.build.new_local("error", lower_type(node.error))


LOWERINGS: dict[type[typed.Expr], ExpressionLowering] = {
    typed.Block: _block,
    typed.If: _if,
    typed.Match: _match,
    typed.Return: _return,
    typed.Panic: _panic,
    typed.Fail: _fail,
    typed.Break: _break,
    typed.Continue: _continue,
    typed.Try: _try,
    typed.Catch: _catch,
}
