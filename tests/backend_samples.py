"""IR programs that together execute every op, and ones that panic; `test_backend_run.py` runs them."""

from __future__ import annotations

from backend_function_samples import FUNCTIONS, KEYED
from backend_http_samples import HTTP_DRY
from backend_library_samples import MAPS
from backend_programs import IrProgram, main_of
from backend_task_samples import AGENTS, ASK_DRY, ASK_SCRIPTED, CANCELLED_WAITS, TASKS
from backend_value_samples import ARITHMETIC, ARRAYS, BOXES, COMPARISON, ERRORS, OPTIONALS, RECORDS, SUMS

_DEEP = """
function down(%n: int) -> int "main.kav" @1:1 {
entry:
  %zero: int = const.int 0
  %done: bool = int.compare == %n, %zero
  branch %done bottom further
bottom:
  return %zero
further:
  %one: int = const.int 1
  %less: int = int.sub %n, %one
  %below: int = call down counted %less @2:5
  %sum: int = int.add %below, %n
  return %sum
}
"""
DEEP = IrProgram(
    main_of(
        """
  %n: int = const.int 100000
  %a: int = call down plain %n @3:1
  show %a
  %b: int = call down plain %n @3:1
  show %b
""",
        _DEEP,
    ),
    "5000050000\n5000050000\n",
)

SAMPLES = {
    "arithmetic": ARITHMETIC,
    "comparison": COMPARISON,
    "records": RECORDS,
    "sums": SUMS,
    "arrays": ARRAYS,
    "optionals": OPTIONALS,
    "boxes": BOXES,
    "errors": ERRORS,
    "maps": MAPS,
    "http_dry": HTTP_DRY,
    "tasks": TASKS,
    "cancelled_waits": CANCELLED_WAITS,
    "functions": FUNCTIONS,
    "agents": AGENTS,
    "keyed": KEYED,
    "ask_dry": ASK_DRY,
    "ask_scripted": ASK_SCRIPTED,
    "deep": DEEP,
}


def _panic(body: str, message: str, before: str = "", trace: str = "") -> IrProgram:
    constants = """
  show "before"
  %most: int = const.int 9223372036854775807
  %least: int = const.int -9223372036854775808
  %one: int = const.int 1
  %minus: int = const.int -1
  %zero: int = const.int 0
"""
    return IrProgram(
        main_of(constants + body, before, "local &xs: [int]"),
        "before\n",
        f"panic: {message} at main.kav:7:8\n{trace}",
        101,
    )


PANICS = {
    "add": _panic("%r: int = int.add %most, %one @7:8", "integer overflow"),
    "sub": _panic("%r: int = int.sub %least, %one @7:8", "integer overflow"),
    "mul": _panic("%r: int = int.mul %most, %least @7:8", "integer overflow"),
    "neg": _panic("%r: int = int.neg %least @7:8", "integer overflow"),
    "div": _panic("%r: int = int.div %least, %minus @7:8", "integer overflow"),
    "div_zero": _panic("%r: int = int.div %one, %zero @7:8", "division by zero"),
    "rem_zero": _panic("%r: int = int.rem %one, %zero @7:8", "division by zero"),
    "shl": _panic("%r: int = int.shl %one, %minus @7:8", "shift by -1 is outside 0..63"),
    "shr": _panic("%s: int = const.int 64\n%r: int = int.shr %one, %s @7:8", "shift by 64 is outside 0..63"),
    "array_get": _panic(
        "%xs: [int] = array.make %one\n%r: int = array.get %xs, %one @7:8\nrelease %xs",
        "index 1 is out of range: the length is 1",
    ),
    "element_address": _panic(
        "%xs: [int] = array.make %one\nlocal.set &xs %xs\n%at: address<[int]> = local.address &xs\n"
        "%r: address<int> = element.address %at, %minus @7:8\n%ys: [int] = local.take &xs\nrelease %ys",
        "index -1 is out of range: the length is 1",
    ),
    "text": _panic(
        '%name: string = const.string "a\\n"\n%shown: string = text.shown %name\npanic %shown @7:8\nrelease %shown',
        '"a\\n"',
    ),
    "depth": _panic(
        "%n: int = const.int 100001\n%a: int = call down plain %n @3:1",
        "calls are nested more than 100000 deep",
        _DEEP.replace("@2:5", "@7:8"),
        # The first call is not counted, so there is one more than the 100,000 that may be nested.
        "  in down, called at main.kav:7:8\n" * 10
        + "  … 99982 more\n"
        + "  in down, called at main.kav:7:8\n" * 8
        + "  in down, called at main.kav:3:1\n",
    ),
}
