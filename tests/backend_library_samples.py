"""An IR program about maps and the functions of the library: what the lowering makes of

fn main() {
    let m = ["b": [1], "a": [2, 3]]
    m["c"] = []
    m["b"].push(9)
    print(m)
    print("{m.len()} {m.contains("a")} {m.contains("z")}")
    print(m.get("a"))
    print(m["a"])
    m.remove("a")
    m.set("d", [4])
    print(m.keys())
    print(m.values())
    for (k, v) in m { print("{k} {v.len()}") }
    let xs = ["  y ", "x"]
    print(xs.pop())
    print(xs[0].trim().len())
}

and of `json.check`, `decode` and `json.encode`.
"""

from __future__ import annotations

from backend_programs import IrProgram

MAPS = IrProgram(
    """
entry kavach.main

function main() -> nothing "main.kav" @1:4 {
  local &m: [string: [int]]
  local &counter: int
  local &element: (string, [int])
  local &k: string
  local &v: [int]
  local &xs: [string]
entry:
  %1: string = const.string "b" @2:14
  %2: int = const.int 1 @2:20
  %3: [int] = array.make %2 @2:19
  %4: string = const.string "a" @2:24
  %5: int = const.int 2 @2:30
  %6: int = const.int 3 @2:33
  %7: [int] = array.make %5, %6 @2:29
  %8: [string: [int]] = map.make %1, %3, %4, %7 @2:13
  local.set &m %8 @2:5
  %9: string = const.string "c" @3:7
  %10: [int] = array.make @3:14
  %11: string = copy %9 @3:5
  %12: address<[string: [int]]> = local.address &m @3:5
  map.set %12, %11, %10 @3:5
  release %9 @3:5
  %13: string = const.string "b" @4:7
  %14: int = const.int 9 @4:17
  %15: address<[string: [int]]> = local.address &m @4:5
  %16: address<[int]> = value.address %15, %13 @4:5
  array.push %16, %14 @4:5
  release %13 @4:5
  %17: [string: [int]] = local.get &m @5:11
  %18: [string: [int]] = copy %17 @5:11
  %19: string = text.make %18 @5:5
  print %19 @5:5
  release %19 @5:5
  release %18 @5:5
  %20: [string: [int]] = local.get &m @6:13
  %21: [string: [int]] = copy %20 @6:13
  %22: int = map.length %21 @6:13
  release %21 @6:13
  %23: string = const.string " " @6:11
  %24: [string: [int]] = local.get &m @6:23
  %25: [string: [int]] = copy %24 @6:23
  %26: string = const.string "a" @6:34
  %27: bool = map.contains %25, %26 @6:23
  release %26 @6:23
  release %25 @6:23
  %28: string = const.string " " @6:11
  %29: [string: [int]] = local.get &m @6:41
  %30: [string: [int]] = copy %29 @6:41
  %31: string = const.string "z" @6:52
  %32: bool = map.contains %30, %31 @6:41
  release %31 @6:41
  release %30 @6:41
  %33: string = text.make %22, %23, %27, %28, %32 @6:11
  release %28 @6:11
  release %23 @6:11
  print %33 @6:5
  release %33 @6:5
  %34: [string: [int]] = local.get &m @7:11
  %35: [string: [int]] = copy %34 @7:11
  %36: string = const.string "a" @7:17
  %37: optional<[int]> = map.find %35, %36 @7:11
  release %36 @7:11
  release %35 @7:11
  %38: string = text.make %37 @7:5
  print %38 @7:5
  release %38 @7:5
  release %37 @7:5
  %39: [string: [int]] = local.get &m @8:11
  %40: [string: [int]] = copy %39 @8:11
  %41: string = const.string "a" @8:13
  %42: [int] = map.get %40, %41 @8:11
  %43: [int] = copy %42 @8:11
  release %41 @8:11
  release %40 @8:11
  %44: string = text.make %43 @8:5
  print %44 @8:5
  release %44 @8:5
  release %43 @8:5
  %45: string = const.string "a" @9:14
  %46: address<[string: [int]]> = local.address &m @9:5
  %47: [string: [int]] = load %46 @9:5
  %48: optional<[int]> = map.find %47, %45 @9:5
  map.remove %46, %45 @9:5
  release %45 @9:5
  release %48 @9:5
  %49: string = const.string "d" @10:11
  %50: int = const.int 4 @10:17
  %51: [int] = array.make %50 @10:16
  %52: address<[string: [int]]> = local.address &m @10:5
  map.set %52, %49, %51 @10:5
  %53: [string: [int]] = local.get &m @11:11
  %54: [string: [int]] = copy %53 @11:11
  %55: [string] = map.keys %54 @11:11
  release %54 @11:11
  %56: string = text.make %55 @11:5
  print %56 @11:5
  release %56 @11:5
  release %55 @11:5
  %57: [string: [int]] = local.get &m @12:11
  %58: [string: [int]] = copy %57 @12:11
  %59: [[int]] = map.values %58 @12:11
  release %58 @12:11
  %60: string = text.make %59 @12:5
  print %60 @12:5
  release %60 @12:5
  release %59 @12:5
  %61: [string: [int]] = local.get &m @13:19
  %62: [string: [int]] = copy %61 @13:19
  %63: [(string, [int])] = map.entries %62 @13:19
  release %62 @13:19
  %64: int = array.length %63 @13:5
  %65: int = const.int 0 @13:5
  local.set &counter %65 @13:5
  jump for @13:5
for:
  %66: int = local.get &counter @13:5
  %67: bool = int.compare < %66, %64 @13:5
  branch %67 for.body for.end @13:5
for.body:
  %68: (string, [int]) = array.at %63, %66 @13:5
  %69: (string, [int]) = copy %68 @13:5
  local.set &element %69 @13:5
  %70: (string, [int]) = local.get &element @13:9
  %71: (string, [int]) = copy %70 @13:9
  %72: string = record.get 0 %71 @13:9
  %73: [int] = record.get 1 %71 @13:9
  %74: string = copy %72 @13:9
  local.set &k %74 @13:9
  %75: [int] = copy %73 @13:9
  local.set &v %75 @13:9
  release %71 @13:9
  %76: string = local.get &k @13:31
  %77: string = copy %76 @13:31
  %78: string = const.string " " @13:29
  %79: [int] = local.get &v @13:35
  %80: [int] = copy %79 @13:35
  %81: int = array.length %80 @13:35
  release %80 @13:35
  %82: string = text.make %77, %78, %81 @13:29
  release %78 @13:29
  release %77 @13:29
  print %82 @13:23
  release %82 @13:23
  %83: [int] = local.take &v @13:21
  release %83 @13:21
  %84: string = local.take &k @13:21
  release %84 @13:21
  %85: (string, [int]) = local.take &element @13:5
  release %85 @13:5
  jump for.next @13:5
for.next:
  %86: int = int.step %66 @13:5
  local.set &counter %86 @13:5
  jump for @13:5
for.end:
  release %63 @13:5
  %87: string = const.string "  y " @14:15
  %88: string = const.string "x" @14:23
  %89: [string] = array.make %87, %88 @14:14
  local.set &xs %89 @14:5
  %90: address<[string]> = local.address &xs @15:11
  %91: optional<string> = builtin.change array.pop %90 @15:11
  %92: string = text.make %91 @15:5
  print %92 @15:5
  release %92 @15:5
  release %91 @15:5
  %93: [string] = local.get &xs @16:11
  %94: [string] = copy %93 @16:11
  %95: int = const.int 0 @16:14
  %96: string = array.get %94, %95 @16:11
  %97: string = copy %96 @16:11
  release %94 @16:11
  %98: string = builtin string.trim %97 @16:11
  release %97 @16:11
  %99: int = builtin string.len %98 @16:11
  release %98 @16:11
  %100: string = text.make %99 @16:5
  print %100 @16:5
  release %100 @16:5
  %101: [string] = local.take &xs @1:11
  release %101 @1:11
  %102: [string: [int]] = local.take &m @1:11
  release %102 @1:11
  %104: string = const.string "[1, 2.5]" @17:5
  %105: answer = json.check [float] %104 @17:5
  %106: int = answer.kind %105 @17:5
  %107: string = answer.text %105 @17:5
  %108: [float] = decode %104 @17:5
  %109: string = builtin json.encode %108 @17:5
  %110: string = text.make %106, %107, %109 @17:5
  print %110 @17:5
  release %107 @17:5
  release %108 @17:5
  release %109 @17:5
  release %110 @17:5
  %111: string = const.string "[true]" @18:5
  %112: answer = json.check [float] %111 @18:5
  %113: string = answer.text %112 @18:5
  print %113 @18:5
  release %113 @18:5
  %103: nothing = const.nothing @1:11
  return %103 @1:4
}

function kavach.main() -> nothing ! error waits "main.kav" @1:4 {
entry:
  %1: nothing = call main plain @1:4
  %2: nothing = const.nothing @1:4
  return %2 @1:4
}
""",
    '["b": [1, 9], "a": [2, 3], "c": []]\n'
    "3 true false\n"
    "[2, 3]\n"
    "[2, 3]\n"
    '["b", "c", "d"]\n'
    "[[1, 9], [], [4]]\n"
    "b 2\n"
    "c 0\n"
    "d 1\n"
    "x\n"
    "1\n"
    "0[1.0,2.5]\n"
    "value[0]: expected a number, found true\n",
)
