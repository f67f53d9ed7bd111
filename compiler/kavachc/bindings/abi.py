"""The C ABI of the runtime (`runtime/include/kavach.h`) as ctypes: its structures, and one row per function.

A test reads the header and compares every structure, field, offset and prototype with this file.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
)
from enum import IntEnum
from typing import Any, Final


class Kind(IntEnum):
    INT = 0
    FLOAT = 1
    BOOL = 2
    NOTHING = 3
    STRING = 4
    DURATION = 5
    INSTANT = 6
    ARRAY = 7
    RECORD = 8
    SUM = 9
    TASK = 10
    AGENT = 11
    CAPABILITY = 12
    ERROR = 13
    OPTIONAL = 14
    TUPLE = 15
    BOX = 16
    MAP = 17
    FUNCTION = 18


class Status(IntEnum):
    OK = 0
    FAILED = 1
    CANCELLED = 2


class RuleKind(IntEnum):
    CONDITION = 0
    SUM_INT = 1
    SUM_FLOAT = 2
    COUNT = 3
    TOKENS = 4


class UnderWay(IntEnum):
    AVERAGE = 0
    LARGEST = 1
    NOT_COUNTED = 2


class Mode(IntEnum):
    ENFORCE = 0
    OBSERVE = 1


class Provider(IntEnum):
    ANTHROPIC = 0
    OPENAI = 1


class AnswerKind(IntEnum):
    ANSWERED = 0
    NO_KEY = 1
    FAILED_ASK = 2
    INVALID_OUTPUT = 3
    DENIED = 4


class SchemaWay(IntEnum):
    FREE_TEXT = 0
    STRUCTURED = 1
    WRAPPED = 2
    IN_PROMPT = 3


class MapPart(IntEnum):
    KEYS = 0
    VALUES = 1
    ENTRIES = 2


class FileOperation(IntEnum):
    READ = 0
    WRITE = 1
    APPEND = 2
    EXISTS = 3
    REMOVE = 4


class FileStatus(IntEnum):
    FILE_OK = 0
    FILE_NOT_FOUND = 1
    FILE_NOT_ALLOWED = 2
    FILE_NOT_TEXT = 3
    FILE_OTHER = 4


class ExchangeProblem(IntEnum):
    """Why there is no whole answer over HTTP; the same on every engine."""

    NO_PROBLEM = 0
    DROPPED = 1
    UNKNOWN_HOST = 2
    REFUSED = 3
    UNREACHABLE = 4
    UNTRUSTED = 5
    WRONG_NAME = 6
    TLS = 7
    TIMED_OUT = 8
    LATE = 9
    TOO_LARGE = 10
    MALFORMED = 11
    ABORTED = 12
    NO_AUTHORITIES = 13
    NO_FILES = 14
    NO_THREADS = 15


class Moment(IntEnum):
    """Of the program, for its parts; the header has no name for it."""

    START = 0
    END = 1


Coroutine = c_void_p


class TextView(Structure):
    _fields_ = (("bytes", c_void_p), ("length", c_int64))


# ---- Values. The bytes, elements and payloads that follow a block's fields have no field here.


class String(Structure):
    _fields_ = (("count", c_int64), ("length", c_int64))


class Array(Structure):
    _fields_ = (("count", c_int64), ("length", c_int64), ("capacity", c_int64))


class Type(Structure):
    """Its fields refer to itself, so they follow below."""


class Map(Structure):
    _fields_ = (("count", c_int64), ("length", c_int64), ("used", c_int64), ("capacity", c_int64))


class Error(Structure):
    _fields_ = (("count", c_int64), ("type", POINTER(Type)))


class Box(Structure):
    _fields_ = (("count", c_int64),)


class VTable(Structure):
    _fields_ = (("payload_type", POINTER(Type)),)


class Capability(Structure):
    _fields_ = (("count", c_int64), ("vtable", POINTER(VTable)))


class AgentHandle(Structure):
    _fields_ = (("count", c_int64), ("capability_count", c_int64))


# ---- Type descriptors


HoldsFunction = CFUNCTYPE(c_int64, c_void_p)


class Field(Structure):
    _fields_ = (
        ("name", TextView),
        ("type", POINTER(Type)),
        ("offset", c_int64),
        ("rule", TextView),
        ("holds", HoldsFunction),
    )


class Variant(Structure):
    _fields_ = (
        ("name", TextView),
        ("fields", POINTER(Field)),
        ("field_count", c_int64),
    )


Type._fields_ = (
    ("kind", c_int32),
    ("counted", c_int32),
    ("size", c_int64),
    ("alignment", c_int64),
    ("name", TextView),
    ("element", POINTER(Type)),
    ("fields", POINTER(Field)),
    ("field_count", c_int64),
    ("variants", POINTER(Variant)),
    ("variant_count", c_int64),
    ("key", POINTER(Type)),
)


# ---- Text, tasks, agents, answers


class Text(Structure):
    _fields_ = (("bytes", c_void_p), ("length", c_int64), ("capacity", c_int64))


class Outcome(Structure):
    _fields_ = (("status", c_int64), ("error", POINTER(Error)))


class Rule(Structure):
    _fields_ = (
        ("kind", c_int32),
        ("strict", c_int32),
        ("text", TextView),
        ("window_ns", c_int64),
        ("bound_int", c_int64),
        ("bound_float", c_double),
        ("keyed", c_int64),
    )


class Limit(Structure):
    _fields_ = (("target", TextView), ("rules", POINTER(Rule)), ("rule_count", c_int64))


class Model(Structure):
    _fields_ = (
        ("name", TextView),
        ("base_url", TextView),
        ("max_tokens", c_int64),
        ("context_budget", c_int64),
        ("timeout_ns", c_int64),
        ("provider", c_int32),
        ("reserved", c_int32),
    )


class Agent(Structure):
    _fields_ = (
        ("name", TextView),
        ("model", Model),
        ("asks_under_way", c_int32),
        ("mode", c_int32),
        ("ai_limit", c_int32),
        ("reserved", c_int32),
        ("limits", POINTER(Limit)),
        ("limit_count", c_int64),
    )


class Schema(Structure):
    _fields_ = (("way", c_int32), ("text", TextView), ("sample", TextView), ("problem", TextView))


class Answer(Structure):
    _fields_ = (("kind", c_int64), ("status", c_int64), ("text", POINTER(String)), ("retry_after", c_int64))


# ---- The host, the options, the program


class Header(Structure):
    _fields_ = (("name", TextView), ("value", TextView))


class Exchange(Structure):
    _fields_ = (
        ("method", TextView),
        ("url", TextView),
        ("headers", POINTER(Header)),
        ("header_count", c_int64),
        ("body", TextView),
        ("connect_limit_ns", c_int64),
        ("limit_ns", c_int64),
        ("body_bytes_max", c_int64),
        ("host", c_void_p),
    )


# Bytes that the runtime passes come as an address and a length: they need not end in NUL.
WriteFunction = CFUNCTYPE(c_bool, c_void_p, c_int32, c_void_p, c_int64)
IsTerminalFunction = CFUNCTYPE(c_bool, c_void_p, c_int32)
ClockFunction = CFUNCTYPE(c_int64, c_void_p)
RandomFunction = CFUNCTYPE(c_uint64, c_void_p)
SleepFunction = CFUNCTYPE(None, c_void_p, c_int64)
LookUpFunction = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_int64, POINTER(TextView))
WriteFileFunction = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_int64, c_void_p, c_int64)
FileFunction = CFUNCTYPE(c_int32, c_void_p, c_int32, c_void_p, c_int64, c_void_p, c_int64, POINTER(TextView))
ExitFunction = CFUNCTYPE(None, c_void_p, c_int32)
ExchangeFunction = CFUNCTYPE(None, c_void_p, POINTER(Exchange))
WakeFunction = CFUNCTYPE(None, c_void_p)


class Host(Structure):
    _fields_ = (
        ("context", c_void_p),
        ("write", WriteFunction),
        ("is_terminal", IsTerminalFunction),
        ("monotonic_ns", ClockFunction),
        ("utc_ns", ClockFunction),
        ("random", RandomFunction),
        ("sleep", SleepFunction),
        ("environment", LookUpFunction),
        ("read_file", LookUpFunction),
        ("write_file", WriteFileFunction),
        ("exit", ExitFunction),
        ("file", FileFunction),
        ("send", ExchangeFunction),
        ("abort", ExchangeFunction),
        ("wait", SleepFunction),
        ("wake", WakeFunction),
    )


class Options(Structure):
    _fields_ = (
        ("dry_run", c_int32),
        ("virtual_time", c_int32),
        ("test_model", TextView),
        ("report", TextView),
        ("state_file", TextView),
        ("arguments", POINTER(TextView)),
        ("argument_count", c_int64),
        ("audit_log", TextView),
        ("audit_prompts", c_int32),
        ("reserved", c_int32),
    )


MainFunction = CFUNCTYPE(Coroutine, POINTER(Outcome), Coroutine)
ResumeFunction = CFUNCTYPE(None, Coroutine)
PartFunction = CFUNCTYPE(None, c_int32)


class TracedFunction(Structure):
    _fields_ = (("name", TextView), ("file", TextView))


class Site(Structure):
    _fields_ = (("function", POINTER(TracedFunction)), ("line", c_uint32), ("column", c_uint32))


class Caller(Structure):
    pass


Caller._fields_ = (("parent", POINTER(Caller)), ("site", POINTER(Site)))


class Program(Structure):
    _fields_ = (
        ("main", MainFunction),
        ("resume", ResumeFunction),
        ("agents", POINTER(Agent)),
        ("agent_count", c_int64),
        ("ledger_part", PartFunction),
        ("model_part", PartFunction),
    )


#: The name of each structure in the header.
STRUCTURES: Final[dict[str, type[Structure]]] = {
    "kv_text_view": TextView,
    "kv_string": String,
    "kv_array": Array,
    "kv_map": Map,
    "kv_box": Box,
    "kv_error": Error,
    "kv_vtable": VTable,
    "kv_capability": Capability,
    "kv_agent_handle": AgentHandle,
    "kv_field": Field,
    "kv_variant": Variant,
    "kv_type": Type,
    "kv_text": Text,
    "kv_traced_function": TracedFunction,
    "kv_site": Site,
    "kv_caller": Caller,
    "kv_outcome": Outcome,
    "kv_rule": Rule,
    "kv_limit": Limit,
    "kv_model": Model,
    "kv_agent": Agent,
    "kv_schema": Schema,
    "kv_answer": Answer,
    "kv_header": Header,
    "kv_exchange": Exchange,
    "kv_host": Host,
    "kv_options": Options,
    "kv_program": Program,
}

ENUMERATIONS: Final[dict[str, type[IntEnum]]] = {
    "kv_kind": Kind,
    "kv_status": Status,
    "kv_rule_kind": RuleKind,
    "kv_under_way": UnderWay,
    "kv_mode": Mode,
    "kv_provider": Provider,
    "kv_schema_way": SchemaWay,
    "kv_answer_kind": AnswerKind,
    "kv_map_part": MapPart,
    "kv_file_operation": FileOperation,
    "kv_file_status": FileStatus,
    "kv_exchange_problem": ExchangeProblem,
}

_type = POINTER(Type)
_string = POINTER(String)
_text = POINTER(Text)
_slot = POINTER(POINTER(Array))
_map_slot = POINTER(POINTER(Map))
# The site of a panic, and the caller: generated code gives them.
_place = (POINTER(Site), POINTER(Caller))

#: One row per function: its result and its arguments.
FUNCTIONS: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    # Memory
    "kv_allocate": (c_void_p, (c_int64,)),
    "kv_free": (None, (c_void_p,)),
    "kv_retain_value": (None, (_type, c_void_p)),
    "kv_release_value": (None, (_type, c_void_p)),
    "kv_live_blocks": (c_int64, ()),
    "kv_frame_allocate": (c_void_p, (c_int64,)),
    "kv_frame_free": (None, (c_void_p,)),
    # Strings and text
    "kv_text_begin": (None, (_text,)),
    "kv_text_literal": (None, (_text, c_char_p, c_int64)),
    "kv_text_string": (None, (_text, _string)),
    "kv_text_int": (None, (_text, c_int64)),
    "kv_text_float": (None, (_text, c_double)),
    "kv_text_bool": (None, (_text, c_bool)),
    "kv_text_duration": (None, (_text, c_int64)),
    "kv_text_instant": (None, (_text, c_int64)),
    "kv_text_value": (None, (_text, _type, c_void_p)),
    "kv_text_shown": (_string, (_type, c_void_p)),
    "kv_text_finish": (_string, (_text,)),
    "kv_string_new": (_string, (c_char_p, c_int64)),
    "kv_string_concat": (_string, (_string, _string)),
    "kv_string_equal": (c_bool, (_string, _string)),
    "kv_string_compare": (c_int32, (_string, _string)),
    "kv_equal": (c_bool, (_type, c_void_p, c_void_p)),
    # Arrays
    "kv_array_new": (POINTER(Array), (_type, c_int64)),
    "kv_array_unique": (None, (_slot, _type)),
    "kv_array_grow": (None, (_slot, _type)),
    "kv_array_rest": (POINTER(Array), (POINTER(Array), _type, c_int64)),
    "kv_capability_limit": (POINTER(Capability), (POINTER(VTable), POINTER(Capability))),
    # Errors, panics, output
    "kv_error_new": (POINTER(Error), (_type, c_void_p)),
    "kv_map_new": (POINTER(Map), (_type, c_int64)),
    "kv_map_find": (c_void_p, (_type, POINTER(Map), c_void_p)),
    "kv_map_unique": (None, (_map_slot, _type)),
    "kv_map_set": (None, (_map_slot, _type, c_void_p, c_void_p)),
    "kv_map_remove": (None, (_map_slot, _type, c_void_p)),
    "kv_map_list": (POINTER(Array), (_type, POINTER(Map), _type, c_int32)),
    "kv_panic": (None, (c_char_p, c_int64, *_place)),
    "kv_panic_index": (None, (c_int64, c_int64, *_place)),
    "kv_panic_key": (None, (_type, c_void_p, *_place)),
    "kv_panic_shift": (None, (c_int64, *_place)),
    "kv_print": (None, (_string,)),
    # Tasks
    "kv_task_new": (c_void_p, (_type,)),
    "kv_task_outcome": (POINTER(Outcome), (c_void_p,)),
    "kv_task_start": (None, (c_void_p, Coroutine)),
    "kv_task_free": (None, (c_void_p,)),
    "kv_task_wait": (c_bool, (c_void_p, Coroutine)),
    "kv_task_wait_for": (c_bool, (c_void_p, c_int64, Coroutine)),
    "kv_task_ended": (c_bool, (c_void_p,)),
    "kv_task_cancel": (None, (c_void_p,)),
    "kv_call": (None, (Coroutine,)),
    "kv_return": (None, (Coroutine,)),
    "kv_cancelled": (c_bool, ()),
    "kv_sleep": (c_bool, (c_int64, Coroutine)),
    "kv_now": (c_int64, ()),
    # The ledger
    "kv_audit_call": (None, (c_int64, _string)),
    "kv_limit_begin": (None, (c_int64, c_int64)),
    "kv_limit_key": (None, (c_int64, _string)),
    "kv_limit_condition": (c_bool, (c_int64, c_bool)),
    "kv_limit_sum_int": (c_bool, (c_int64, c_int64)),
    "kv_limit_sum_float": (c_bool, (c_int64, c_double)),
    "kv_limit_count": (c_bool, (c_int64,)),
    "kv_limit_commit": (c_bool, (POINTER(Answer), Coroutine)),
    "kv_limit_refuse": (_string, (c_int64,)),
    # ask
    "kv_ask": (c_bool, (c_int64, _type, POINTER(Schema), _string, POINTER(Answer), Coroutine)),
    "kv_json_check": (None, (_type, _string, POINTER(Answer))),
    "kv_decode": (None, (_type, _string, c_void_p)),
    # HTTP: what the host reports, from any thread
    "kv_exchange_header": (None, (POINTER(Exchange), c_char_p, c_int64, c_char_p, c_int64)),
    "kv_exchange_body": (c_bool, (POINTER(Exchange), c_char_p, c_int64)),
    "kv_exchange_end": (None, (POINTER(Exchange), c_int32, c_int32)),
    # The run
    "kv_run": (c_int32, (POINTER(Program), POINTER(Host), POINTER(Options))),
    "kv_ledger_part": (None, (c_int32,)),
    "kv_audit_part": (None, (c_int32,)),
    "kv_model_part": (None, (c_int32,)),
}
