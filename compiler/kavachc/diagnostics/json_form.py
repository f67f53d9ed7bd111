"""From diagnostics to JSON, for editors and CI: one object for each, on one line (docs/diagnostics.md).

A line of its own for each diagnostic, rather than one array, can be read while the compiler still works, and stays
readable when other text stands before or after it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from kavachc.diagnostics.diagnostic import Diagnostic
from kavachc.source import Span


def json_lines(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON object a line for each of `diagnostics`, without a line break at the end."""
    return "\n".join(json_line(diagnostic) for diagnostic in diagnostics)


def json_line(diagnostic: Diagnostic) -> str:
    """One diagnostic as a JSON object: ASCII alone, so that no reader can mistake its encoding or its line's end."""
    return json.dumps(
        {
            "severity": diagnostic.severity,
            "code": diagnostic.code or None,
            "message": diagnostic.message,
            **_place(diagnostic.span),
            "labels": [{"message": label.text, **_place(label.span)} for label in diagnostic.labels],
            "notes": list(diagnostic.notes),
            "help": diagnostic.help,
        }
    )


def _place(span: Span | None) -> dict[str, object]:
    if span is None:
        return {"file": None, "start": None, "end": None}
    return {
        "file": span.file.path,
        "start": _position(span, span.start),
        "end": _position(span, max(span.start, span.end)),
    }


def _position(span: Span, offset: int) -> dict[str, int]:
    line, column = span.file.position(offset)
    return {"line": line, "column": column}
