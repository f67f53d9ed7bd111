"""IR programs about values: arithmetic, records, sums, arrays, errors."""

from __future__ import annotations

from backend_programs import IrProgram, main_of

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
record Point { x: int y: float on: bool }
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


OPTIONALS = IrProgram(
    """
entry main
record Person { name: string age: optional<int> }
function main() -> nothing ! error waits "main.kav" @1:1 {
  local &pair: (optional<string>, int)
entry:
  %one: int = const.int 1
  %some: optional<int> = optional.some %one
  %none: optional<int> = optional.none
  %is: bool = optional.is %some
  %not: bool = optional.is %none
  %got: int = optional.get %some
  %same: bool = equal %some, %none
  %line: string = text.make %some, %none, %is, %not, %got, %same
  print %line
  release %line
  %name: string = text.make %one
  %text: optional<string> = optional.some %name
  %copy: optional<string> = copy %text
  %t: (optional<string>, int) = record.make %copy, %one
  local.set &pair %t
  %at: address<(optional<string>, int)> = local.address &pair
  %first: address<optional<string>> = field.address 0 %at
  %absent: optional<string> = optional.none
  store %first, %absent
  %second: address<int> = field.address 1 %at
  %two: int = const.int 2
  store %second, %two
  %now: (optional<string>, int) = local.get &pair
  %n: int = record.get 1 %now
  %shown: string = text.make %now, %text, %n
  print %shown
  release %shown
  %person: $Person = record.make %name2, %none
  %alike: bool = equal %person, %person
  %last: string = text.make %person, %alike
  print %last
  release %last
  release %person
  release %text
  %end: (optional<string>, int) = local.take &pair
  release %end
  %done: nothing = const.nothing
  return %done
}
""".replace("  %person: $Person", '  %name2: string = const.string "Ann"\n  %person: $Person'),
    '1nonetruefalse1false\n(none, 2)12\nPerson(name: "Ann", age: none)true\n',
)

BOXES = IrProgram(
    """
entry main
sum List { End Node(value: int, name: string, next: box<$List>) }
record Holder { list: box<$List> names: [string] }
function main() -> nothing ! error waits "main.kav" @1:1 {
  local &a: $Holder
  local &rest: [int]
entry:
  %one: int = const.int 1
  %end: $List = variant.make 0
  %inner: box<$List> = box.make %end
  %name: string = text.make %one
  %node: $List = variant.make 1 %one, %name, %inner
  %outer: box<$List> = box.make %node
  %names: [string] = array.make
  %holder: $Holder = record.make %outer, %names
  %copy: $Holder = copy %holder
  local.set &a %copy
  %at: address<$Holder> = local.address &a
  %slot: address<box<$List>> = field.address 0 %at
  %inside: address<$List> = box.address %slot
  %other: $List = variant.make 0
  store %inside, %other
  %now: $Holder = local.get &a
  %kept: box<$List> = record.get 0 %holder
  %list: $List = box.get %kept
  %value: int = variant.get 1 0 %list
  %same: bool = equal %now, %holder
  %self: bool = equal %holder, %holder
  %line: string = text.make %now, %holder, %value, %same, %self
  print %line
  release %line
  release %holder
  %last: $Holder = local.take &a
  release %last
  %two: int = const.int 2
  %numbers: [int] = array.make %one, %two
  %others: [int] = array.rest %numbers, %one
  local.set &rest %others
  %left: [int] = local.get &rest
  %text: string = text.make %numbers, %left
  print %text
  release %text
  release %numbers
  %gone: [int] = local.take &rest
  release %gone
  %done: nothing = const.nothing
  return %done
}
""",
    'Holder(list: End, names: [])Holder(list: Node(value: 1, name: "1", next: End), names: [])1falsetrue\n[1, 2][2]\n',
)
