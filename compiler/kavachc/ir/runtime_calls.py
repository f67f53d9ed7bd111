"""The entries of the runtime that generated code may call, one row each: the compiler's view of `kavach.h`.

A test parses the header and compares. `kv_run` is called by hosts, never by generated code. The entries of the library
follow from its own table, `library.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from kavachc.ir.library import LIBRARY, LibraryEntry, carried, in_memory

Carried = Literal["none", "pointer", "int64", "int32", "float", "bool"]
# ends: never returns. allocates: gives memory that nothing else knows. reads: only reads, and always returns. small:
# needs no memory. Before calls of those with any other effect than ends, reads and small, the program says where it is.
Effect = Literal["any", "ends", "allocates", "reads", "small"]
# Where generated code tells the runtime that it is (a kv_caller); how low the stack may be before a recursive call.
HERE, STACK_LIMIT = "kv_here", "kv_stack_limit"
RUNTIME_VARIABLES = (HERE, STACK_LIMIT)


@dataclass(frozen=True, slots=True)
class RuntimeCall:
    name: str
    parameters: tuple[Carried, ...]
    result: Carried
    effect: Effect = "any"

    @property
    def needs_memory(self) -> bool:
        return self.effect in ("any", "allocates")


_ROWS = (
    # Memory.
    RuntimeCall("kv_allocate", ("int64",), "pointer", "allocates"),
    RuntimeCall("kv_free", ("pointer",), "none", "small"),
    RuntimeCall("kv_retain_value", ("pointer", "pointer"), "none", "small"),
    RuntimeCall("kv_release_value", ("pointer", "pointer"), "none", "small"),
    RuntimeCall("kv_live_blocks", (), "int64", "small"),
    RuntimeCall("kv_frame_allocate", ("int64",), "pointer", "allocates"),
    RuntimeCall("kv_frame_free", ("pointer",), "none", "small"),
    # Strings and text.
    RuntimeCall("kv_text_begin", ("pointer",), "none", "small"),
    RuntimeCall("kv_text_literal", ("pointer", "pointer", "int64"), "none"),
    RuntimeCall("kv_text_string", ("pointer", "pointer"), "none"),
    RuntimeCall("kv_text_int", ("pointer", "int64"), "none"),
    RuntimeCall("kv_text_float", ("pointer", "float"), "none"),
    RuntimeCall("kv_text_bool", ("pointer", "bool"), "none"),
    RuntimeCall("kv_text_duration", ("pointer", "int64"), "none"),
    RuntimeCall("kv_text_instant", ("pointer", "int64"), "none"),
    RuntimeCall("kv_text_value", ("pointer", "pointer", "pointer"), "none"),
    RuntimeCall("kv_text_shown", ("pointer", "pointer"), "pointer", "allocates"),
    RuntimeCall("kv_text_finish", ("pointer",), "pointer"),
    RuntimeCall("kv_string_new", ("pointer", "int64"), "pointer"),
    RuntimeCall("kv_string_concat", ("pointer", "pointer"), "pointer"),
    RuntimeCall("kv_string_equal", ("pointer", "pointer"), "bool", "reads"),
    RuntimeCall("kv_string_compare", ("pointer", "pointer"), "int32", "reads"),
    RuntimeCall("kv_equal", ("pointer", "pointer", "pointer"), "bool", "reads"),
    # Arrays.
    RuntimeCall("kv_array_new", ("pointer", "int64"), "pointer", "allocates"),
    RuntimeCall("kv_array_unique", ("pointer", "pointer"), "none"),
    RuntimeCall("kv_array_grow", ("pointer", "pointer"), "none"),
    RuntimeCall("kv_array_rest", ("pointer", "pointer", "int64"), "pointer", "allocates"),
    # Maps.
    RuntimeCall("kv_map_new", ("pointer", "int64"), "pointer", "allocates"),
    RuntimeCall("kv_map_find", ("pointer", "pointer", "pointer"), "pointer", "small"),
    RuntimeCall("kv_map_unique", ("pointer", "pointer"), "none"),
    RuntimeCall("kv_map_set", ("pointer", "pointer", "pointer", "pointer"), "none"),
    RuntimeCall("kv_map_remove", ("pointer", "pointer", "pointer"), "none"),
    RuntimeCall("kv_map_list", ("pointer", "pointer", "pointer", "int32"), "pointer", "allocates"),
    # Errors and panics.
    RuntimeCall("kv_error_new", ("pointer", "pointer"), "pointer", "allocates"),
    RuntimeCall("kv_panic", ("pointer", "int64", "pointer", "pointer"), "none", "ends"),
    RuntimeCall("kv_panic_index", ("int64", "int64", "pointer", "pointer"), "none", "ends"),
    RuntimeCall("kv_panic_key", ("pointer", "pointer", "pointer", "pointer"), "none", "ends"),
    RuntimeCall("kv_panic_shift", ("int64", "pointer", "pointer"), "none", "ends"),
    # Capabilities.
    RuntimeCall("kv_capability_limit", ("pointer", "pointer"), "pointer"),
    # Output.
    RuntimeCall("kv_print", ("pointer",), "none"),
    # Tasks.
    RuntimeCall("kv_task_new", ("pointer",), "pointer"),
    RuntimeCall("kv_task_outcome", ("pointer",), "pointer", "reads"),
    RuntimeCall("kv_task_start", ("pointer", "pointer"), "none"),
    RuntimeCall("kv_task_free", ("pointer",), "none", "small"),
    RuntimeCall("kv_task_wait", ("pointer", "pointer"), "bool"),
    RuntimeCall("kv_task_wait_for", ("pointer", "int64", "pointer"), "bool"),
    RuntimeCall("kv_task_ended", ("pointer",), "bool", "small"),
    RuntimeCall("kv_task_cancel", ("pointer",), "none"),
    RuntimeCall("kv_call", ("pointer",), "none", "small"),
    RuntimeCall("kv_return", ("pointer",), "none", "small"),
    RuntimeCall("kv_cancelled", (), "bool", "small"),
    RuntimeCall("kv_sleep", ("int64", "pointer"), "bool"),
    RuntimeCall("kv_now", (), "int64", "small"),
    # The ledger.
    RuntimeCall("kv_audit_call", ("int64", "pointer"), "none"),
    RuntimeCall("kv_limit_begin", ("int64", "int64"), "none"),
    RuntimeCall("kv_limit_key", ("int64", "pointer"), "none"),
    RuntimeCall("kv_limit_condition", ("int64", "bool"), "bool"),
    RuntimeCall("kv_limit_sum_int", ("int64", "int64"), "bool"),
    RuntimeCall("kv_limit_sum_float", ("int64", "float"), "bool"),
    RuntimeCall("kv_limit_count", ("int64",), "bool"),
    RuntimeCall("kv_limit_commit", ("pointer", "pointer"), "bool"),
    RuntimeCall("kv_limit_refuse", ("int64",), "pointer"),
    # ask.
    RuntimeCall("kv_ask", ("int64", "pointer", "pointer", "pointer", "pointer", "pointer"), "bool"),
    RuntimeCall("kv_json_check", ("pointer", "pointer", "pointer"), "none"),
    RuntimeCall("kv_decode", ("pointer", "pointer", "pointer"), "none"),
    # The parts of the runtime that only some programs link; `kv_program` points to them.
    RuntimeCall("kv_ledger_part", ("int32",), "none"),
    RuntimeCall("kv_audit_part", ("int32",), "none"),
    RuntimeCall("kv_model_part", ("int32",), "none"),
)


def _library_call(entry: LibraryEntry) -> RuntimeCall:
    parameters = [carried(type) for type in entry.parameters]
    if entry.is_generic:
        parameters.append("pointer")
    result = carried(entry.result)
    if in_memory(entry.result):
        parameters.append("pointer")
        result = "none"
    if entry.panics:
        parameters += ["pointer", "pointer"]
    if entry.waits:
        parameters.append("pointer")
        result = "bool"
    effect: Effect = "any" if entry.needs_memory else "small"
    return RuntimeCall(entry.symbol, cast(tuple[Carried, ...], tuple(parameters)), cast(Carried, result), effect)


LIBRARY_CALLS = {entry.symbol: _library_call(entry) for entry in LIBRARY.values()}
RUNTIME_CALLS: dict[str, RuntimeCall] = {**{row.name: row for row in _ROWS}, **LIBRARY_CALLS}
