"""Reading a source file from disk."""

from __future__ import annotations

from pathlib import Path

from kavachc.diagnostics import codes
from kavachc.diagnostics.diagnostic import DiagnosticBag
from kavachc.source import SourceFile


def load(path: str, bag: DiagnosticBag) -> SourceFile | None:
    """The file at `path`, or None when it cannot be read; the reason is reported to `bag`.

    Drops a byte order mark and turns `\\r\\n` into `\\n`.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        bag.report(codes.FILE_NOT_FOUND, None, path=path)
    except IsADirectoryError:
        bag.report(codes.FILE_IS_DIRECTORY, None, path=path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        bag.report(codes.FILE_UNREADABLE, None, path=path, reason=reason)
    else:
        return decode(path, data, bag)
    return None


def decode(path: str, data: bytes, bag: DiagnosticBag) -> SourceFile | None:
    """The file `path` whose content is `data`, or None when that is not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{data[error.start]:02x}"
        bag.report(codes.FILE_NOT_UTF8, None, path=path, byte=byte, offset=error.start)
        return None
    return SourceFile(path, text.removeprefix("\ufeff").replace("\r\n", "\n"))
