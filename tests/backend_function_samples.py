"""IR programs about function values, and about windows of their own for each key."""

from __future__ import annotations

from backend_programs import IrProgram

FUNCTIONS = IrProgram(
    """
entry main
function apply(%f: fn(int) -> string, %x: int) -> string "main.kav" @1:1 {
entry:
  %text: string = call.value plain %f, %x @1:1
  return %text
}
function make(%name: string, %n: int) -> fn(int) -> string "main.kav" @2:1 {
entry:
  %kept: string = copy %name
  %f: fn(int) -> string = function.make closure %kept, %n
  return %f
}
function closure(%self: fn(int) -> string, %x: int) -> string captures [string, int] "main.kav" @3:1 {
entry:
  %name: string = function.capture 0 %self
  %n: int = function.capture 1 %self
  %sum: int = int.add %x, %n @3:1
  %text: string = text.make %name, %sum
  return %text
}
function main() -> nothing ! error waits "main.kav" @4:1 {
entry:
  %a: string = const.string "a"
  %joined: string = string.concat %a, %a
  %forty: int = const.int 40
  %f: fn(int) -> string = call make plain %joined, %forty @4:1
  release %joined
  %two: int = const.int 2
  %first: string = call apply plain %f, %two @4:1
  show %first
  release %first
  %again: fn(int) -> string = copy %f
  release %f
  %second: string = call apply plain %again, %forty @4:1
  show %second
  release %second
  release %again
  %end: nothing = const.nothing
  return %end
}
""",
    "aa42\naa80\n",
)

KEYED = IrProgram(
    """
entry main
agent Payer {
  model "m" 10 Anthropic at "http://localhost:1" budget 9 within 5
  settings Average Enforce
  capabilities []
  limit Payments.pay {
    sum_int "sum(amount) <= 10 per day by who" <= 10 per 86400000000000 keyed
  }
}
function pay(%who: string, %amount: int) -> nothing waits "main.kav" @1:1 {
entry:
  audit.call 0 %who
  limit.begin 0 0
  limit.key 0 %who
  %fits: bool = limit.sum 0 %amount
  branch %fits record refuse
record:
  %durable: outcome<answer> = limit.commit
  %how: int = outcome.status %durable
  switch %how [0: known] stopped
stopped:
  outcome.none %durable
  return.cancelled
known:
  %answer: answer = outcome.value %durable
  release %answer
  show %who, %amount
  jump leave
refuse:
  %reason: string = limit.refuse 0
  show %who, %reason
  release %reason
  jump leave
leave:
  %end: nothing = const.nothing
  return %end
}
function main() -> nothing ! error waits "main.kav" @2:1 {
entry:
  %x: string = const.string "x"
  %y: string = const.string "y"
  %eight: int = const.int 8
  %a: outcome<nothing> = call pay plain %x, %eight @2:1
  outcome.none %a
  %b: outcome<nothing> = call pay plain %x, %eight @2:1
  outcome.none %b
  %c: outcome<nothing> = call pay plain %y, %eight @2:1
  outcome.none %c
  %end: nothing = const.nothing
  return %end
}
""",
    "x 8\nx limit broken: sum(amount) <= 10 per day by who\ny 8\n",
)
