"""Expressions and what they own, against IR worked out by hand."""

from __future__ import annotations

from lowering import block, body_of, module_of, text_of


def test_arithmetic_on_parameters_needs_no_copies() -> None:
    assert body_of("fn add(a: Int, b: Int) -> Int { a + b * 2 }", "add") == block("""
        entry:
          %1: int = const.int 2
          %2: int = int.mul %b, %1
          %3: int = int.add %a, %2
          return %3
        """)


def test_arithmetic_panics_at_its_operator_and_calls_at_their_start() -> None:
    text = text_of("fn f(a: Int) -> Int {\n    f(a + 1)\n}", "f")
    assert "int.add %a, %1 @2:9" in text
    assert "call f counted %2 @2:5" in text


def test_text_owns_its_parts_until_it_is_made() -> None:
    source = """
        fn greet(name: String) -> String {
            const text = "hello {name}"
            text
        }
        """
    assert body_of(source, "greet") == block("""
          local &text: string
        entry:
          %1: string = const.string "hello "
          %2: string = copy %name
          %3: string = text.make %1, %2
          release %2
          release %1
          local.set &text %3
          %4: string = local.get &text
          %5: string = copy %4
          %6: string = local.take &text
          release %6
          return %5
        """)


def test_a_record_takes_over_its_fields_in_their_order() -> None:
    source = """
        type Pair { name: String, size: Int }
        fn make(n: Int) -> Pair { Pair(size: n, name: "x") }
        """
    assert body_of(source, "make") == block("""
        entry:
          %1: string = const.string "x"
          %2: $Pair = record.make %1, %n
          return %2
        """)


def test_with_copies_what_stays() -> None:
    source = """
        type Pair { name: String, size: Int }
        fn grow(pair: Pair) -> Pair { pair with { size: pair.size + 1 } }
        """
    assert body_of(source, "grow") == block("""
        entry:
          %1: $Pair = copy %pair
          %2: $Pair = copy %pair
          %3: int = record.get 1 %2
          release %2
          %4: int = const.int 1
          %5: int = int.add %3, %4
          %6: string = record.get 0 %1
          %7: string = copy %6
          %8: $Pair = record.make %7, %5
          release %1
          return %8
        """)


def test_the_right_side_of_and_runs_only_when_needed() -> None:
    assert body_of("fn both(a: Bool, b: Bool) -> Bool { a && b }", "both") == block("""
          local &and: bool
        entry:
          branch %a and.right and.left
        and.right:
          local.set &and %b
          jump and.end
        and.left:
          local.set &and %a
          jump and.end
        and.end:
          %1: bool = local.take &and
          return %1
        """)


def test_equality_of_records_is_structural() -> None:
    source = """
        type Point { x: Int }
        fn differ(a: Point, b: Point) -> Bool { a != b }
        """
    assert body_of(source, "differ") == block("""
        entry:
          %1: bool = equal %a, %b
          %2: bool = bool.not %1
          return %2
        """)


def test_a_constant_is_made_where_it_is_used() -> None:
    source = "const SIZES = [1, 2]\nfn first() -> Int { SIZES[0] }"
    assert body_of(source, "first") == block("""
        entry:
          %1: int = const.int 1
          %2: int = const.int 2
          %3: [int] = array.make %1, %2
          %4: int = const.int 0
          %5: int = array.get %3, %4
          release %3
          return %5
        """)


def test_deep_expressions_of_ten_thousand_terms() -> None:
    flat = " + ".join(["a"] * 10_000)
    text = body_of(f"fn f(a: Int) -> Int {{ {flat} }}", "f")
    assert text.count("int.add") == 9_999
    texts = " + ".join(["a"] * 2_000)
    module_of(f"fn f(a: String) -> String {{ {texts} }}")
    nested = "(" * 200 + "a" + " + 1)" * 200
    assert body_of(f"fn f(a: Int) -> Int {{ {nested} }}", "f").count("int.add") == 200
