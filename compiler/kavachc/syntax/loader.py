"""Reading a source file from disk."""

from __future__ import annotations

from pathlib import Path

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile, Span

# No program is larger, and a file without an end (`/dev/zero`) is still refused in a moment.
FILE_BYTES_MAX = 64 << 20


def load(path: str, bag: DiagnosticBag, shown: str | None = None, span: Span | None = None) -> SourceFile | None:
    """The file at `path`, or None when it cannot be read; the reason is reported to `bag`.

    Of an imported file, `shown` is how messages write its path, and `span` is where it is imported.

    Drops a byte order mark and turns `\\r\\n` into `\\n`.
    """
    shown = path if shown is None else shown
    help_text = None if span is None else f"the path is relative to the folder of {span.file.path}"
    try:
        if not path:
            raise FileNotFoundError  # `Path("")` would be the current folder.
        with Path(path).open("rb") as opened:
            data = opened.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        bag.report(codes.FILE_NOT_FOUND, span, path=_as_text(shown), help=help_text)
    except IsADirectoryError:
        bag.report(codes.FILE_IS_DIRECTORY, span, path=_as_text(shown))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        bag.report(codes.FILE_UNREADABLE, span, path=_as_text(shown), reason=reason)
    else:
        if len(data) <= FILE_BYTES_MAX:
            return decode(shown, data, bag, span)
        bag.report(codes.FILE_TOO_LARGE, span, path=_as_text(shown), limit=FILE_BYTES_MAX >> 20)
    return None


def decode(path: str, data: bytes, bag: DiagnosticBag, span: Span | None = None) -> SourceFile | None:
    """The file `path` whose content is `data`, or None when that is not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{data[error.start]:02x}"
        bag.report(codes.FILE_NOT_UTF8, span, path=_as_text(path), byte=byte, offset=error.start)
        return None
    return SourceFile(_as_text(path), text.removeprefix("\ufeff").replace("\r\n", "\n"))


def _as_text(path: str) -> str:
    """The path as programs and messages show it: a file's name can hold bytes and marks that no text has."""
    readable = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in readable)
