"""Statements: declarations, assignments, loops."""

from __future__ import annotations

from kavachc.ir import module as ir
from kavachc.ir.module import Block, Value
from kavachc.lower.function import FunctionLowering, Left, Loop, StatementLowering, Way
from kavachc.lower.leaving import Exit
from kavachc.lower.operators import arithmetic, comparison
from kavachc.lower.patterns import bind
from kavachc.lower.places import PlaceLowering
from kavachc.semantics import typed_ast as typed


def _declare(state: FunctionLowering, node: typed.Declare) -> None:
    state.declare(node.local, state.value(node.value))


def _take_apart(state: FunctionLowering, node: typed.TakeApart) -> None:
    """The names come into scope above the whole, which is then no more needed."""
    whole = state.value(node.value)
    bind(state, node.pattern, whole)
    state.build.release(whole)


def _assign(state: FunctionLowering, node: typed.Assign) -> None:
    place = PlaceLowering(state, node.place)
    if node.operator is None:
        place.store(state.value(node.value))
        place.finish()
        return
    mark = state.mark()
    old = state.hold(place.read())
    value = state.held(node.value)
    new = arithmetic(state.build, node.operator, old, value, state.location(node.operator_span))
    state.release_to(mark)
    place.store(new)
    place.finish()


def _expression(state: FunctionLowering, node: typed.ExpressionStatement) -> None:
    state.run(node.expression)


class _LoopBlocks:
    """The blocks of a loop: `head` decides, `body` runs, `next` goes on, `after` follows the loop."""

    def __init__(self, state: FunctionLowering, name: str) -> None:
        build = state.build
        self.state = state
        self.head = build.new_block(name)
        self.body = build.new_block(f"{name}.body")
        self.next = build.new_block(f"{name}.next")
        self.after = build.new_block(f"{name}.end")
        self.mark = state.mark()

    def enter(self) -> None:
        self.state.build.jump(self.head)
        self.state.start(self.head)

    def run_body(self, body: typed.Block, continue_to: Block, local: typed.Local | None, value: Value | None) -> Loop:
        """The body once, with `local` for the owned `value`; then on to `continue_to`."""
        state = self.state
        loop = Loop(Exit("jump", self.after), Exit("jump", continue_to), self.mark)
        with Way(state):
            if local is not None and value is not None:
                state.declare(local, value)
            state.loops.append(loop)
            state.run(body)
            state.loops.pop()
            state.release_to(self.mark)
            state.build.jump(continue_to)
        return loop


def _while(state: FunctionLowering, node: typed.While) -> None:
    blocks = _LoopBlocks(state, "while")
    blocks.enter()
    for_ever = isinstance(node.condition, typed.BoolValue) and node.condition.value
    if for_ever:
        state.build.jump(blocks.body)
    else:
        state.build.branch(state.value(node.condition), blocks.body, blocks.after)
    state.start(blocks.body)
    loop = blocks.run_body(node.body, blocks.head, None, None)
    if for_ever and not loop.has_break:
        raise Left
    state.start(blocks.after)


def _for_range(state: FunctionLowering, node: typed.ForRange) -> None:
    """The counter is compared before it steps, so that it never passes the last value: with `..=` the comparison at
    the head lets the first one in, and each step is taken only below the end."""
    build = state.build
    start, end = state.value(node.start), state.value(node.end)
    counter = build.new_local("counter", start.type)
    blocks = _LoopBlocks(state, "for")
    build.local_set(counter, start)
    if node.inclusive:
        build.branch(comparison(build, "<=", start, end), blocks.head, blocks.after)
        state.start(blocks.head)
        current = build.local_get(counter)
        build.jump(blocks.body)
    else:
        blocks.enter()
        current = build.local_get(counter)
        build.branch(comparison(build, "<", current, end), blocks.body, blocks.after)
    state.start(blocks.body)
    blocks.run_body(node.body, blocks.next, node.local, current)
    state.start(blocks.next)
    if node.inclusive:
        more = build.new_block("for.more")
        build.branch(comparison(build, "<", current, end), more, blocks.after)
        state.start(more)
    _step(state, counter, current, blocks.head)
    state.start(blocks.after)


def _step(state: FunctionLowering, counter: ir.Local, current: Value, head: Block) -> None:
    state.build.local_set(counter, state.build.int_step(current))
    state.build.jump(head)


def _for_each(state: FunctionLowering, node: typed.ForEach) -> None:
    """The array is held for the whole loop, so a change to the variable that it came from copies it first."""
    build = state.build
    outer = state.mark()
    array = state.held(node.array)
    length = build.array_length(array)
    counter = build.new_local("counter", length.type)
    blocks = _LoopBlocks(state, "for")
    build.local_set(counter, build.int_const(0))
    blocks.enter()
    current = build.local_get(counter)
    build.branch(comparison(build, "<", current, length), blocks.body, blocks.after)
    state.start(blocks.body)
    element = None if node.local is None else build.copy(build.array_at(array, current))
    blocks.run_body(node.body, blocks.next, node.local, element)
    state.start(blocks.next)
    _step(state, counter, current, blocks.head)
    state.start(blocks.after)
    state.release_to(outer)


LOWERINGS: dict[type, StatementLowering] = {
    typed.Declare: _declare,
    typed.TakeApart: _take_apart,
    typed.Assign: _assign,
    typed.ExpressionStatement: _expression,
    typed.ForRange: _for_range,
    typed.ForEach: _for_each,
    typed.While: _while,
}
