"""Statements, loops and the ways out of them, against IR worked out by hand."""

from __future__ import annotations

from lowering import block, body_of


def test_a_variable_assigned_from_itself() -> None:
    source = """
        fn twice(text: String) -> String { text + text }
        fn grow() {
            let x = "a"
            x = twice(x)
        }
        """
    assert body_of(source, "grow") == block("""
          local &x: string
        entry:
          %1: string = const.string "a"
          local.set &x %1
          %2: string = local.get &x
          %3: string = copy %2
          %4: string = call twice plain %3
          release %3
          %5: string = local.take &x
          local.set &x %4
          release %5
          %6: string = local.take &x
          release %6
          %7: nothing = const.nothing
          return %7
        """)


def test_a_place_is_read_before_the_value_and_addressed_after_it() -> None:
    source = """
        type Row { cells: [Int] }
        fn one() -> Int { 1 }
        fn bump() {
            let rows = [Row(cells: [5])]
            rows[0].cells[one()] += one()
        }
        """
    assert body_of(source, "bump") == block("""
          local &rows: [$Row]
        entry:
          %1: int = const.int 5
          %2: [int] = array.make %1
          %3: $Row = record.make %2
          %4: [$Row] = array.make %3
          local.set &rows %4
          %5: int = const.int 0
          %6: int = call one plain
          %7: [$Row] = local.get &rows
          %8: $Row = array.get %7, %5
          %9: [int] = record.get 0 %8
          %10: int = array.get %9, %6
          %11: int = call one plain
          %12: int = int.add %10, %11
          %13: address<[$Row]> = local.address &rows
          %14: address<$Row> = element.address %13, %5
          %15: address<[int]> = field.address 0 %14
          %16: address<int> = element.address %15, %6
          store %16, %12
          %17: [$Row] = local.take &rows
          release %17
          %18: nothing = const.nothing
          return %18
        """)


def test_push_takes_over_its_argument() -> None:
    source = """
        fn more(xs: [String]) -> [String] {
            let ys = xs
            ys.push("x")
            ys
        }
        """
    assert body_of(source, "more") == block("""
          local &ys: [string]
        entry:
          %1: [string] = copy %xs
          local.set &ys %1
          %2: string = const.string "x"
          %3: address<[string]> = local.address &ys
          array.push %3, %2
          %4: [string] = local.get &ys
          %5: [string] = copy %4
          %6: [string] = local.take &ys
          release %6
          return %5
        """)


def test_an_inclusive_range_never_steps_past_its_end() -> None:
    source = """
        fn sum(n: Int) -> Int {
            let total = 0
            for i in 1..=n { total += i }
            total
        }
        """
    assert body_of(source, "sum") == block("""
          local &total: int
          local &counter: int
          local &i: int
        entry:
          %1: int = const.int 0
          local.set &total %1
          %2: int = const.int 1
          local.set &counter %2
          %3: bool = int.compare <= %2, %n
          branch %3 for for.end
        for:
          %4: int = local.get &counter
          jump for.body
        for.body:
          local.set &i %4
          %5: int = local.get &total
          %6: int = local.get &i
          %7: int = int.add %5, %6
          %8: int = local.take &total
          local.set &total %7
          jump for.next
        for.next:
          %9: bool = int.compare < %4, %n
          branch %9 for.more for.end
        for.more:
          %10: int = int.step %4
          local.set &counter %10
          jump for
        for.end:
          %11: int = local.get &total
          return %11
        """)


def test_each_way_out_of_a_loop_over_a_temporary_releases_it_once() -> None:
    source = """
        fn find(xs: [String], skip: Bool) -> Int {
            for x in xs {
                if x == "return" { return 1 }
                if x == "break" { break }
                if skip { continue }
                print(x)
            }
            2
        }
        """
    assert body_of(source, "find") == block("""
          local &counter: int
          local &x: string
        entry:
          %1: [string] = copy %xs
          %2: int = array.length %1
          %3: int = const.int 0
          local.set &counter %3
          jump for
        for:
          %4: int = local.get &counter
          %5: bool = int.compare < %4, %2
          branch %5 for.body for.end
        for.body:
          %6: string = array.at %1, %4
          %7: string = copy %6
          local.set &x %7
          %8: string = local.get &x
          %9: string = copy %8
          %10: string = const.string "return"
          %11: bool = string.compare == %9, %10
          release %10
          release %9
          branch %11 then else
        then:
          %12: int = const.int 1
          %13: string = local.take &x
          release %13
          release %1
          return %12
        else:
          jump if.end
        if.end:
          %14: string = local.get &x
          %15: string = copy %14
          %16: string = const.string "break"
          %17: bool = string.compare == %15, %16
          release %16
          release %15
          branch %17 then1 else1
        then1:
          %18: string = local.take &x
          release %18
          jump for.end
        else1:
          jump if.end1
        if.end1:
          branch %skip then2 else2
        then2:
          %19: string = local.take &x
          release %19
          jump for.next
        else2:
          jump if.end2
        if.end2:
          %20: string = local.get &x
          %21: string = copy %20
          print %21
          release %21
          %22: string = local.take &x
          release %22
          jump for.next
        for.next:
          %23: int = int.step %4
          local.set &counter %23
          jump for
        for.end:
          release %1
          %24: int = const.int 2
          return %24
        """)


def test_a_loop_for_ever_has_no_end() -> None:
    source = """
        fn wait_for(n: Int) -> Int {
            let i = 0
            while true {
                if i == n { return i }
                i += 1
            }
        }
        """
    text = body_of(source, "wait_for")
    assert "while.end" not in text
    assert "unreachable" not in text


def test_a_loop_for_ever_with_a_break_ends_there() -> None:
    source = """
        fn count() -> Int {
            let i = 0
            while true {
                i += 1
                if i == 3 { break }
            }
            i
        }
        """
    assert "jump while.end" in body_of(source, "count")


def test_nothing_is_lowered_after_a_way_out() -> None:
    assert body_of('fn f() -> Int {\n    return 1\n    print("never")\n    2\n}', "f") == block("""
        entry:
          %1: int = const.int 1
          return %1
        """)
