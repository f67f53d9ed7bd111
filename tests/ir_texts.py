"""IR written in tests: a prelude of types and functions to use, and ways to say what is expected of a body."""

from __future__ import annotations

from textwrap import dedent

from kavachc.ir.module import Module
from kavachc.ir.parser import parse_module
from kavachc.ir.printer import print_function

PRELUDE = """
record Pair {
  left: int
  right: string
}

record Point {
  x: int
}

sum Shape {
  Dot
  Line(length: int, name: string)
}

sum List {
  Nil
  Cons(head: int, tail: $List)
}

capability Payments {
  refund(int) -> nothing ! $Shape
  later(int) -> int waits
}

agent Refunder {
  model "m" 4096 Anthropic at "http://localhost:1" budget 9 within 5
  settings Average Enforce
  capabilities [Payments]
  limit Payments.refund {
    condition "amount > 0" <= 0 per 0
    sum_int "sum(amount) <= 700 per day" <= 700 per 86400000000000
  }
}

vtable bank Payments $Pair [bank.refund, bank.later]

function bank.refund(%self: $Payments, %amount: int) -> nothing ! $Shape "bank.kav" {
entry:
  %1: nothing = const.nothing
  return %1
}

function bank.later(%self: $Payments, %amount: int) -> int waits "bank.kav" {
entry:
  return %amount
}

function show(%xs: [string]) -> nothing "show.kav" {
entry:
  %1: nothing = const.nothing
  return %1
}

function half(%n: int) -> int ! $Shape "half.kav" {
entry:
  return %n
}

function wait(%n: int) -> int ! error waits "wait.kav" {
entry:
  return %n
}

function job(%text: string) -> string ! error waits owns "job.kav" {
entry:
  return %text
}
"""


def function_text(body: str, head: str = "f() -> nothing") -> str:
    """A function whose body (locals and blocks) is `body`."""
    return f'function {head} "f.kav" {{\n{dedent(body).strip(chr(10))}\n}}\n'


def module_of(body: str, head: str = "f() -> nothing") -> Module:
    """The prelude, and a function with this body."""
    return parse_module(PRELUDE + function_text(body, head))


def body_of(module: Module, name: str = "f") -> str:
    """The body of a function, as `function_text` takes it."""
    return print_function(module.functions[name]).split("\n", 1)[1].rsplit("}\n", 1)[0]


def same_body(actual: str, expected: str) -> bool:
    return [line.strip() for line in actual.strip().splitlines()] == [
        line.strip() for line in expected.strip().splitlines()
    ]
