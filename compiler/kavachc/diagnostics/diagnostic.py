"""Diagnostics as data: what is wrong, where, and what to write instead.

A stage that finds a mistake adds a `Diagnostic` to the `DiagnosticBag` it was given and goes on, so that one
run reports every mistake it can find. Only `render.py` turns them into text (language.md section 12).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kavachc.diagnostics.codes import TOO_MANY_ERRORS, Code, Severity
from kavachc.source import Span

TEXT_MAX = 1_000
# Nobody reads so many, and a program that has a million would be at it for minutes.
ERRORS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Label:
    """A further place that belongs to a diagnostic, such as the first of two declarations."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake. `code` is stable and never reused (`codes.py`); `span` is None where no source exists."""

    code: str
    message: str
    span: Span | None = None
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: Severity = "error"


def _cut(text: str) -> str:
    """A value for a message: a name can be megabytes long."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"


@dataclass(slots=True)
class DiagnosticBag:
    """Collects diagnostics. `has_errors` tells the driver not to go on to the next stage; after ERRORS_MAX of them
    `report` itself ends the compilation."""

    items: list[Diagnostic] = field(default_factory=list)
    _error_count: int = 0

    def report(
        self,
        code: Code,
        span: Span | None,
        *,
        labels: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: str | None = None,
        **values: object,
    ) -> None:
        """Add the diagnostic of the row `code`; `values` fill its `{names}`, `help` replaces the row's own."""
        shown = {name: _cut(str(value)) for name, value in values.items()}
        help_text = help if help is not None else (code.help.format(**shown) if code.help else None)
        message = code.message.format(**shown)
        self.items.append(Diagnostic(code.code, message, span, labels, notes, help_text, code.severity))
        self._error_count += code.severity == "error"
        if self._error_count == ERRORS_MAX and code is not TOO_MANY_ERRORS:
            self.report(TOO_MANY_ERRORS, None, limit=f"{ERRORS_MAX:,}")
            raise CompileErrors(self.items)

    @property
    def has_errors(self) -> bool:
        return any(item.severity == "error" for item in self.items)


class CompileErrors(Exception):
    """Raised by the driver when a stage ended with errors, or had too many; carries every diagnostic found so far."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__(f"{len(diagnostics)} diagnostics")
        self.diagnostics = diagnostics
