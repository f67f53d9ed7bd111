"""An IR program that calls `Http`: one request that cannot be sent, and one that a dry run makes up."""

from __future__ import annotations

from backend_programs import IrProgram, main_of

_FETCH = """
function fetch(%url: string) -> nothing waits "main.kav" @2:1 {
entry:
  %headers: [string: string] = map.make
  %nobody: int = const.int -1
  %limit: duration = const.int 1000000000
  %o: outcome<(int, int, [string: string], string)> = builtin.wait http.get %nobody, %url, %headers, %limit
  release %headers
  %ended: int = outcome.status %o
  switch %ended [0: ok] cancelled
ok:
  %made: (int, int, [string: string], string) = outcome.value %o
  show %made
  release %made
  %nothing: nothing = const.nothing
  return %nothing
cancelled:
  outcome.none %o
  return.cancelled
}
"""
HTTP_DRY = IrProgram(
    main_of(
        """
  %bad: string = const.string "example.com"
  %o: outcome<nothing> = call fetch plain %bad @1:1
  outcome.none %o
  release %bad
  %good: string = const.string "http://example.com"
  %p: outcome<nothing> = call fetch plain %good @1:1
  outcome.none %p
  release %good
""",
        _FETCH,
    ),
    '(1, 0, [:], "\\"example.com\\" is no http or https URL")\n(0, 200, [:], "text")\n',
    '[dry run] Http.get("http://example.com") -> HttpAnswer(status: 200, headers: [:], body: "text")\n',
    environment={"KAVACH_DRY_RUN": "1"},
)
