"""IR programs that together execute every op; `test_backend_run.py` runs them."""

from __future__ import annotations

from pathlib import Path

from backend_programs import IrProgram, main_of

VIRTUAL = {"KAVACH_VIRTUAL_TIME": "1"}

ARITHMETIC = IrProgram(
    main_of(
        """
  %seven: int = const.int 7
  %two: int = const.int -2
  %a: int = int.add %seven, %two
  %b: int = int.sub %seven, %two
  %c: int = int.mul %seven, %two
  %d: int = int.div %seven, %two
  %e: int = int.rem %seven, %two
  %f: int = int.neg %seven
  show %a, %b, %c, %d, %e, %f
  %least: int = const.int -9223372036854775808
  %minus: int = const.int -1
  %three: int = const.int 3
  %g: int = int.rem %least, %minus
  %h: int = int.shl %three, %three
  %i: int = int.shr %least, %three
  %j: int = int.and %seven, %three
  %k: int = int.or %seven, %two
  %l: int = int.xor %seven, %three
  %m: int = int.not %seven
  %n: int = int.step %seven
  show %g, %h, %i, %j, %k, %l, %m, %n
  %day: duration = const.int 86400000000000
  %at: instant = const.int 1767225600000000000
  %later: instant = int.add %at, %day
  %long: duration = int.mul %day, %three
  %ratio: int = int.div %long, %day
  %gone: duration = int.sub %at, %later
  show %later, %long, %ratio, %gone
  %x: float = const.float 7.5
  %y: float = const.float -2.0
  %p: float = float.add %x, %y
  %q: float = float.sub %x, %y
  %r: float = float.mul %x, %y
  %s: float = float.div %x, %y
  %t: float = float.rem %x, %y
  %u: float = float.neg %x
  show %p, %q, %r, %s, %t, %u
  %yes: bool = const.bool true
  %no: bool = bool.not %yes
  %nothing: nothing = const.nothing
  show %yes, %no, %nothing
"""
    ),
    "5 9 -14 -3 1 -7\n0 24 -1152921504606846976 3 -1 4 -8 8\n2026-01-02T00:00:00Z 3d 3 -1d\n"
    "5.5 9.5 -15.0 -3.75 1.5 -7.5\ntrue false ()\n",
)

COMPARISON = IrProgram(
    main_of(
        """
  %one: int = const.int 1
  %two: int = const.int 2
  %a: bool = int.compare == %one, %two
  %b: bool = int.compare != %one, %two
  %c: bool = int.compare < %one, %two
  %d: bool = int.compare <= %two, %two
  %e: bool = int.compare > %one, %two
  %f: bool = int.compare >= %one, %two
  show %a, %b, %c, %d, %e, %f
  %yes: bool = const.bool true
  %no: bool = const.bool false
  %g: bool = int.compare < %no, %yes
  %nan: float = const.float nan
  %h: bool = float.compare != %nan, %nan
  %i: bool = float.compare == %nan, %nan
  %j: bool = float.compare <= %nan, %nan
  %k: bool = equal %nan, %nan
  show %g, %h, %i, %j, %k
  %s: string = const.string "ab"
  %t: string = const.string "b"
  %l: bool = string.compare < %s, %t
  %m: bool = string.compare == %s, %t
  %n: bool = string.compare != %s, %t
  %o: bool = string.compare >= %s, %t
  %joined: string = string.concat %s, %t
  %u: string = const.string "abb"
  %p: bool = equal %joined, %u
  show %l, %m, %n, %o, %joined, %p
  release %joined
  release %s
  release %t
  release %u
"""
    ),
    "false true true true false false\ntrue true false false false\ntrue false true false abb true\n",
)

TYPES = """
record Point "where something is" { x: int "across" y: float on: bool }
record Named { name: string place: $Point tags: [string] }
record Empty {}
sum Light { Red Amber Green }
sum Shape {
  Dot(label: string)
  Line(from: $Point, to: $Point, thick: bool)
  Group(parts: [$Shape], label: string, count: int)
}
"""

RECORDS = IrProgram(
    main_of(
        """
  %x: int = const.int 3
  %y: float = const.float 0.5
  %on: bool = const.bool true
  %point: $Point = record.make %x, %y, %on
  %name: string = const.string "n{}"
  %tag: string = text.make %x, %name
  %tag2: string = copy %tag
  %tags: [string] = array.make %tag, %tag2
  %named: $Named = record.make %name, %point, %tags
  %other: $Named = copy %named
  %same: bool = equal %named, %other
  %gotten: $Point = record.get 1 %named
  %lit: bool = record.get 2 %gotten
  %across: int = record.get 0 %gotten
  show %named, %same, %lit, %across
  local.set &kept %named
  %whole: address<$Named> = local.address &kept
  %inner: address<$Point> = field.address 1 %whole
  %flag: address<bool> = field.address 2 %inner
  %no: bool = const.bool false
  store %flag, %no
  %title: address<string> = field.address 0 %whole
  %new: string = text.make %y
  store %title, %new
  %again: bool = load %flag
  %now: $Named = local.get &kept
  %differ: bool = equal %now, %other
  show %now, %other, %again, %differ
  %points: bool = equal %point, %gotten
  %empty: $Empty = record.make
  %empty2: $Empty = record.make
  %alike: bool = equal %empty, %empty2
  show %points, %empty, %alike
  %taken: $Named = local.take &kept
  release %taken
  release %other
""",
        TYPES,
        "local &kept: $Named",
    ),
    'Named(name: "n\\{\\}", place: Point(x: 3, y: 0.5, on: true), tags: ["3n\\{\\}", "3n\\{\\}"]) true true 3\n'
    'Named(name: "0.5", place: Point(x: 3, y: 0.5, on: false), tags: ["3n\\{\\}", "3n\\{\\}"]) '
    'Named(name: "n\\{\\}", place: Point(x: 3, y: 0.5, on: true), tags: ["3n\\{\\}", "3n\\{\\}"]) false false\n'
    "true Empty() true\n",
)

SUMS = IrProgram(
    main_of(
        """
  %red: $Light = variant.make 0
  %green: $Light = variant.make 2
  %a: bool = equal %red, %green
  %b: bool = equal %green, %green
  %tag: int = variant.tag %green
  show %red, %green, %a, %b, %tag
  %one: int = const.int 1
  %half: float = const.float 0.5
  %yes: bool = const.bool true
  %no: bool = const.bool false
  %from: $Point = record.make %one, %half, %no
  %two: int = const.int 2
  %to: $Point = record.make %two, %half, %yes
  %line: $Shape = variant.make 1 %from, %to, %yes
  %end: $Point = variant.get 1 1 %line
  %across: int = record.get 0 %end
  %thick: bool = variant.get 1 2 %line
  show %line, %across, %thick
  %label: string = text.make %one
  %dot: $Shape = variant.make 0 %label
  %dot2: $Shape = copy %dot
  %same: bool = equal %dot, %dot2
  %parts: [$Shape] = array.make %dot, %line, %dot2
  %title: string = const.string "all"
  %group: $Shape = variant.make 2 %parts, %title, %two
  %parts2: [$Shape] = variant.get 2 0 %group
  %count: int = array.length %parts2
  %group2: $Shape = copy %group
  %alike: bool = equal %group, %group2
  show %group, %same, %count, %alike
  release %group
  release %group2
""",
        TYPES,
    )
    .replace("%end: nothing", "%last: nothing")
    .replace("return %end", "return %last"),
    "Red Green false true 2\n"
    "Line(from: Point(x: 1, y: 0.5, on: false), to: Point(x: 2, y: 0.5, on: true), thick: true) 2 true\n"
    'Group(parts: [Dot(label: "1"), '
    "Line(from: Point(x: 1, y: 0.5, on: false), to: Point(x: 2, y: 0.5, on: true), thick: true), "
    'Dot(label: "1")], label: "all", count: 2) true 3 true\n',
)

ARRAYS = IrProgram(
    """
entry main
function main() -> nothing ! error waits "main.kav" @1:1 {
  local &xs: [int]
  local &counter: int
  local &rows: [[string]]
  local &flags: [bool]
entry:
  %empty: [int] = array.make
  local.set &xs %empty
  %zero: int = const.int 0
  local.set &counter %zero
  jump head
head:
  %i: int = local.get &counter
  %twenty: int = const.int 20
  %more: bool = int.compare < %i, %twenty
  branch %more body after
body:
  %slot: address<[int]> = local.address &xs
  %square: int = int.mul %i, %i
  array.push %slot, %square
  %next: int = int.step %i
  local.set &counter %next
  jump head
after:
  %before: [int] = local.get &xs
  %kept: [int] = copy %before
  %slot2: address<[int]> = local.address &xs
  %three: int = const.int 3
  %element: address<int> = element.address %slot2, %three
  %minus: int = const.int -1
  store %element, %minus
  %xs: [int] = local.get &xs
  %old: int = array.get %kept, %three
  %new: int = array.get %xs, %three
  %unchecked: int = array.at %xs, %zero
  %length: int = array.length %xs
  show %old, %new, %unchecked, %length
  show %kept
  show %xs
  release %kept
  %xs2: [int] = local.take &xs
  release %xs2
  %word: string = text.make %three
  %word2: string = copy %word
  %row: [string] = array.make %word
  %row2: [string] = copy %row
  %rows: [[string]] = array.make %row, %row2
  %rows2: [[string]] = copy %rows
  local.set &rows %rows
  %at: address<[[string]]> = local.address &rows
  %first: address<[string]> = element.address %at, %zero
  array.push %first, %word2
  %one: int = const.int 1
  %second: address<[string]> = element.address %at, %one
  %cell: address<string> = element.address %second, %zero
  %x: string = const.string "x"
  store %cell, %x
  %rows3: [[string]] = local.get &rows
  show %rows2, %rows3
  %same: bool = equal %rows2, %rows3
  %held: [[string]] = copy %rows3
  %alike: bool = equal %held, %rows3
  show %same, %alike
  release %held
  release %rows2
  %rows4: [[string]] = local.take &rows
  release %rows4
  %yes: bool = const.bool true
  %no: bool = const.bool false
  %flags: [bool] = array.make %yes, %no
  local.set &flags %flags
  %flagsat: address<[bool]> = local.address &flags
  %flag: address<bool> = element.address %flagsat, %one
  store %flag, %yes
  array.push %flagsat, %no
  %flags2: [bool] = local.get &flags
  %bit: bool = array.get %flags2, %one
  show %flags2, %bit
  %flags3: [bool] = local.take &flags
  release %flags3
  %end: nothing = const.nothing
  return %end
}
""",
    "9 -1 0 20\n"
    "[0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361]\n"
    "[0, 1, 4, -1, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225, 256, 289, 324, 361]\n"
    '[["3"], ["3"]] [["3", "3"], ["x"]]\nfalse true\n[true, true, false] true\n',
)

ERRORS = IrProgram(
    """
entry main
record Wide { a: int b: float c: string d: int e: bool f: int g: float h: int i: int j: string }
sum Trouble { Small Big(why: string) }
record Lost { place: int }

function risky(%n: int) -> $Wide ! $Trouble "main.kav" @1:1 {
entry:
  switch %n [0: good, 1: small, 2: big] never
good:
  %f: float = const.float 1.5
  %s: string = text.make %n
  %s2: string = copy %s
  %b: bool = const.bool true
  %wide: $Wide = record.make %n, %f, %s, %n, %b, %n, %f, %n, %n, %s2
  return %wide
small:
  %one: $Trouble = variant.make 0
  fail %one
big:
  %why: string = const.string "because"
  %two: $Trouble = variant.make 1 %why
  fail %two
never:
  unreachable
}

function careful(%n: int) -> bool ! error "main.kav" @2:1 {
entry:
  %o: outcome<$Wide, $Trouble> = call risky plain %n @3:1
  %status: int = outcome.status %o
  switch %status [0: ok] failed
ok:
  %wide: $Wide = outcome.value %o
  show %wide
  release %wide
  %yes: bool = const.bool true
  return %yes
failed:
  %trouble: $Trouble = outcome.error %o
  %error: error = error.make %trouble
  fail %error
}

function checked(%n: int) -> nothing "main.kav" @4:1 {
entry:
  %o: outcome<bool, error> = call careful plain %n @5:1
  %status: int = outcome.status %o
  switch %status [0: ok] failed
ok:
  %value: bool = outcome.value %o
  show %value
  jump end
failed:
  %error: error = outcome.error %o
  %kept: error = copy %error
  %is: bool = error.is $Trouble %error
  %isnot: bool = error.is $Lost %error
  %trouble: $Trouble = error.get %error
  %tag: int = variant.tag %trouble
  show %error, %is, %isnot, %tag, %trouble
  release %error
  release %kept
  jump end
end:
  %nothing: nothing = const.nothing
  return %nothing
}

function main() -> nothing ! error waits "main.kav" @1:1 {
entry:
  %zero: int = const.int 0
  %one: int = const.int 1
  %two: int = const.int 2
  %a: nothing = call checked plain %zero @6:1
  %b: nothing = call checked plain %one @7:1
  %c: nothing = call checked plain %two @8:1
  show %a
  %place: int = const.int 9
  %lost: $Lost = record.make %place
  %error: error = error.make %lost
  fail %error
}
""",
    'Wide(a: 0, b: 1.5, c: "0", d: 0, e: true, f: 0, g: 1.5, h: 0, i: 0, j: "0")\ntrue\n'
    'Small true false 0 Small\nBig(why: "because") true false 1 Big(why: "because")\n()\n',
    "error: Lost(place: 9)\n",
    1,
)

TASKS = IrProgram(
    """
entry main
record Bad { n: int }

function deep(%n: int, %text: string) -> string ! $Bad waits "main.kav" @1:1 {
entry:
  %zero: int = const.int 0
  %done: bool = int.compare == %n, %zero
  branch %done bottom further
bottom:
  %ms: duration = const.int 1000000
  %o: outcome<nothing> = sleep %ms
  %status: int = outcome.status %o
  switch %status [0: slept] cancelled
slept:
  %got: nothing = outcome.value %o
  %result: string = string.concat %text, %text
  return %result
further:
  %one: int = const.int 1
  %less: int = int.sub %n, %one
  %p: outcome<string, $Bad> = call deep counted %less, %text @2:1
  %status2: int = outcome.status %p
  switch %status2 [0: ok, 1: failed] cancelled2
ok:
  %inner: string = outcome.value %p
  %thirteen: int = const.int 13
  %unlucky: bool = int.compare == %n, %thirteen
  branch %unlucky break give
give:
  return %inner
break:
  release %inner
  %bad: $Bad = record.make %n
  fail %bad
failed:
  %bad2: $Bad = outcome.error %p
  fail %bad2
cancelled:
  outcome.none %o
  return.cancelled
cancelled2:
  outcome.none %p
  return.cancelled
}

function start(%n: int, %text: string) -> string ! error waits owns "main.kav" @3:1 {
entry:
  %late: bool = task.cancelled
  branch %late early begin
early:
  release %text
  return.cancelled
begin:
  %o: outcome<string, $Bad> = call deep plain %n, %text @4:1
  release %text
  %status: int = outcome.status %o
  switch %status [0: ok, 1: failed] cancelled
ok:
  %value: string = outcome.value %o
  return %value
failed:
  %bad: $Bad = outcome.error %o
  %error: error = error.make %bad
  fail %error
cancelled:
  outcome.none %o
  return.cancelled
}

function await(%task: task<string>) -> nothing waits "main.kav" @5:1 {
entry:
  %o: outcome<nothing> = task.wait %task
  %status: int = outcome.status %o
  switch %status [0: ended] cancelled
ended:
  %got: nothing = outcome.value %o
  %how: int = task.status %task
  switch %how [0: ok, 1: failed] called
ok:
  %value: string = task.value %task
  show "ok", %value
  jump end
failed:
  %error: error = task.error %task
  show "failed", %error
  jump end
called:
  show "cancelled"
  jump end
end:
  %nothing: nothing = const.nothing
  return %nothing
cancelled:
  outcome.none %o
  return.cancelled
}

function main() -> nothing ! error waits "main.kav" @6:1 {
entry:
  %three: int = const.int 3
  %twenty: int = const.int 20
  %word: string = text.make %three
  %word2: string = copy %word
  %word3: string = copy %word
  %a: task<string> = spawn start %three, %word
  %b: task<string> = spawn start %twenty, %word2
  %c: task<string> = spawn start %twenty, %word3
  %d: task<string> = copy %a
  %before: instant = now
  task.cancel %c
  %o: outcome<nothing> = call await plain %a @7:1
  outcome.none %o
  %p: outcome<nothing> = call await plain %b @8:1
  outcome.none %p
  %q: outcome<nothing> = call await plain %c @9:1
  outcome.none %q
  %r: outcome<nothing> = call await plain %d @10:1
  outcome.none %r
  task.cancel %a
  %after: instant = now
  %took: duration = int.sub %after, %before
  show %took, %after
  release %a
  release %b
  release %c
  release %d
  %end: nothing = const.nothing
  return %end
}
""",
    "ok 33\nfailed Bad(n: 13)\ncancelled\nok 33\n1ms 2026-01-01T00:00:00.001Z\n",
    environment=VIRTUAL,
)

CANCELLED_WAITS = IrProgram(
    """
entry main
function nap(%ms: duration, %text: string) -> string ! error waits owns "main.kav" @1:1 {
entry:
  show "nap"
  %o: outcome<nothing> = sleep %ms
  %status: int = outcome.status %o
  switch %status [0: ok] cancelled
ok:
  %got: nothing = outcome.value %o
  return %text
cancelled:
  outcome.none %o
  release %text
  show "called off"
  return.cancelled
}
function main() -> nothing ! error waits "main.kav" @1:1 {
entry:
  %hour: duration = const.int 3600000000000
  %zero: duration = const.int 0
  %one: int = const.int 1
  %text: string = text.make %one
  %a: task<string> = spawn nap %hour, %text
  %o: outcome<nothing> = sleep %zero
  %status: int = outcome.status %o
  switch %status [0: ok] cancelled
ok:
  %got: nothing = outcome.value %o
  task.cancel %a
  %p: outcome<nothing> = task.wait %a
  outcome.none %p
  %how: int = task.status %a
  show %how
  release %a
  %end: nothing = const.nothing
  return %end
cancelled:
  outcome.none %o
  release %a
  return.cancelled
}
""",
    "nap\ncalled off\n2\n",
    environment=VIRTUAL,
)

AGENTS = IrProgram(
    """
entry main
record Bank { name: string fee: int }
sum PayError { Denied(reason: string) Broken }
capability Payments { refund(int, float) -> string ! $PayError waits  fee() -> int }
capability Clock { tick() -> nothing }
agent Clerk {
  model "m" 10 Anthropic
  settings Average Enforce
  capabilities [Payments, Clock]
  limit Payments.refund {
    condition "amount > 0" <= 0 per 0
    sum_int "sum(amount) <= 100 per day" <= 100 per 86400000000000
    sum_float "sum(part) < 2.5 per day" < 2.5 per 86400000000000
    count "count <= 3 per day" <= 3 per 86400000000000
  }
}
vtable BankPayments Payments $Bank [bank.refund, bank.fee]
vtable LimitedPayments Payments $Payments [limited.refund, limited.fee]
vtable BankClock Clock $Bank [bank.tick]

function bank.refund(%self: $Payments, %amount: int, %part: float) -> string ! $PayError waits "main.kav" @1:1 {
entry:
  %bank: $Bank = capability.payload %self
  %zero: duration = const.int 0
  %o: outcome<nothing> = sleep %zero
  outcome.none %o
  %name: string = record.get 0 %bank
  %text: string = text.make %name, %amount
  return %text
}
function bank.fee(%self: $Payments) -> int "main.kav" @1:1 {
entry:
  %bank: $Bank = capability.payload %self
  %fee: int = record.get 1 %bank
  return %fee
}
function bank.tick(%self: $Clock) -> nothing "main.kav" @1:1 {
entry:
  show "tick"
  %end: nothing = const.nothing
  return %end
}
function limited.fee(%self: $Payments) -> int "main.kav" @1:1 {
entry:
  %inner: $Payments = capability.payload %self
  %fee: int = call.capability Payments 1 %inner @1:1
  return %fee
}
function limited.refund(%self: $Payments, %amount: int, %part: float) -> string ! $PayError waits "main.kav" @1:1 {
entry:
  %inner: $Payments = capability.payload %self
  limit.begin 0 0
  %zero: int = const.int 0
  %positive: bool = int.compare > %amount, %zero
  %a: bool = limit.condition 0 %positive
  branch %a second refuse0
second:
  %b: bool = limit.sum 1 %amount
  branch %b third refuse1
third:
  %c: bool = limit.sum 2 %part
  branch %c fourth refuse2
fourth:
  %d: bool = limit.count 3
  branch %d run refuse3
run:
  limit.commit
  %o: outcome<string, $PayError> = call.capability Payments 0 %inner, %amount, %part @2:1
  %status: int = outcome.status %o
  switch %status [0: ok, 1: failed] cancelled
ok:
  %value: string = outcome.value %o
  return %value
failed:
  %error: $PayError = outcome.error %o
  fail %error
cancelled:
  outcome.none %o
  return.cancelled
refuse0:
  %r0: string = limit.refuse 0
  %e0: $PayError = variant.make 0 %r0
  fail %e0
refuse1:
  %r1: string = limit.refuse 1
  %e1: $PayError = variant.make 0 %r1
  fail %e1
refuse2:
  %r2: string = limit.refuse 2
  %e2: $PayError = variant.make 0 %r2
  fail %e2
refuse3:
  %r3: string = limit.refuse 3
  %e3: $PayError = variant.make 0 %r3
  fail %e3
}
function try(%handle: $Clerk, %amount: int, %part: float) -> nothing waits "main.kav" @1:1 {
entry:
  %payments: $Payments = agent.capability 0 %handle
  %o: outcome<string, $PayError> = call.capability Payments 0 %payments, %amount, %part @3:1
  %status: int = outcome.status %o
  switch %status [0: ok, 1: failed] cancelled
ok:
  %value: string = outcome.value %o
  show %value
  release %value
  jump end
failed:
  %error: $PayError = outcome.error %o
  show %error
  release %error
  jump end
end:
  %nothing: nothing = const.nothing
  return %nothing
cancelled:
  outcome.none %o
  return.cancelled
}
function main() -> nothing ! error waits "main.kav" @1:1 {
entry:
  %six: int = const.int 6
  %name: string = text.make %six
  %bank: $Bank = record.make %name, %six
  %bank2: $Bank = copy %bank
  %plain: $Payments = capability.make BankPayments %bank
  %limited: $Payments = capability.make LimitedPayments %plain
  %clock: $Clock = capability.make BankClock %bank2
  %handle: $Clerk = agent.make 0 %limited, %clock
  %again: $Clerk = copy %handle
  %payments: $Payments = agent.capability 0 %again
  %fee: int = call.capability Payments 1 %payments @4:1
  show %fee
  %clock2: $Clock = agent.capability 1 %again
  %ticked: nothing = call.capability Clock 0 %clock2 @4:1
  %one: float = const.float 1.0
  %big: int = const.int 95
  %minus: int = const.int -1
  %part: float = const.float 0.125
  %a: outcome<nothing> = call try plain %handle, %six, %one @5:1
  outcome.none %a
  %b: outcome<nothing> = call try plain %handle, %big, %one @6:1
  outcome.none %b
  %c: outcome<nothing> = call try plain %handle, %minus, %one @6:1
  outcome.none %c
  %d: outcome<nothing> = call try plain %handle, %six, %one @6:1
  outcome.none %d
  %e: outcome<nothing> = call try plain %handle, %six, %one @6:1
  outcome.none %e
  %f: outcome<nothing> = call try plain %handle, %six, %part @6:1
  outcome.none %f
  %g: outcome<nothing> = call try plain %handle, %six, %part @6:1
  outcome.none %g
  release %handle
  release %again
  %end: nothing = const.nothing
  return %end
}
""",
    "6\ntick\n66\n"
    'Denied(reason: "limit broken: sum(amount) <= 100 per day")\n'
    'Denied(reason: "limit broken: amount > 0")\n'
    "66\n"
    'Denied(reason: "limit broken: sum(part) < 2.5 per day")\n'
    "66\n"
    'Denied(reason: "limit broken: count <= 3 per day")\n',
    environment=VIRTUAL,
)

_ASK = """
record Verdict "of the jury" { guilty: bool "or not" years: int words: [string] }
function question(%prompt: string) -> nothing waits "main.kav" @1:1 {
entry:
  %nobody: int = const.int -1
  %o: outcome<answer> = ask $Verdict %nobody, %prompt
  %status: int = outcome.status %o
  switch %status [0: ok] cancelled
ok:
  %answer: answer = outcome.value %o
  %kind: int = answer.kind %answer
  %code: int = answer.status %answer
  show %kind, %code
  switch %kind [0: answered] failed
answered:
  %json: string = answer.text %answer
  %verdict: $Verdict = decode %json
  release %json
  show %verdict
  release %verdict
  jump ask2
failed:
  release %answer
  jump ask2
ask2:
  %p: outcome<answer> = ask bool %nobody, %prompt
  %status2: int = outcome.status %p
  switch %status2 [0: ok2] cancelled2
ok2:
  %answer2: answer = outcome.value %p
  %both: answer = copy %answer2
  %json2: string = answer.text %answer2
  %yes: bool = decode %json2
  show %yes, %json2
  release %json2
  release %both
  %nothing: nothing = const.nothing
  return %nothing
cancelled:
  outcome.none %o
  return.cancelled
cancelled2:
  outcome.none %p
  return.cancelled
}
"""
_ASK_MAIN = """
  %prompt: string = const.string "guilty?"
  %o: outcome<nothing> = call question plain %prompt @1:1
  outcome.none %o
  release %prompt
"""
ASK_DRY = IrProgram(
    main_of(_ASK_MAIN, _ASK),
    '0 0\nVerdict(guilty: true, years: 1, words: ["text"])\ntrue true\n',
    '[dry run] ask("guilty?") -> Verdict(guilty: true, years: 1, words: ["text"])\n[dry run] ask("guilty?") -> true\n',
    environment={"KAVACH_DRY_RUN": "1", **VIRTUAL},
)
ASK_SCRIPTED = IrProgram(
    main_of(_ASK_MAIN, _ASK),
    '0 0\nVerdict(guilty: false, years: 0, words: ["a", "b"])\nfalse false\n',
    environment={"KAVACH_TEST_MODEL": str(Path(__file__).parent / "backend_model.json"), **VIRTUAL},
)

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
    "errors": ERRORS,
    "tasks": TASKS,
    "cancelled_waits": CANCELLED_WAITS,
    "agents": AGENTS,
    "ask_dry": ASK_DRY,
    "ask_scripted": ASK_SCRIPTED,
    "deep": DEEP,
}


def _panic(body: str, message: str, before: str = "") -> IrProgram:
    constants = """
  show "before"
  %most: int = const.int 9223372036854775807
  %least: int = const.int -9223372036854775808
  %one: int = const.int 1
  %minus: int = const.int -1
  %zero: int = const.int 0
"""
    return IrProgram(
        main_of(constants + body, before, "local &xs: [int]"), "before\n", f"panic: {message} at main.kav:7:8\n", 101
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
    "depth": _panic(
        "%n: int = const.int 100001\n%a: int = call down plain %n @3:1",
        "calls are nested more than 100000 deep",
        _DEEP.replace("@2:5", "@7:8"),
    ),
}
