"""The heart of the interpreter: which way an expression is evaluated, and the state that a run shares.

An expression that only combines values (no call of a function, no branch, no block) is *simple*: it cannot wait, leave
or write to a variable, so `simple_value` evaluates it at once, children first (`combine.py`). Every other expression
is a generator (`expressions.py`), since a call anywhere inside it may have to wait.
"""

from __future__ import annotations

from typing import NamedTuple

from kavachc.interpreter.calls import run_steps
from kavachc.interpreter.combine import COMBINE, Combination
from kavachc.interpreter.expressions import COMPOUND
from kavachc.interpreter.frames import Frame, Steps
from kavachc.interpreter.host import Host
from kavachc.interpreter.places import may_hold_array
from kavachc.interpreter.rules import holds
from kavachc.interpreter.signals import EXHAUSTED, exhausted
from kavachc.interpreter.values import Value
from kavachc.interpreter.world import World
from kavachc.semantics import typed_ast as typed
from kavachc.semantics.types import CapabilityType, FieldRule, RecordType, Type
from kavachc.source import Span


class Plan(NamedTuple):
    """What is known of an expression before it runs. `reads` are the variables that it reads whose values may hold
    arrays, None when it is not simple; `gives_away` are those whose arrays may be part of its value."""

    reads: tuple[typed.Local, ...] | None
    gives_away: tuple[typed.Local, ...]


class Evaluator:
    """Evaluates one program against one host."""

    def __init__(self, program: typed.Program, host: Host, arguments: tuple[str, ...] = ()) -> None:
        self.program = program
        self.world: World = World(arguments)
        self.host = host
        host.holds = self.holds
        self.implementations: dict[tuple[RecordType, CapabilityType], typed.Implementation] = {
            (item.record, item.capability): item for item in program.implementations
        }
        self._constants: dict[typed.Constant, Value] = {}
        # By the identity of the node, since nodes compare by content. The program keeps every node alive.
        self._plans: dict[int, Plan] = {}

    def expression(self, node: typed.Expr, frame: Frame) -> Steps:
        """The value of any expression."""
        try:
            if self.plan(node).reads is not None:
                return self.simple_value(node, frame)
            return (yield from COMPOUND[type(node)](self, node, frame))
        except EXHAUSTED as problem:
            raise exhausted(problem, node) from None

    def expressions(self, nodes: tuple[typed.Expr, ...], frame: Frame) -> Steps:
        """The values of several expressions, left to right, as a list."""
        values: list[Value] = []
        for node in nodes:
            values.append((yield from self.expression(node, frame)))
        return values

    def simple_value(self, node: typed.Expr, frame: Frame) -> Value:
        """The value of a simple expression. It may hold arrays of the variables that were read: they are given away
        (`places.py`). Inside the expression nothing can change them, so its parts need not give anything away."""
        value = self._combined(node, frame)
        for local in self.plan(node).gives_away:
            frame.owners.pop(local, None)
        return value

    def _combined(self, node: typed.Expr, frame: Frame) -> Value:
        kind = type(node)
        if kind is typed.LocalGet:
            return frame.values[node.local]  # type: ignore[attr-defined]
        if kind is typed.LogicalOperation:
            return self._logical(node, frame)  # type: ignore[arg-type]
        combination: Combination = COMBINE[kind]
        try:
            values = [self._combined(child, frame) for child in combination.children(node)]
            return combination.combine(self, node, frame, values)
        except EXHAUSTED as problem:
            raise exhausted(problem, node) from None

    def _logical(self, node: typed.LogicalOperation, frame: Frame) -> Value:
        left = self._combined(node.left, frame)
        decided = left if node.operator == "||" else not left
        return left if decided else self._combined(node.right, frame)

    def plan(self, node: typed.Expr) -> Plan:
        """What is known of the expression, worked out when it is first met."""
        plan = self._plans.get(id(node))
        if plan is None:
            reads = self._reads(node)
            plan = Plan(reads, reads if reads and may_hold_array(node.type) else ())
            self._plans[id(node)] = plan
        return plan

    def _reads(self, node: typed.Expr) -> tuple[typed.Local, ...] | None:
        if isinstance(node, typed.LocalGet):
            return (node.local,) if may_hold_array(node.local.type) else ()
        if isinstance(node, typed.LogicalOperation):
            children: tuple[typed.Expr, ...] = (node.left, node.right)
        elif type(node) in COMBINE and not (isinstance(node, typed.CallBuiltin) and node.builtin.waits):
            children = COMBINE[type(node)].children(node)
        else:
            return None
        reads: dict[typed.Local, None] = {}
        for child in children:
            child_reads = self.plan(child).reads
            if child_reads is None:
                return None
            reads.update(dict.fromkeys(child_reads))
        return tuple(reads)

    def constant(self, constant: typed.Constant) -> Value:
        """The value of a top-level constant: a tree of plain values by now."""
        if constant not in self._constants:
            self._constants[constant] = self.simple_value(constant.value, Frame())
        return self._constants[constant]

    def holds(self, rule: FieldRule, arguments: tuple[Type, ...], value: Value) -> bool:
        """Whether the rule of a field holds for a value, where the field's type has these arguments; a rule never
        waits."""
        task = run_steps(holds(self, rule, arguments, value, None, rule.function.span))
        try:
            next(task)
        except StopIteration as end:
            return bool(end.value)
        raise AssertionError("a rule never waits")

    # `constants.py` bounds what the compiler evaluates through these three.

    def count_step(self, span: Span) -> None:
        """One call or one turn of a loop, at `span`."""

    def count_text(self, text: str, span: Span) -> str:
        """A String that was made at `span`, unchanged."""
        return text
