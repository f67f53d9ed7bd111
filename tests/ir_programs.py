"""Programs of the verifier's tests: right ones, and one broken one for each rule."""

from __future__ import annotations

RIGHT = {
    "a value owned on every way": """
        local &x: string
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          %3: bool = equal %1, %1
          branch %3 a b
        a:
          local.set &x %2
          jump c
        b:
          %4: string = copy %2
          local.set &x %4
          release %2
          jump c
        c:
          %5: string = local.take &x
          release %5
          %6: nothing = const.nothing
          return %6
        """,
    "a loop that pushes": """
        local &xs: [string]
        local &i: int
        entry:
          %1: [string] = array.make
          local.set &xs %1
          %2: int = const.int 0
          local.set &i %2
          jump loop
        loop:
          %3: int = local.get &i
          %4: [string] = local.get &xs
          %5: int = array.length %4
          %6: bool = int.compare < %3, %5
          branch %6 body done
        body:
          %7: address<[string]> = local.address &xs
          %8: string = text.make %3
          array.push %7, %8
          %9: int = int.step %3
          local.set &i %9
          jump loop
        done:
          %10: [string] = local.take &xs
          release %10
          %11: nothing = const.nothing
          return %11
        """,
    "what is owned when the program panics": """
        local &x: string
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          %3: bool = equal %1, %1
          branch %3 a b
        a:
          local.set &x %2
          jump never
        b:
          jump never
        never:
          unreachable
        """,
    "a loop without an end": """
        local &x: string
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          local.set &x %2
          jump loop
        loop:
          %3: string = local.get &x
          print %3
          jump loop
        """,
    "string constants as often as wanted": """
        local &x: string
        entry:
          %1: string = const.string "a"
          local.set &x %1
          release %1
          %2: string = local.take &x
          release %2
          %3: string = const.string "never"
          print %1
          %4: nothing = const.nothing
          return %4
        """,
    "locals of what is not counted": """
        local &i: int
        entry:
          %1: int = const.int 1
          local.set &i %1
          local.set &i %1
          %2: address<int> = local.address &i
          local.set &i %1
          store %2, %1
          %3: int = local.take &i
          %4: int = local.get &i
          %5: nothing = const.nothing
          return %5
        """,
    "addresses of fields outlast writes": """
        local &p: $Pair
        entry:
          %1: int = const.int 1
          %2: string = text.make %1
          %3: $Pair = record.make %1, %2
          local.set &p %3
          %4: address<$Pair> = local.address &p
          %5: address<string> = field.address 1 %4
          %6: string = text.make %1
          store %5, %6
          %7: string = text.make %1
          store %5, %7
          %8: address<int> = field.address 0 %4
          store %8, %1
          %9: $Pair = local.take &p
          release %9
          %10: nothing = const.nothing
          return %10
        """,
    "nested elements": """
        local &xs: [[string]]
        entry:
          %1: [[string]] = array.make
          local.set &xs %1
          %2: int = const.int 0
          %3: address<[[string]]> = local.address &xs
          %4: address<[string]> = element.address %3, %2
          %5: address<string> = element.address %4, %2
          %6: string = load %5
          %7: string = string.concat %6, %6
          store %5, %7
          %8: string = text.make %2
          array.push %4, %8
          %9: [[string]] = local.take &xs
          release %9
          %10: nothing = const.nothing
          return %10
        """,
}


# Each: the head of the function, its body, the end of the message.
PLAIN = "f() -> nothing"
END = "%98: nothing = const.nothing\n return %98"
TEXT = "%90: int = const.int 1\n %91: string = text.make %90"
WRONG: dict[str, tuple[str, str, str]] = {
    # Structure.
    "no blocks": (PLAIN, "", "there are no blocks"),
    "an empty block": (PLAIN, "entry:\n jump a\na:\nb:\n unreachable", "block a: it does not end with a terminator"),
    "no terminator": (PLAIN, "entry:\n %1: int = const.int 1", "it does not end with a terminator"),
    "two terminators": (PLAIN, "entry:\n unreachable\n unreachable", "unreachable stands before the end"),
    "a way to the first block": (PLAIN, "entry:\n jump entry", "its first block cannot be jumped to"),
    "a local of outcomes": (PLAIN, "local &x: outcome<int>\nentry:\n unreachable", "outcome<int> cannot be kept"),
    "an address that a task would own": (
        "f(%a: address<int>) -> nothing owns",
        "entry:\n unreachable",
        "address<int> cannot be kept",
    ),
    "an unknown type": (PLAIN, "local &x: $What\nentry:\n unreachable", "there is no type $What"),
    "an error that is no error type": ("f() -> nothing ! int", "entry:\n unreachable", "int is no error type"),
    # Types.
    "a wrong operand": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n print %1\n unreachable",
        "int stands where string is wanted",
    ),
    "too few operands": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: int = int.and %1\n unreachable",
        "int.and takes 2 operands, not 1",
    ),
    "a wrong result": (PLAIN, 'entry:\n %1: int = const.string "a"\n unreachable', "the result is string, not int"),
    "a constant that does not fit": (
        PLAIN,
        "entry:\n %1: int = const.int 9223372036854775808\n unreachable",
        "9223372036854775808 does not fit in 64 bits",
    ),
    "arithmetic on mixed types": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: duration = const.int 1\n %3: int = int.add %1, %2\n unreachable",
        "int.add does not take int and duration",
    ),
    "a field that is not there": (
        "f(%p: $Pair) -> nothing",
        "entry:\n %1: int = record.get 2 %p\n unreachable",
        "Pair has no field 2",
    ),
    "a record of the wrong parts": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: $Pair = record.make %1\n unreachable",
        "$Pair takes 2 values, not 1",
    ),
    "a variant that is not there": (
        PLAIN,
        "entry:\n %1: $Shape = variant.make 2\n unreachable",
        "$Shape has no variant 2",
    ),
    "elements of another type": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: [bool] = array.make %1\n unreachable",
        "int stands where bool is wanted",
    ),
    "an element address of no array": (
        PLAIN,
        "local &i: int\nentry:\n %1: int = const.int 1\n local.set &i %1\n %2: address<int> = local.address &i\n"
        " %3: address<int> = element.address %2, %1\n unreachable",
        "int is no array",
    ),
    "an error of an int": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: error = error.make %1\n unreachable",
        "int is no error type",
    ),
    "a copied address": (
        PLAIN,
        "local &i: int\nentry:\n %1: int = const.int 1\n local.set &i %1\n %2: address<int> = local.address &i\n"
        " %3: address<int> = copy %2\n unreachable",
        "address<int> cannot be copied",
    ),
    "a returned value of another type": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n return %1",
        "int stands where nothing is wanted",
    ),
    "fail where nothing can fail": (PLAIN, "entry:\n %1: int = const.int 1\n fail %1", "the function cannot fail"),
    "fail with another type": (
        "f() -> nothing ! error",
        "entry:\n %1: $Shape = variant.make 0\n fail %1",
        "$Shape stands where error is wanted",
    ),
    "cancelled without waiting": (
        PLAIN,
        "entry:\n return.cancelled",
        "only a function that waits is ever cancelled",
    ),
    # Calls.
    "an unknown callee": (PLAIN, "entry:\n %1: int = call what plain\n unreachable", "no function is called what"),
    "wrong arguments": (
        PLAIN,
        "entry:\n %1: outcome<int, $Shape> = call half plain\n unreachable",
        "half takes 1 values, not 0",
    ),
    "a result that is an outcome": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: int = call half plain %1\n unreachable",
        "the result is outcome<int, $Shape>, not int",
    ),
    "a call that waits": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: outcome<int, error> = call wait plain %1\n unreachable",
        "call may wait here, and the function is not marked waits",
    ),
    "a capability call that waits": (
        "f(%c: $Payments) -> nothing",
        "entry:\n %1: int = const.int 1\n %2: outcome<int> = call.capability Payments 1 plain %c, %1\n unreachable",
        "call.capability may wait here, and the function is not marked waits",
    ),
    "a sleep in a function that does not wait": (
        PLAIN,
        "entry:\n %1: duration = const.int 1\n %2: outcome<nothing> = sleep %1\n unreachable",
        "sleep may wait here, and the function is not marked waits",
    ),
    "a call of what can only be spawned": (
        PLAIN,
        f"entry:\n {TEXT}\n %1: outcome<string, error> = call job plain %91\n unreachable",
        "job owns its parameters: it can only be spawned",
    ),
    "a spawn of a plain function": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: task<int> = spawn half %1\n unreachable",
        "half cannot be spawned: it must own its parameters, wait, and have the error `error`",
    ),
    "an outcome outside the outcome ops": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: outcome<int, $Shape> = call half plain %1\n release %2\n unreachable",
        "only the outcome ops take an outcome",
    ),
    "an unknown agent": (PLAIN, "entry:\n %1: $Refunder = agent.make 1\n unreachable", "there is no agent 1"),
    "an unknown agent to audit": (
        PLAIN,
        'entry:\n %t: string = const.string "P.f"\n audit.call 7 %t\n unreachable',
        "there is no agent 7",
    ),
    "an unknown limit": (PLAIN, "entry:\n limit.begin 0 1\n unreachable", "Refunder has no limit 1"),
    "an unknown vtable": (
        PLAIN,
        "entry:\n %1: int = const.int 1\n %2: $Payments = capability.make what %1\n unreachable",
        "no vtable is called what",
    ),
    # Dominance.
    "a use before the making": (
        PLAIN,
        'entry:\n print %1\n %1: string = const.string "a"\n unreachable',
        "%1 is not made on every way here",
    ),
    "a use on another way": (
        PLAIN,
        'entry:\n %1: bool = const.bool true\n branch %1 a b\na:\n %2: string = const.string "a"\n jump b\n'
        f"b:\n print %2\n {END}",
        "%2 is not made on every way here",
    ),
    # Owned values.
    "never given up": (PLAIN, f"entry:\n {TEXT}\n {END}", "%2 is still owned when the function ends"),
    "given up twice": (
        PLAIN,
        f"entry:\n {TEXT}\n release %91\n release %91\n {END}",
        "%2 is used after it was consumed",
    ),
    "used afterwards": (
        PLAIN,
        f"entry:\n {TEXT}\n release %91\n print %91\n {END}",
        "%2 is used after it was consumed",
    ),
    "consumed twice by one instruction": (
        PLAIN,
        f"entry:\n {TEXT}\n %1: [string] = array.make %91, %91\n release %1\n {END}",
        "%2 is consumed twice",
    ),
    "given up on one way only": (
        PLAIN,
        f"entry:\n {TEXT}\n %1: bool = const.bool true\n branch %1 a b\na:\n release %91\n jump b\nb:\n {END}",
        "block b: %2 is owned on one way into the block and not on another",
    ),
    "made in a loop and kept": (
        PLAIN,
        f"entry:\n jump loop\nloop:\n {TEXT}\n %1: bool = const.bool true\n branch %1 loop done\n"
        f"done:\n release %91\n {END}",
        "block loop: %2 is owned on one way into the block and not on another",
    ),
    "a parameter that is owned and kept": (
        "f(%text: string) -> nothing ! error waits owns",
        f"entry:\n {END}",
        "%text is still owned when the function ends",
    ),
    "an outcome that is forgotten": (
        PLAIN,
        f"entry:\n %1: int = const.int 1\n %2: outcome<int, $Shape> = call half plain %1\n {END}",
        "%2 is still owned when the function ends",
    ),
    # Borrowed values.
    "a borrowed parameter given up": (
        "f(%text: string) -> nothing",
        f"entry:\n release %text\n {END}",
        "%text is borrowed and cannot be consumed",
    ),
    "a borrowed field stored": (
        "f(%p: $Pair) -> string",
        "entry:\n %1: string = record.get 1 %p\n return %1",
        "%1 is borrowed and cannot be consumed",
    ),
    "a field of what is gone": (
        PLAIN,
        f"entry:\n {TEXT}\n %1: $Pair = record.make %90, %91\n %2: string = record.get 1 %1\n release %1\n"
        f" print %2\n {END}",
        "%4 outlives what it was borrowed from",
    ),
}
CHANGED = "is used after &x, where it comes from, was changed"
SET_X = "local.set &x %91"
WRONG |= {
    # Locals.
    "get of an empty local": (PLAIN, f"local &x: string\nentry:\n %1: string = local.get &x\n {END}", "&x is empty"),
    "take of an empty local": (PLAIN, f"local &x: string\nentry:\n %1: string = local.take &x\n {END}", "&x is empty"),
    "address of an empty local": (
        PLAIN,
        f"local &x: int\nentry:\n %1: address<int> = local.address &x\n {END}",
        "&x is empty",
    ),
    "set of a full local": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n {SET_X}\n %1: string = copy %91\n local.set &x %1\n {END}",
        "%2 is used after it was consumed",
    ),
    "set of a full local, with something new": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n {SET_X}\n %1: string = text.make %90\n local.set &x %1\n {END}",
        "&x is full already",
    ),
    "a local still full at the end": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n {SET_X}\n {END}",
        "&x is still full when the function ends",
    ),
    "a local full on one way only": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n %1: bool = const.bool true\n branch %1 a b\na:\n {SET_X}\n jump c\n"
        f"b:\n release %91\n jump c\nc:\n {END}",
        "block c: &x is full on one way into the block and empty on another",
    ),
    "a number set on one way only": (
        PLAIN,
        "local &x: int\nentry:\n %1: bool = const.bool true\n branch %1 a b\na:\n %2: int = const.int 1\n"
        f" local.set &x %2\n jump b\nb:\n %3: int = local.get &x\n {END}",
        "&x is empty",
    ),
    # What comes from a local that changes.
    "a value of a local taken since": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n {SET_X}\n %1: string = local.get &x\n %2: string = local.take &x\n"
        f" print %1\n release %2\n {END}",
        f"%3 {CHANGED}",
    ),
    "a field of a local written since": (
        PLAIN,
        f"local &x: $Pair\nentry:\n {TEXT}\n %1: $Pair = record.make %90, %91\n local.set &x %1\n"
        " %2: $Pair = local.get &x\n %3: string = record.get 1 %2\n %4: address<$Pair> = local.address &x\n"
        ' %5: address<string> = field.address 1 %4\n %6: string = const.string "a"\n store %5, %6\n print %3\n'
        f" unreachable",
        f"%5 {CHANGED}",
    ),
    "an element of an array pushed to since": (
        PLAIN,
        "local &x: [string]\nentry:\n %1: [string] = array.make\n local.set &x %1\n %2: address<[string]> ="
        " local.address &x\n %3: int = const.int 0\n %4: address<string> = element.address %2, %3\n"
        ' %5: string = const.string "a"\n array.push %2, %5\n store %4, %5\n unreachable',
        f"%4 {CHANGED}",
    ),
    "an address of an element of an array copied since": (
        PLAIN,
        "local &x: [string]\nentry:\n %1: [string] = array.make\n local.set &x %1\n %2: address<[string]> ="
        " local.address &x\n %3: int = const.int 0\n %4: address<string> = element.address %2, %3\n"
        ' %5: [string] = local.get &x\n %6: [string] = copy %5\n %7: string = const.string "a"\n store %4, %7\n'
        " unreachable",
        f"%4 {CHANGED}",
    ),
    "an array borrowed before it became the local's own": (
        PLAIN,
        "local &x: [string]\nentry:\n %1: [string] = array.make\n local.set &x %1\n %2: [string] = local.get &x\n"
        " %3: address<[string]> = local.address &x\n %4: int = const.int 0\n"
        " %5: address<string> = element.address %3, %4\n %6: int = array.length %2\n unreachable",
        f"%2 {CHANGED}",
    ),
    "a value of a local that a loop changes": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n {SET_X}\n %1: string = local.get &x\n jump loop\nloop:\n print %1\n"
        " %2: string = local.take &x\n release %2\n %3: string = text.make %90\n local.set &x %3\n jump loop",
        f"%3 {CHANGED}",
    ),
    "an address of a local taken since, in another block": (
        PLAIN,
        f"local &x: string\nentry:\n {TEXT}\n {SET_X}\n %1: address<string> = local.address &x\n jump next\nnext:\n"
        " %2: string = local.take &x\n release %2\n jump last\nlast:\n %3: string = load %1\n unreachable",
        f"%3 {CHANGED}",
    ),
}
