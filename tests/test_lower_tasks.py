"""Tasks, agents, capabilities and limits, against IR worked out by hand."""

from __future__ import annotations

from kavachc.ir.text import string_text
from kavachc.semantics.schema import answer_schema
from kavachc.semantics.types import INT
from lowering import block, body_of, head_of, module_of
from test_lower_programs import EFFECTS, PAYMENTS

SLOW = """
    fn slow(text: String) -> Int uses Time {
        Time.sleep(1s)
        1
    }
    """


def test_a_wait_that_is_cancelled_releases_and_leaves() -> None:
    source = (
        SLOW
        + """
        fn waits(text: String) -> Int uses Time {
            const kept = text
            slow(kept)
        }
        """
    )
    assert body_of(source, "waits") == block("""
          local &kept: string
        entry:
          %1: string = copy %text
          local.set &kept %1
          %2: string = local.get &kept
          %3: string = copy %2
          %4: outcome<int> = call slow plain %3
          release %3
          %5: int = outcome.status %4
          switch %5 [0: ok] cancelled
        ok:
          %6: int = outcome.value %4
          %7: string = local.take &kept
          release %7
          return %6
        cancelled:
          outcome.none %4
          %8: string = local.take &kept
          release %8
          return.cancelled
        """)


def test_spawn_hands_its_arguments_to_a_function_of_its_own() -> None:
    source = (
        SLOW
        + """
        fn start(text: String) -> Task<Int> uses Time { spawn slow(text) }
        """
    )
    assert body_of(source, "start") == block("""
        entry:
          %1: string = copy %text
          %2: task<int> = spawn "spawn.0.slow" %1
          return %2
        """)
    assert " waits owns " in head_of(source, "spawn.0.slow")
    assert body_of(source, "spawn.0.slow") == block("""
        entry:
          %1: bool = task.cancelled
          branch %1 cancelled begin
        cancelled:
          release %argument0
          return.cancelled
        begin:
          %2: outcome<int> = call slow plain %argument0
          release %argument0
          %3: int = outcome.status %2
          switch %3 [0: ok] cancelled1
        ok:
          %4: int = outcome.value %2
          return %4
        cancelled1:
          outcome.none %2
          return.cancelled
        """)


def test_spawns_of_one_function_share_what_their_tasks_run() -> None:
    source = (
        SLOW
        + """
        fn start() uses Time {
            spawn slow("a")
            spawn slow("b")
        }
        """
    )
    assert [name for name in module_of(source).functions if name.startswith("spawn.")] == ["spawn.0.slow"]


def test_waiting_for_a_task_has_three_ends() -> None:
    source = "fn result(task: Task<String>) -> String ! Error { try task.wait() }"
    assert body_of(source, "result") == block("""
        entry:
          %1: task<string> = copy %task
          %2: outcome<nothing> = task.wait %1
          %3: int = outcome.status %2
          switch %3 [0: ok] cancelled
        ok:
          %4: nothing = outcome.value %2
          %5: int = task.status %1
          switch %5 [0: task.ended, 1: task.failed] task.cancelled
        task.ended:
          %6: string = task.value %1
          %7: string = copy %6
          release %1
          return %7
        task.failed:
          %8: error = task.error %1
          %9: error = copy %8
          release %1
          fail %9
        task.cancelled:
          %10: $TaskError = variant.make 0
          %11: error = error.make %10
          release %1
          fail %11
        cancelled:
          outcome.none %2
          release %1
          return.cancelled
        """)


def test_a_limit_visits_its_rules_in_order_and_refuses_with_the_first_broken_one() -> None:
    assert body_of(PAYMENTS, "limit.Refunder.Payments.refund") == block("""
        entry:
          limit.begin 0 0
          %1: int = const.int 500
          %2: bool = int.compare <= %amount, %1
          %3: bool = limit.condition 0 %2
          branch %3 passed refused
        passed:
          %4: bool = limit.sum 1 %amount
          branch %4 passed1 refused1
        passed1:
          %5: bool = limit.count 2
          branch %5 passed2 refused2
        passed2:
          %6: outcome<answer> = limit.commit
          %7: int = outcome.status %6
          switch %7 [0: ok] cancelled
        ok:
          %8: answer = outcome.value %6
          %9: int = answer.kind %8
          %10: string = answer.text %8
          switch %9 [0: recorded] unrecorded
        recorded:
          release %10
          %11: $Payments = capability.payload %capability
          %12: outcome<nothing, $PayError> = call.capability Payments 0 plain %11, %order, %amount
          %13: int = outcome.status %12
          switch %13 [0: ok1, 1: failed] cancelled1
        ok1:
          %14: nothing = outcome.value %12
          return %14
        failed:
          %15: $PayError = outcome.error %12
          fail %15
        cancelled1:
          outcome.none %12
          return.cancelled
        unrecorded:
          %16: $PayError = variant.make 1 %10
          fail %16
        cancelled:
          outcome.none %6
          return.cancelled
        refused2:
          %17: string = limit.refuse 2
          %18: $PayError = variant.make 1 %17
          fail %18
        refused1:
          %19: string = limit.refuse 1
          %20: $PayError = variant.make 1 %19
          fail %20
        refused:
          %21: string = limit.refuse 0
          %22: $PayError = variant.make 1 %21
          fail %22
    """)


def test_a_method_without_a_limit_passes_through() -> None:
    assert body_of(PAYMENTS, "limit.Refunder.Payments.name") == block("""
        entry:
          %1: $Payments = capability.payload %capability
          %2: string = call.capability Payments 1 plain %1
          return %2
        """)


def test_start_wraps_what_it_is_given_in_the_limits() -> None:
    text = body_of(PAYMENTS, "main")
    assert (
        "  %1: $Bank = record.make\n"
        "  %2: $Payments = capability.make vtable.Bank.Payments %1\n"
        "  %3: $Payments = capability.make limit.Refunder.Payments %2\n"
        "  %4: $Refunder = agent.make 0 %3\n"
    ) in text


def test_every_implementation_waits_when_one_may() -> None:
    module = module_of(EFFECTS)
    assert module.functions["vtable.Disk.Store.keep"].waits
    assert module.functions["vtable.Clever.Store.keep"].waits
    assert not module.functions["vtable.Disk.Store.count"].waits


def test_a_capability_acts_on_behalf_of_no_agent() -> None:
    text = body_of(EFFECTS, "vtable.Clever.Store.keep")
    assert "  %2: int = const.int -1\n  %3: outcome<int, $PayError> = call Clever.keep plain %2, %1, %text\n" in text


def test_a_handler_hands_its_agent_along() -> None:
    assert head_of(EFFECTS, "think").startswith("function think(%agent: int, %text: string) -> int ! $AiError waits")
    text = body_of(EFFECTS, "Keeper.keep")
    assert '%5: int = const.int 0\n  %6: string = const.string "x"' in text.replace("%7", "%5").replace("%8", "%6")


def test_recursion_through_a_capability_is_counted_at_the_method() -> None:
    assert "call down counted" in body_of(EFFECTS, "Clever.count")
    assert "call Clever.count plain" in body_of(EFFECTS, "vtable.Clever.Store.count")


def test_ask_makes_each_answer_a_value_or_an_error() -> None:
    schema = string_text(answer_schema(INT).text)
    assert body_of(EFFECTS, "think").replace(schema, '"SCHEMA"') == block("""
          local &ask.error: $AiError
        entry:
          %1: string = copy %text
          %2: outcome<answer> = ask int wrapped "SCHEMA" "1" "" %agent, %1
          release %1
          %3: int = outcome.status %2
          switch %3 [0: ok] cancelled
        ok:
          %4: answer = outcome.value %2
          %5: int = answer.kind %4
          %6: int = answer.status %4
          %7: int = answer.retry_after %4
          %8: string = answer.text %4
          switch %5 [0: answered, 1: ask.NoKey, 2: ask.Failed, 3: ask.InvalidOutput] ask.Denied
        answered:
          %9: int = decode %8
          release %8
          return %9
        ask.NoKey:
          %10: $AiError = variant.make 0 %8
          local.set &ask.error %10
          jump ask.failed
        ask.Failed:
          %11: $AiError = variant.make 1 %6, %8, %7
          local.set &ask.error %11
          jump ask.failed
        ask.InvalidOutput:
          %12: $AiError = variant.make 2 %8
          local.set &ask.error %12
          jump ask.failed
        ask.Denied:
          %13: $AiError = variant.make 3 %8
          local.set &ask.error %13
          jump ask.failed
        ask.failed:
          %14: $AiError = local.take &ask.error
          fail %14
        cancelled:
          outcome.none %2
          return.cancelled
        """)


def test_the_entry_runs_main_and_converts_its_error() -> None:
    module = module_of("type E = Bad\nfn main() ! E { fail E.Bad }")
    assert module.entry == "kavach.main"
    assert body_of("type E = Bad\nfn main() ! E { fail E.Bad }", "kavach.main") == block("""
        entry:
          %1: outcome<nothing, $E> = call main plain
          %2: int = outcome.status %1
          switch %2 [0: ok] failed
        ok:
          %3: nothing = outcome.value %1
          %4: nothing = const.nothing
          return %4
        failed:
          %5: $E = outcome.error %1
          %6: error = error.make %5
          fail %6
        """)


def test_names_that_users_can_write_never_meet_the_compilers() -> None:
    module = module_of("type kavach { fn main(self) -> Int { 1 } }\nfn main() { }")
    assert module.entry not in ("main", "kavach.main")
    assert "kavach.main" in module.functions


def test_what_a_task_starts_with_is_nested_in_no_other_call() -> None:
    source = """
        fn down(n: Int) -> Int { if n == 0 { 0 } else { down(n - 1) } }
        fn start() -> Task<Int> { spawn down(3) }
        """
    assert "call down plain" in body_of(source, "spawn.0.down")
    assert "call down counted" in body_of(source, "down")
