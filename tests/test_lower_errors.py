"""Errors, `try`, `catch`, `match` and outcomes, against IR worked out by hand."""

from __future__ import annotations

from lowering import block, body_of

RISKY = """
    type E = Bad(reason: String) | Worse
    fn risky(text: String) -> Int ! E { fail E.Bad(reason: text) }
    """


def test_fail_leaves_with_its_error() -> None:
    assert body_of(RISKY, "risky") == block("""
        entry:
          %1: string = copy %text
          %2: $E = variant.make 0 %1
          fail %2
        """)


def test_try_releases_what_is_live_and_passes_the_error_on() -> None:
    source = (
        RISKY
        + """
        fn caller() -> Int ! E {
            const a = "kept"
            (try risky(a)) + 1
        }
        """
    )
    assert body_of(source, "caller") == block("""
          local &a: string
        entry:
          %1: string = const.string "kept"
          local.set &a %1
          %2: string = local.get &a
          %3: string = copy %2
          %4: outcome<int, $E> = call risky plain %3
          release %3
          %5: int = outcome.status %4
          switch %5 [0: ok] failed
        ok:
          %6: int = outcome.value %4
          %7: int = const.int 1
          %8: int = int.add %6, %7
          %9: string = local.take &a
          release %9
          return %8
        failed:
          %10: $E = outcome.error %4
          %11: string = local.take &a
          release %11
          fail %10
        """)


def test_try_converts_to_error() -> None:
    source = RISKY + 'fn caller() -> Int ! Error { try risky("x") }'
    assert "%6: error = error.make %5\n  fail %6" in body_of(source, "caller")


def test_catch_hands_the_error_to_its_handler() -> None:
    source = (
        RISKY
        + """
        fn caller() -> Int {
            risky("x") catch e => {
                print(e)
                0
            }
        }
        """
    )
    assert body_of(source, "caller") == block("""
          local &e: $E
          local &catch: int
        entry:
          %1: string = const.string "x"
          %2: outcome<int, $E> = call risky plain %1
          release %1
          %3: int = outcome.status %2
          switch %3 [0: ok] failed
        ok:
          %4: int = outcome.value %2
          local.set &catch %4
          jump catch.end
        failed:
          %5: $E = outcome.error %2
          local.set &e %5
          jump handler
        handler:
          %6: $E = local.get &e
          %7: $E = copy %6
          %8: string = text.make %7
          print %8
          release %8
          release %7
          %9: int = const.int 0
          %10: $E = local.take &e
          release %10
          local.set &catch %9
          jump catch.end
        catch.end:
          %11: int = local.take &catch
          return %11
        """)


def test_match_tests_first_and_then_binds() -> None:
    source = """
        type Name = Full(first: String, last: String) | Short(name: String)
        fn show(name: Name) -> String {
            match name {
                Name.Full(first, "Smith") if first != "" => first,
                Name.Full(last: l) => l,
                Name.Short(n) => n,
            }
        }
        """
    assert body_of(source, "show") == block("""
          local &first: string
          local &match: string
          local &l: string
          local &n: string
        entry:
          %1: $Name = copy %name
          %2: int = variant.tag %1
          %3: int = const.int 0
          %4: bool = int.compare == %2, %3
          branch %4 fits next
        fits:
          %5: string = variant.get 0 1 %1
          %6: string = const.string "Smith"
          %7: bool = string.compare == %5, %6
          release %6
          branch %7 fits1 next
        fits1:
          %8: string = variant.get 0 0 %1
          %9: string = copy %8
          local.set &first %9
          %10: string = local.get &first
          %11: string = copy %10
          %12: string = const.string ""
          %13: bool = string.compare != %11, %12
          release %12
          release %11
          branch %13 guarded refused
        guarded:
          %14: string = local.get &first
          %15: string = copy %14
          %16: string = local.take &first
          release %16
          local.set &match %15
          jump match.end
        refused:
          %17: string = local.take &first
          release %17
          jump next
        next:
          %18: int = variant.tag %1
          %19: int = const.int 0
          %20: bool = int.compare == %18, %19
          branch %20 fits2 next1
        fits2:
          %21: string = variant.get 0 1 %1
          %22: string = copy %21
          local.set &l %22
          %23: string = local.get &l
          %24: string = copy %23
          %25: string = local.take &l
          release %25
          local.set &match %24
          jump match.end
        next1:
          %26: int = variant.tag %1
          %27: int = const.int 1
          %28: bool = int.compare == %26, %27
          branch %28 fits3 next2
        fits3:
          %29: string = variant.get 1 0 %1
          %30: string = copy %29
          local.set &n %30
          %31: string = local.get &n
          %32: string = copy %31
          %33: string = local.take &n
          release %33
          local.set &match %32
          jump match.end
        match.end:
          %34: string = local.take &match
          release %1
          return %34
        next2:
          unreachable
        """)


def test_match_on_an_error_asks_what_it_holds() -> None:
    source = (
        RISKY
        + """
        fn explain(e: Error) -> Int {
            match e {
                E.Worse => 1,
                _ => 0,
            }
        }
        """
    )
    text = body_of(source, "explain")
    assert "%2: bool = error.is $E %1\n  branch %2 fits next" in text
    assert "%3: $E = error.get %1\n  %4: int = variant.tag %3" in text


def test_a_catch_that_leaves_the_loop_keeps_what_lies_outside() -> None:
    source = (
        RISKY
        + """
        fn total(xs: [String]) -> Int {
            let sum = 0
            for x in xs {
                const n = risky(x) catch _ => { continue }
                sum += n
            }
            sum
        }
        """
    )
    text = body_of(source, "total")
    handler = text.split("\nhandler:\n")[1].split("\nfor.next:")[0]
    assert handler == (
        "  %21: $E = local.take &error\n  release %21\n  %22: string = local.take &x\n  release %22\n  jump for.next"
    )
