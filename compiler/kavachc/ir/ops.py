"""Every operation of the IR, one row each: the builder's checks, the printer, the parser, the verifier, the passes
and the LLVM emitter all read this table.

Ownership. A value whose type is counted (strings, arrays, boxes, tasks, errors, agents, capabilities, answers, and
records, sums, optionals, tuples and outcomes that hold one) is owned or borrowed. An owned value is consumed exactly
once on every path to an exit; a borrowed one lives as long as what it was taken from and is made owned by `copy`.
Panics exit without cleaning up.

Locals are variables, empty or holding an owned value: `local.set` fills an empty one, `local.take` empties it,
`local.get` borrows, `local.address` needs it to be full. `drop`ping a local is `release(local.take)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# One letter per operand: b borrowed, c consumed; a last `*` repeats the one before for the rest.
Operands = str
Result = Literal["none", "owned", "borrowed"]


@dataclass(frozen=True, slots=True)
class Op:
    """`attributes` name what the instruction carries besides its operands, in the order of its text form.

    `panics`: may end the program at the instruction's location. `suspends`: the task may be switched away from.
    `pure`: no effect, so an unused result may be dropped (an owned one with its release).
    """

    name: str
    operands: Operands
    result: Result
    attributes: tuple[str, ...] = ()
    panics: bool = False
    suspends: bool = False
    pure: bool = False
    terminator: bool = False

    def consumes(self, index: int) -> bool:
        """Whether it takes over its operand `index`."""
        signs = self.operands
        if index < len(signs) and signs[index] != "*":
            return signs[index] == "c"
        return signs[-2] == "c"


_ROWS = (
    # Constants. `value` is written as in Kavach; strings quoted.
    Op("const.int", "", "owned", ("value",), pure=True),  # int, duration or instant, by the result's type
    Op("const.float", "", "owned", ("value",), pure=True),
    Op("const.bool", "", "owned", ("value",), pure=True),
    # A static block: counting it does nothing, so it may be consumed any number of times, or never.
    Op("const.string", "", "owned", ("value",), pure=True),
    Op("const.nothing", "", "owned", pure=True),
    # Ownership.
    Op("copy", "b", "owned", pure=True),
    Op("release", "c", "none"),
    # Locals.
    Op("local.get", "", "borrowed", ("local",), pure=True),
    Op("local.set", "c", "none", ("local",)),
    Op("local.take", "", "owned", ("local",)),
    Op("local.address", "", "borrowed", ("local",), pure=True),
    # Addresses. `store` releases what stood there.
    Op("field.address", "b", "borrowed", ("field",), pure=True),
    Op("element.address", "bb", "borrowed", panics=True),  # makes the array there its own first; index checked
    Op("box.address", "b", "borrowed"),  # from the address of a box to its value; makes the box there its own first
    Op("load", "b", "borrowed"),
    Op("store", "bc", "none"),
    Op("value.address", "bb", "borrowed", panics=True),  # makes the map there its own first; of the key, which is there
    Op("map.set", "bcc", "none"),  # the address of a map, a key, its value
    Op("map.remove", "bb", "none"),  # the address of a map, a key
    Op("array.push", "bc", "none"),  # the address of an array, an element
    # Arithmetic on int, duration and instant, checked.
    Op("int.add", "bb", "owned", panics=True),
    Op("int.sub", "bb", "owned", panics=True),
    Op("int.mul", "bb", "owned", panics=True),
    Op("int.div", "bb", "owned", panics=True),
    Op("int.rem", "bb", "owned", panics=True),
    Op("int.neg", "b", "owned", panics=True),
    Op("int.shl", "bb", "owned", panics=True),
    Op("int.shr", "bb", "owned", panics=True),
    Op("int.and", "bb", "owned", pure=True),
    Op("int.or", "bb", "owned", pure=True),
    Op("int.xor", "bb", "owned", pure=True),
    Op("int.not", "b", "owned", pure=True),
    Op("int.step", "b", "owned", pure=True),  # one more, unchecked: for loop counters, whose bound is checked before
    Op("float.add", "bb", "owned", pure=True),
    Op("float.sub", "bb", "owned", pure=True),
    Op("float.mul", "bb", "owned", pure=True),
    Op("float.div", "bb", "owned", pure=True),
    Op("float.rem", "bb", "owned", pure=True),
    Op("float.neg", "b", "owned", pure=True),
    Op("bool.not", "b", "owned", pure=True),
    # Comparison: `predicate` is == != < <= > >=.
    Op("int.compare", "bb", "owned", ("predicate",), pure=True),  # int, duration, instant, bool
    Op("float.compare", "bb", "owned", ("predicate",), pure=True),
    Op("string.compare", "bb", "owned", ("predicate",), pure=True),
    Op("equal", "bb", "owned", pure=True),  # structural, any one type
    # Strings.
    Op("string.concat", "bb", "owned", pure=True),
    Op("text.make", "b*", "owned", pure=True),  # the operands as they show, one after the other
    Op("text.shown", "b", "owned", pure=True),  # the operand as inside another value, cut where it is long
    # Records (and tuples), sums, optionals, boxes, arrays.
    Op("record.make", "c*", "owned", pure=True),
    Op("record.get", "b", "borrowed", ("field",), pure=True),
    Op("variant.make", "c*", "owned", ("variant",), pure=True),
    Op("variant.tag", "b", "owned", pure=True),
    Op("variant.get", "b", "borrowed", ("variant", "field"), pure=True),  # the tag is known to be `variant`
    Op("optional.none", "", "owned", pure=True),
    Op("optional.some", "c", "owned", pure=True),
    Op("optional.is", "b", "owned", pure=True),  # is a value there
    Op("optional.get", "b", "borrowed", pure=True),  # a value is known to be there
    Op("box.make", "c", "owned", pure=True),
    Op("box.get", "b", "borrowed", pure=True),
    Op("array.make", "c*", "owned", pure=True),
    Op("array.length", "b", "owned", pure=True),
    Op("array.get", "bb", "borrowed", panics=True),
    Op("array.at", "bb", "borrowed", pure=True),  # unchecked: for loops over the array's own length
    Op("array.rest", "bb", "owned", pure=True),  # the elements from a place on, which is at most the length
    # Maps. Literals have keys and values in turn.
    Op("map.make", "c*", "owned", pure=True),
    Op("map.length", "b", "owned", pure=True),
    Op("map.get", "bb", "borrowed", panics=True),
    Op("map.find", "bb", "owned", pure=True),  # an optional
    Op("map.contains", "bb", "owned", pure=True),
    Op("map.keys", "b", "owned", pure=True),
    Op("map.values", "b", "owned", pure=True),
    Op("map.entries", "b", "owned", pure=True),
    # Errors.
    Op("error.make", "c", "owned", pure=True),
    Op("error.is", "b", "owned", ("type",), pure=True),
    Op("error.get", "b", "borrowed", pure=True),  # the held value; the result's type is known to be right
    Op("panic", "b", "none", panics=True),  # the message, a string; ends the program
    # Function values. `function.make` takes what the code of that name captures; in that code, `function.capture`
    # takes it from the first parameter, the value itself.
    Op("function.make", "c*", "owned", ("function",), pure=True),
    Op("function.capture", "b", "borrowed", ("index",), pure=True),
    # Calls. The result is the function's result, or an outcome when it can fail or may wait. `depth` is `counted` for
    # calls of recursive functions and methods (spec 4.depth) and `plain` for others. Arguments are borrowed.
    Op("call", "b*", "owned", ("function", "depth"), panics=True, suspends=True),
    # First: the value.
    Op("call.capability", "b*", "owned", ("capability", "method", "depth"), panics=True, suspends=True),
    Op("call.value", "b*", "owned", ("depth",), panics=True, suspends=True),  # first: the function value
    # The library's entries in the runtime (library.py), by their keys. The second kind changes an array in place; its
    # address comes first. The third may suspend the task, and gives an outcome.
    Op("builtin", "b*", "owned", ("entry",), panics=True),
    Op("builtin.change", "bb*", "owned", ("entry",), panics=True),
    Op("builtin.wait", "b*", "owned", ("entry",), suspends=True),
    Op("outcome.status", "b", "owned", pure=True),
    Op("outcome.value", "c", "owned", pure=True),  # status 0
    Op("outcome.error", "c", "owned", pure=True),  # status 1
    Op("outcome.none", "c", "none"),  # status 2: nothing to own
    # Tasks. `spawn` starts a function whose parameters are owned, whose error is `error`, and which may wait.
    Op("spawn", "c*", "owned", ("function",)),
    Op("task.cancelled", "", "owned"),  # has the running task been cancelled
    Op("task.wait", "b", "owned", suspends=True),  # outcome<nothing>: ok when the task ended
    Op("task.wait_for", "bb", "owned", suspends=True),  # likewise, but ok too when the duration has passed
    Op("task.ended", "b", "owned"),  # has it; if so, its error is seen
    Op("task.status", "b", "owned"),  # of a task that ended: 0, 1 or 2
    Op("task.value", "b", "borrowed"),  # status 0
    Op("task.error", "b", "borrowed"),  # status 1
    Op("task.cancel", "b", "none"),
    Op("sleep", "b", "owned", suspends=True),  # outcome<nothing>
    Op("now", "", "owned"),
    Op("print", "b", "none"),
    # Agents and capabilities. A vtable's functions take the capability value itself first; `capability.payload` is
    # what the vtable's capability.make was given. A vtable that holds a value of its own capability is limits, which
    # stand once in what is made: those inside are left out.
    Op("agent.make", "c*", "owned", ("agent",), pure=True),  # its capabilities in order
    Op("agent.capability", "b", "borrowed", ("index",), pure=True),
    Op("capability.make", "c", "owned", ("vtable",), pure=True),
    Op("capability.payload", "b", "borrowed", pure=True),
    # Limits (kv_limit_*): begin, one op per rule in order, then commit or refuse. `agent`, `limit`, `rule` are numbers.
    Op("audit.call", "b", "none", ("agent",)),  # a string: what the agent calls, under no limit
    Op("limit.begin", "", "none", ("agent", "limit")),
    Op("limit.key", "b", "none", ("rule",)),  # a string, before the op of a rule with a key
    Op("limit.condition", "b", "owned", ("rule",)),
    Op("limit.sum", "b", "owned", ("rule",)),  # int, duration or float
    Op("limit.count", "", "owned", ("rule",)),
    Op("limit.commit", "", "owned", suspends=True),  # outcome<answer>: answered when recorded, or denied
    Op("limit.refuse", "", "owned", ("rule",)),  # the reason
    # ask. Operands: the agent's number (-1: none), the prompt. `type` is what the answer must fit; `way` and `text` are
    # those of its JSON schema; a dry run answers `sample`, or fails with `problem` where it is not empty.
    Op("ask", "bb", "owned", ("type", "way", "text", "sample", "problem"), suspends=True),  # outcome<answer>
    Op("answer.kind", "b", "owned", pure=True),
    Op("answer.status", "b", "owned", pure=True),
    Op("answer.text", "c", "owned", pure=True),
    Op("answer.retry_after", "b", "owned", pure=True),  # the hidden field of `AiError.Failed`
    Op("json.check", "b", "owned", ("type",), pure=True),  # answer: how a text fits the type as JSON (kv_json_check)
    Op("decode", "b", "owned"),  # JSON that is known to fit the result's type
    # Terminators. `return` is the ok outcome where the function has one; `fail` and `return.cancelled` the others.
    Op("jump", "", "none", ("block",), terminator=True),
    Op("branch", "b", "none", ("then", "otherwise"), terminator=True),
    Op("switch", "b", "none", ("cases", "otherwise"), terminator=True),  # on an int: cases `0: block1, 1: block2`
    Op("return", "c", "none", terminator=True),
    Op("fail", "c", "none", terminator=True),
    Op("return.cancelled", "", "none", terminator=True),
    Op("unreachable", "", "none", terminator=True),
)
OPS: dict[str, Op] = {row.name: row for row in _ROWS}

# Ops that change what stands at the address that is their first operand, or may.
WRITES = (
    "store",
    "array.push",
    "element.address",
    "box.address",
    "value.address",
    "map.set",
    "map.remove",
    "builtin.change",
)

# What each attribute is: in Python, and in the text form.
AttributeKind = Literal[
    "value", "number", "name", "text", "way", "predicate", "depth", "local", "type", "block", "cases"
]
ATTRIBUTE_KINDS: dict[str, AttributeKind] = {
    "value": "value",  # int, float, bool or str, by the op
    "local": "local",
    "field": "number",  # indexes into the module's tables
    "variant": "number",
    "method": "number",
    "index": "number",
    "agent": "number",
    "limit": "number",
    "rule": "number",
    "function": "name",
    "capability": "name",
    "vtable": "name",
    "entry": "name",
    "text": "text",
    "sample": "text",
    "problem": "text",
    "way": "way",
    "predicate": "predicate",
    "depth": "depth",
    "type": "type",
    "block": "block",
    "then": "block",
    "otherwise": "block",
    "cases": "cases",
}
# The ops that change what stands at the address that they are given first, or make it its owner's alone.
PREDICATES = ("==", "!=", "<", "<=", ">", ">=")
DEPTHS = ("plain", "counted")
# How a schema goes to the model, in the order of kv_schema_way.
WAYS = ("none", "structured", "wrapped", "prompt")
