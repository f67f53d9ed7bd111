"""Where diagnostics go: to stderr, as text for people or as JSON for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kavachc.diagnostics.diagnostic import Diagnostic
from kavachc.diagnostics.json_form import json_lines
from kavachc.diagnostics.render import render_all

Form = Literal["text", "json"]


@dataclass(slots=True)
class DiagnosticOutput:
    """`form` is what the command line asked for."""

    form: Form = "text"

    def write(self, diagnostics: Sequence[Diagnostic]) -> None:
        if diagnostics:
            print(self.text(diagnostics, color=wants_color()), file=sys.stderr, flush=True)

    def text(self, diagnostics: Sequence[Diagnostic], color: bool) -> str:
        return json_lines(diagnostics) if self.form == "json" else render_all(diagnostics, color)


def wants_color() -> bool:
    """Colour is for a terminal, and only for who wants it (https://no-color.org: set, and not empty)."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
