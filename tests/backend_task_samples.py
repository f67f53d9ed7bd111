"""IR programs about tasks, agents and ask."""

from __future__ import annotations

from pathlib import Path

from backend_programs import IrProgram, main_of
from kavachc.ir.text import string_text

VIRTUAL = {"KAVACH_VIRTUAL_TIME": "1"}

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
  %early: bool = task.ended %a
  show %early
  %p: outcome<nothing> = task.wait_for %a, %hour
  outcome.none %p
  %late: bool = task.ended %a
  show %late
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
    "nap\nfalse\ncalled off\ntrue\n2\n",
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
  model "m" 10 Anthropic at "http://localhost:1" budget 9 within 5
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
  %fee: int = call.capability Payments 1 plain %inner @1:1
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
  %durable: outcome<answer> = limit.commit
  %how: int = outcome.status %durable
  switch %how [0: known] stopped
stopped:
  outcome.none %durable
  return.cancelled
known:
  %answer: answer = outcome.value %durable
  %recorded: int = answer.kind %answer
  %reason: string = answer.text %answer
  switch %recorded [0: call] refuse4
refuse4:
  %e4: $PayError = variant.make 0 %reason
  fail %e4
call:
  release %reason
  %o: outcome<string, $PayError> = call.capability Payments 0 plain %inner, %amount, %part @2:1
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
  %o: outcome<string, $PayError> = call.capability Payments 0 plain %payments, %amount, %part @3:1
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
  %fee: int = call.capability Payments 1 plain %payments @4:1
  show %fee
  %clock2: $Clock = agent.capability 1 %again
  %ticked: nothing = call.capability Clock 0 plain %clock2 @4:1
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
record Verdict { guilty: bool years: int words: [string] }
function question(%prompt: string) -> nothing waits "main.kav" @1:1 {
entry:
  %nobody: int = const.int -1
  %o: outcome<answer> = ask $Verdict structured "the schema of a verdict" SAMPLE "" %nobody, %prompt
  %status: int = outcome.status %o
  switch %status [0: ok] cancelled
ok:
  %answer: answer = outcome.value %o
  %kind: int = answer.kind %answer
  %code: int = answer.status %answer
  %after: int = answer.retry_after %answer
  show %kind, %code, %after
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
  %p: outcome<answer> = ask bool prompt "the schema of a truth" "true" "" %nobody, %prompt
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
""".replace("SAMPLE", string_text('{"guilty":true,"years":1,"words":["text"]}'))
_ASK_MAIN = """
  %prompt: string = const.string "guilty?"
  %o: outcome<nothing> = call question plain %prompt @1:1
  outcome.none %o
  release %prompt
"""
ASK_DRY = IrProgram(
    main_of(_ASK_MAIN, _ASK),
    '0 0 0\nVerdict(guilty: true, years: 1, words: ["text"])\ntrue true\n',
    '[dry run] ask("guilty?") -> Verdict(guilty: true, years: 1, words: ["text"])\n[dry run] ask("guilty?") -> true\n',
    environment={"KAVACH_DRY_RUN": "1", **VIRTUAL},
)
ASK_SCRIPTED = IrProgram(
    main_of(_ASK_MAIN, _ASK),
    '0 0 0\nVerdict(guilty: false, years: 0, words: ["a", "b"])\nfalse false\n',
    environment={"KAVACH_TEST_MODEL": str(Path(__file__).parent / "backend_model.json"), **VIRTUAL},
)
