"""Golden files: a program, how to run it, and what must come out, in one text file.

    shows: 8.3.sum, 8.3.order          the spec rules that it shows
    options: virtual-time              dry-run, virtual-time (a [model] section implies test-model), state-file,
                                       state-file:PATH for one that cannot be made,
                                       audit-prompts, audit-log:PATH for one that cannot be made
    runs: 2                            run so often on one state file: what comes out one after another, status and
                                       report of the last
    arguments: a b                     the program's
    functions: half, main              [ir] and [opt] hold only these
    [source]
    fn main() { print("a") }
    [file bank.kav]                    a further file of the program, beside it
    [model]                            the scripted model, if it asks
    [out]                              stdout, exactly
    a
    [err] [exit] [errors] [warnings] [ir] [opt] [typed] [report] [audit]

`[errors]` holds the first lines of the compiler's diagnostics instead of `[err]`, the whole text.
`[warnings]` holds those of a program that is accepted; they are the compiler's, and no part of `[err]`.
`[audit]` is what `kavachc audit` shows of the log that a run in virtual time writes. A section that is left out is not
checked, except that `[err]` and `[exit]` default to nothing and 0 where `[out]` stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kavachc.options import RunOptions

SECTIONS = ("source", "model", "out", "err", "errors", "warnings", "exit", "ir", "opt", "typed", "report", "audit")
STATE_FILE = "windows.state"
HEADER_KEYS = ("shows", "options", "arguments", "runs", "functions", "note")
OPTION_WORDS = ("dry-run", "virtual-time", "state-file", "audit-prompts", "audit-log")
FILE_SECTION = "[file "


class GoldenError(Exception):
    """A golden file that is not in the form above; says where."""


@dataclass(frozen=True, slots=True)
class Golden:
    path: Path
    header: dict[str, str]
    sections: dict[str, str]

    @property
    def name(self) -> str:
        """The program's file name, as its messages show it."""
        return self.path.with_suffix(".kav").name

    @property
    def files(self) -> dict[str, str]:
        """The program's further files, by path."""
        return {name.removeprefix("file "): text for name, text in self.sections.items() if name not in SECTIONS}

    @property
    def shows(self) -> tuple[str, ...]:
        return tuple(item.strip() for item in self.header.get("shows", "").split(",") if item.strip())

    @property
    def option_words(self) -> tuple[str, ...]:
        return tuple(self.header.get("options", "").split())

    def run_options(self, model_path: str | None) -> RunOptions:
        return RunOptions(
            dry_run="dry-run" in self.option_words,
            virtual_time="virtual-time" in self.option_words,
            test_model=model_path,
            state_file=self.state_file,
            audit_log=self._path_option("audit-log"),
            audit_prompts="audit-prompts" in self.option_words,
            arguments=tuple(self.header.get("arguments", "").split()),
        )

    def stage_text(self, emitted: str) -> str:
        """What a section of the golden holds of a stage's text: all, or the functions that the header names."""
        names = [name.strip() for name in self.header.get("functions", "").split(",") if name.strip()]
        if not names:
            return emitted
        parts = [part.rstrip("\n") + "\n" for part in emitted.split("\n\n")]
        return "\n".join(part for name in names for part in parts if part.startswith(f"function {name}("))

    @property
    def state_file(self) -> str | None:
        path = self._path_option("state-file")
        return STATE_FILE if path == "" else path

    def _path_option(self, wanted: str) -> str | None:
        for word in self.option_words:
            name, _, path = word.partition(":")
            if name == wanted:
                return path
        return None

    @property
    def run_count(self) -> int:
        return int(self.header.get("runs", "1"))

    @property
    def runs(self) -> bool:
        """Whether it says what running the program gives (and not only what a stage of the compiler gives)."""
        return any(name in self.sections for name in ("out", "exit", "report", "audit"))

    def text(self) -> str:
        """The golden as a file holds it."""
        lines = [f"{key}: {value}\n" for key, value in self.header.items()]
        further = [name for name in self.sections if name not in SECTIONS]
        for name in ("source", *further, *SECTIONS[1:]):
            if name in self.sections:
                lines.append(f"[{name}]\n{self.sections[name]}")
        return "".join(lines)


def read_golden(path: Path) -> Golden:
    """Reads a golden file; raises `GoldenError`."""
    header: dict[str, str] = {}
    sections: dict[str, str] = {}
    current: str | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), start=1):
        word = line.strip()
        if word.startswith("[") and word.endswith("]") and (word[1:-1] in SECTIONS or word.startswith(FILE_SECTION)):
            current = word[1:-1]
            if current in sections:
                raise GoldenError(f"{path}:{number}: a second [{current}] section")
            sections[current] = ""
        elif current is not None:
            sections[current] += line
        elif word:
            key, separator, value = word.partition(":")
            if not separator or key not in HEADER_KEYS:
                raise GoldenError(f"{path}:{number}: expected one of {', '.join(HEADER_KEYS)}, or a [section]")
            header[key] = value.strip()
    golden = Golden(path, header, sections)
    if "source" not in sections:
        raise GoldenError(f"{path}: no [source] section")
    for option in golden.option_words:
        if option.partition(":")[0] not in OPTION_WORDS:
            raise GoldenError(f"{path}: `{option}` is not one of the options {', '.join(OPTION_WORDS)}")
    return golden
