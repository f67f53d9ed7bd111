"""The command line: statuses, streams, and messages for whatever it is given."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from programs import kavachc

COMMANDS = (["check"], ["run"], ["interp"], ["build", "-o", "out"], ["conform"], ["emit", "--stage", "ast"])


def bad_inputs(folder: Path) -> dict[str, tuple[str, str]]:
    """Name -> (path, the first line that says what is wrong)."""
    (folder / "folder.kav").mkdir()
    (folder / "latin.kav").write_bytes(b'fn main() { print("caf\xe9") }\n')
    (folder / "empty.kav").write_text("")
    (folder / "comment.kav").write_text("// nothing here\n")
    (folder / "unknown.kav").write_text("fn main() { print(nme) }\n")
    (folder / "type.kav").write_text('fn main() { const x: Int = "a" }\n')
    (folder / "end.kav").write_text("fn main() { print(1\n")
    return {
        "missing": ("nowhere.kav", "error: cannot find `nowhere.kav`"),
        "directory": ("folder.kav", "error: `folder.kav` is a directory, not a program"),
        "not UTF-8": ("latin.kav", "error: `latin.kav` is not UTF-8: byte 0xe9 at offset 22"),
        "empty": ("empty.kav", "error: `empty.kav` has no `main`"),
        "only a comment": ("comment.kav", "error: `comment.kav` has no `main`"),
        "unknown name": ("unknown.kav", "error: `nme` is not known here"),
        "wrong type": ("type.kav", "error: expected `Int`, but this is `String`"),
        "end of file": ("end.kav", "error: expected `)` to close `(`, found the end of the file"),
    }


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_bad_input_gives_a_diagnostic_and_status_1(tmp_path: Path, command: list[str]) -> None:
    for name, (path, first_line) in bad_inputs(tmp_path).items():
        if command[0] == "emit" and name in ("empty", "only a comment", "unknown name", "wrong type"):
            continue  # its syntax is fine, and `--stage ast` asks for no more
        if command[0] == "conform" and name == "directory":
            continue  # conform takes directories
        ended = kavachc(*command, path, cwd=tmp_path)
        output = ended.stdout + ended.stderr
        assert ended.returncode == 1, (name, output)
        assert "Traceback" not in output, (name, output)
        assert any(line.startswith(first_line) for line in output.splitlines()), (name, output)


def test_usage_errors_have_status_2(tmp_path: Path) -> None:
    for arguments in (
        ["frob"],
        ["run"],
        ["build", "x.kav", "-o"],
        ["build", "x.kav", "-o", ""],
        ["run", "x.kav", "-O", "9"],
        ["build", "x.kav", "-o", "y", "--target", "riscv"],
        ["conform", str(tmp_path)],
    ):
        ended = kavachc(*arguments)
        assert ended.returncode == 2, (arguments, ended.stdout, ended.stderr)
        assert "Traceback" not in ended.stderr


def test_every_mistake_is_reported(tmp_path: Path) -> None:
    program = tmp_path / "three.kav"
    program.write_text("fn a() -> Int { b }\nfn c() { d() }\nfn main() { const x: Bool = 1 }\n")
    ended = kavachc("check", str(program))
    assert [line for line in ended.stderr.splitlines() if line.startswith("error: ")] == [
        "error: `b` is not known here",
        "error: `d` is not known here",
        "error: expected `Bool`, but this is `Int`",
    ]


def test_a_good_program_checks_in_silence() -> None:
    ended = kavachc("check", str(ROOT / "examples" / "limit.kav"))
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 0)


@pytest.mark.parametrize("command", ["run", "interp"])
def test_output_goes_to_stdout_and_diagnostics_to_stderr(tmp_path: Path, command: str) -> None:
    program = tmp_path / "ask.kav"
    program.write_text('type Yes { ok: Bool }\nfn main() ! AiError { print(try ask<Yes>("a")) }\n')
    ended = kavachc(command, str(program), "--dry-run")
    assert ended.stdout == "Yes(ok: true)\n"
    assert ended.stderr == '[dry run] ask("a") -> Yes(ok: true)\n'
    assert ended.returncode == 0


def test_build_says_why_it_cannot_write(tmp_path: Path) -> None:
    program = str(ROOT / "examples" / "limit.kav")
    for output in (str(tmp_path), str(tmp_path / "no" / "such" / "folder"), "/proc/kavach"):
        ended = kavachc("build", program, "-o", output)
        assert ended.returncode == 1
        assert ended.stderr.startswith("error: "), ended.stderr
        assert output in ended.stderr
        assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("stage", ["ast", "typed", "ir", "opt", "llvm", "asm"])
def test_emit_shows_each_stage(stage: str) -> None:
    ended = kavachc("emit", str(ROOT / "examples" / "limit.kav"), "--stage", stage)
    assert ended.returncode == 0, ended.stderr
    assert "Refunder" in ended.stdout


def test_conform_prints_a_row_for_every_engine() -> None:
    ended = kavachc("conform", str(ROOT / "examples" / "limit.kav"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for engine in ("interp", "interp --host native", "run -O0", "run -O2", "x86_64 -O0", "aarch64 -O2"):
        assert f"\n  {engine} " in ended.stdout
    assert "DIFFERS" not in ended.stdout


def test_a_binary_is_put_only_where_a_file_may_stand(tmp_path: Path) -> None:
    source = tmp_path / "program.kav"
    source.write_text("fn main() { print(1) }\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "same.kav").symlink_to("program.kav")
    for output, message in (
        ("pipe", "it is not a regular file"),
        ("folder", "it is a directory"),
        ("program.kav", "it is the program itself"),
        ("same.kav", "it is the program itself"),
        ("nowhere/out", "there is no directory nowhere"),
    ):
        ended = kavachc("build", "program.kav", "-o", output, cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (1, f"error: cannot write {output}: {message}\n")
    assert source.read_text() == "fn main() { print(1) }\n"
    (tmp_path / "link").symlink_to("target")
    assert kavachc("build", "program.kav", "-o", "link", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").is_file()


def test_file_names_may_hold_any_bytes(tmp_path: Path) -> None:
    name = os.fsdecode(b"od d\xff\x1b\n.kav")
    (tmp_path / name).write_text("fn main() { print([1][5]) }\n")
    for command in (["run"], ["interp"], ["interp", "--host", "native"]):
        ended = kavachc(*command, name, cwd=tmp_path)
        assert ended.returncode == 101
        place = "od d\ufffd\ufffd\ufffd.kav:1:19"
        assert ended.stderr == f"panic: index 5 is out of range: the length is 1 at {place}\n"


def test_a_file_without_an_end_is_refused() -> None:
    ended = kavachc("check", "/dev/zero")
    assert ended.returncode == 1
    assert ended.stderr == "error: `/dev/zero` is too large for a program: it has more than 64 MB\n"


def test_a_test_model_without_an_end_cannot_be_read(tmp_path: Path) -> None:
    source = tmp_path / "program.kav"
    source.write_text('fn main() { print(ask<Int>("a") catch _ => 0) }\n')
    for command in (["interp"], ["interp", "--host", "native"], ["run"]):
        ended = kavachc(*command, "program.kav", "--test-model", "/dev/zero", cwd=tmp_path)
        assert (ended.returncode, ended.stderr) == (2, "error: test model /dev/zero: cannot be read\n")
    assert kavachc("build", "program.kav", "-o", "program", cwd=tmp_path).returncode == 0
    environment = {"KAVACH_TEST_MODEL": "/dev/zero"}
    binary = subprocess.run([tmp_path / "program"], env=environment, capture_output=True, text=True, check=False)
    assert (binary.returncode, binary.stderr) == (2, "error: test model /dev/zero: cannot be read\n")


def test_ctrl_c_ends_a_run_with_status_130(tmp_path: Path) -> None:
    source = tmp_path / "program.kav"
    source.write_text("fn main() {\n    print(1)\n    Time.sleep(1h)\n}\n")
    for command in (["interp"], ["run"]):
        arguments = [sys.executable, "-c", "from kavachc.cli import main; main()", *command, str(source)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            time.sleep(5)
            running.send_signal(signal.SIGINT)
            _, stderr = running.communicate(timeout=30)
        assert running.returncode == 130 and b"Traceback" not in stderr


def test_a_target_may_be_called_as_other_tools_do(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text("fn main() { print(1) }\n")
    assert kavachc("build", "a.kav", "--target", "arm64", cwd=tmp_path).returncode == 0
    # Without -o the binary is FILE without its ending.
    assert (tmp_path / "a").read_bytes()[18] == 0xB7  # EM_AARCH64


def test_run_and_interp_take_the_variables_of_a_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.kav").write_text("fn main() { Time.sleep(365d)\nprint(1) }\n")
    monkeypatch.setenv("KAVACH_VIRTUAL_TIME", "1")
    monkeypatch.setenv("KAVACH_DRY_RUN", "1")
    for command in ("run", "interp"):
        assert kavachc(command, "a.kav", cwd=tmp_path).stdout == "1\n"


def test_conform_says_that_a_program_takes_time(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text("fn main() { Time.sleep(1ms)\nprint(1) }\n")
    ended = kavachc("conform", "a.kav", cwd=tmp_path)
    assert ended.returncode == 0
    assert ended.stderr == "note: this program uses `Time`: with --virtual-time, sleeping takes no time\n"


def test_files_that_cannot_be_read_are_told_in_the_same_words(tmp_path: Path) -> None:
    (tmp_path / "text.log").write_text("a line\nanother\n")
    (tmp_path / "word").write_text("word")
    (tmp_path / "folder").mkdir()
    for command in (["check"], ["run"], ["conform"], ["audit"], ["ledger"]):
        ended = kavachc(*command, "nowhere", cwd=tmp_path)
        assert ended.stderr.startswith("error: cannot find `nowhere`\n"), command
    ended = kavachc("audit", "folder", cwd=tmp_path)
    assert (ended.stderr, ended.returncode) == ("error: `folder` is a directory, not an audit log\n", 1)
    for name in ("text.log", "word"):
        ended = kavachc("audit", name, cwd=tmp_path)
        assert (ended.stderr, ended.returncode) == (
            f"error: audit log {name}: no line of it is one of an audit log\n",
            1,
        )


def test_an_import_of_nothing_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text('import ""\nimport "."\nfn main() { }\n')
    ended = kavachc("check", "a.kav", cwd=tmp_path)
    assert "error: cannot find ``" in ended.stderr and "is a directory, not a program" in ended.stderr
    assert "twice" not in ended.stderr


def test_a_build_on_a_terminal_tells_what_it_does(tmp_path: Path) -> None:
    (tmp_path / "a.kav").write_text("fn main() { print(1) }\n")
    main_end, terminal_end = pty.openpty()
    command = [sys.executable, "-c", "from kavachc.cli import main; main()", "build", "a.kav"]
    subprocess.run(command, cwd=tmp_path, stderr=terminal_end, stdin=subprocess.DEVNULL, check=True)
    os.close(terminal_end)
    shown = b""
    while not shown.endswith(b"\r\x1b[K"):
        shown += os.read(main_end, 4096)
    os.close(main_end)
    steps = ["checking a.kav", "lowering", "generating machine code", "linking", ""]
    assert shown.decode() == "".join(f"\r{step}\x1b[K" for step in steps)
    piped = kavachc("build", "a.kav", cwd=tmp_path)
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, "", "")
