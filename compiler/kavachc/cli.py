"""The command line (issue contract: other tools depend on it).

Exit status: 0 fine; 1 the program was refused by the compiler, or its main failed; 2 usage; 101 panic.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from kavachc import streams
from kavachc.diagnostics.diagnostic import CompileErrors, Diagnostic
from kavachc.diagnostics.output import DiagnosticOutput, Form
from kavachc.driver import Compilation, HostKind, MainNeed
from kavachc.errors import ToolError
from kavachc.options import TARGET_NAMES, RunOptions

Command = Callable[..., None]

_level = click.option(
    "-O", "level", type=click.IntRange(0, 3), default=2, show_default=True, help="How much to optimise."
)
_target = click.option(
    "--target",
    type=click.Choice(list(TARGET_NAMES)),
    metavar="TARGET",
    callback=lambda _context, _parameter, name: TARGET_NAMES.get(name),
    help="x86_64-linux (amd64) or aarch64-linux (arm64). Default: this machine's.",
)
_file = click.argument("file", metavar="FILE")


def _set_form(context: click.Context, _parameter: click.Parameter, form: Form) -> None:
    context.find_object(DiagnosticOutput).form = form  # type: ignore[union-attr]


_form = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    expose_value=False,
    callback=_set_form,
    help="How diagnostics are written: json is one object a line (docs/diagnostics.md).",
)


def _or_variable(name: str) -> Callable[[click.Context, click.Parameter, bool], bool]:
    """A flag is also given by the environment variable `name`, as for a binary: set, and neither empty nor 0."""
    return lambda _context, _parameter, given: given or os.environ.get(name, "") not in ("", "0")


def _run_options(command: Command) -> Command:
    for option in (
        click.argument("arguments", nargs=-1, metavar="[-- ARGS]"),
        click.option(
            "--state-file",
            metavar="FILE",
            envvar="KAVACH_STATE_FILE",
            help="Keep the windows of limits in FILE, across restarts and for several processes.",
        ),
        click.option(
            "--audit-prompts", is_flag=True, envvar="KAVACH_AUDIT_PROMPTS", help="The audit log holds prompts."
        ),
        click.option(
            "--audit-log",
            metavar="FILE",
            envvar="KAVACH_AUDIT_LOG",
            help="Append a line to FILE for each step of an ask and each call that an agent makes.",
        ),
        click.option(
            "--report",
            metavar="FILE",
            envvar="KAVACH_REPORT",
            help="Write live blocks and the ledger to FILE at the end.",
        ),
        click.option(
            "--virtual-time",
            is_flag=True,
            callback=_or_variable("KAVACH_VIRTUAL_TIME"),
            help="Time passes only by sleeping; needs a test model or a dry run.",
        ),
        click.option(
            "--test-model", metavar="FILE", envvar="KAVACH_TEST_MODEL", help="Answer asks from a scripted model."
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            callback=_or_variable("KAVACH_DRY_RUN"),
            help="Send nothing: asks give the first legal value of their type.",
        ),
        _form,
        _file,
    ):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="kavachc")
def cli() -> None:
    """Compiler for Kavach: programs that let an AI model act, within limits."""


@cli.command()
@_form
@_file
@click.option("--verbose", is_flag=True, help="Also say which asks have their schema in the prompt, and why.")
@click.pass_obj
def check(output: DiagnosticOutput, file: str, verbose: bool) -> None:
    """Report every mistake in FILE; nothing when there is none. A file with tests needs no `main`."""
    compilation = _checked(file, output, main="unless tests")
    if verbose:
        output.write(compilation.notes())


@cli.command()
@_run_options
@_level
@click.pass_obj
def run(
    output: DiagnosticOutput,
    /,
    file: str,
    level: int,
    **options: Any,
) -> None:
    """Compile FILE and run it in this process."""
    _leave(_checked(file, output).run(RunOptions(**options), level))


@cli.command()
@_run_options
@_level
@click.option("--host", type=click.Choice(["model", "native"]), default="model", show_default=True, help="The runtime.")
@click.pass_obj
def interp(
    output: DiagnosticOutput,
    /,
    file: str,
    level: int,
    host: HostKind,
    **options: Any,
) -> None:
    """Interpret FILE; `--host` chooses the plain-Python runtime or the native one. -O changes nothing here."""
    _leave(_checked(file, output).interpret(RunOptions(**options), host))


@cli.command()
@_form
@_file
@click.option("-o", "binary", metavar="OUT", help="The binary to write; default: FILE's name without .kav, here.")
@_target
@_level
@click.option("-g", "debug", is_flag=True, help="With debug information: gdb then knows lines and functions.")
@click.pass_obj
def build(output: DiagnosticOutput, file: str, binary: str | None, target: str | None, level: int, debug: bool) -> None:
    """Compile FILE to a static binary for x86-64 or ARM64 Linux."""
    if binary == "":
        raise click.UsageError("-o needs the name of the binary to write")
    _checked(file, output).build(binary or Path(file).stem, target, level, debug=debug)


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--test-model", metavar="FILE", help="For .kav files: the scripted model.")
@click.option("--virtual-time", is_flag=True, help="For .kav files.")
@click.option("--dry-run", is_flag=True, help="For .kav files.")
@_form
@click.pass_obj
def conform(
    output: DiagnosticOutput, paths: tuple[str, ...], test_model: str | None, virtual_time: bool, dry_run: bool
) -> None:
    """Run programs on every engine and compare stdout, stderr, status and ledger.

    PATH is a .kav file, a .golden file, or a directory of them.
    """
    from kavachc.conform import conform_paths

    _leave(conform_paths(paths, RunOptions(dry_run, virtual_time, test_model), output))


@cli.command()
@click.argument("paths", nargs=-1, metavar="[PATH...]")
@click.option("--filter", "wanted", metavar="TEXT", default="", help="Only tests whose name contains TEXT.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many files at once; default: one a CPU.")
@click.option("--test-model", metavar="FILE", help="Answer asks from FILE; default: NAME.model.json beside NAME.kav.")
@click.option("--dry-run", is_flag=True, help="Asks give the first legal value of their type.")
@click.option("--verbose", is_flag=True, help="Show what passed tests printed, too.")
@click.option("--engine", type=click.Choice(["interp", "run"]), default="interp", show_default=True)
@_form
@click.pass_obj
def test(
    output: DiagnosticOutput,
    paths: tuple[str, ...],
    wanted: str,
    jobs: int | None,
    test_model: str | None,
    dry_run: bool,
    verbose: bool,
    engine: str,
) -> None:
    """Run the tests in PATHs, .kav files or folders of them (default: this folder).

    Each runs by itself, under virtual time. Exit status: 0 when all passed, 1 when one did not, 2 when there is none.
    """
    from kavachc.testing import TestRun, run_tests

    _leave(run_tests(paths or (".",), TestRun(wanted, test_model, dry_run, verbose, engine, output), jobs))


@cli.command()
@_form
@_file
@click.option("--stage", type=click.Choice(["ast", "typed", "ir", "opt", "llvm", "asm"]), required=True)
@_target
@_level
def emit(file: str, stage: str, target: str | None, level: int) -> None:
    """Print what FILE is after a stage of the compiler."""
    click.echo(Compilation(file).emit(stage, target, level), nl=False)


@cli.command()
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Say what the diagnostic CODE means, with a wrong and a right program; without CODE, list them all."""
    from kavachc.diagnostics.explain import contents, page

    click.echo(contents() if code is None else page(code), nl=False)


@cli.command()
@_file
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
@click.option("--check", is_flag=True, help="Only verify the file; exit status 1 when something is wrong with it.")
@click.option("--html", metavar="OUT", help="Write a page with the windows as charts.")
def ledger(file: str, as_json: bool, check: bool, html: str | None) -> None:
    """Show what a state file holds: each rule, what is used of it, when room returns. The file is not changed."""
    from kavachc.ledger import views
    from kavachc.ledger.reading import read_contents
    from kavachc.progress import progress

    with progress() as shown:
        contents = read_contents(file, lambda part: shown.show(f"reading {file}: {part:4.0%}"))
    if html is not None:
        try:
            Path(html).write_text(views.as_page(contents), encoding="utf-8")
        except OSError as error:
            raise ToolError(f"cannot write {html}: {error.strerror}") from None
    if check:
        torn = f"; its last {contents.torn_bytes} bytes, never written to their end, will be cut"
        click.echo(
            f"{file}: sound: {contents.frame_count} frames, {contents.item_count} records"
            + (torn if contents.torn_bytes else "")
        )
    elif as_json:
        sys.stdout.writelines(f"{line}\n" for line in views.json_lines(contents))
    elif html is None:
        for line in views.text_lines(contents):
            click.echo(line)


@cli.command("mock-provider")
@_file
@click.option("--port", type=click.IntRange(0, 65_535), default=0, show_default=True, help="0 picks a free one.")
@click.option("--tls", is_flag=True, help="Serve HTTPS, with a certificate for tests.")
@click.option("--log", metavar="LOG", help="Write one JSON object a line to LOG for each request.")
def mock_provider(file: str, port: int, tls: bool, log: str | None) -> None:
    """Play the scripted model FILE over real HTTP on 127.0.0.1, as a provider would (docs/mock-provider.md)."""
    from kavachc.mock.command import serve

    _leave(serve(file, port, tls=tls, log_path=log))


@cli.command()
@_file
@click.option("--verify", is_flag=True, help="Only check that no line was changed, removed or moved.")
@click.option("--holds", metavar="HASH", help="Check too that the line with this hash, seen before, is still there.")
def audit(file: str, verify: bool, holds: str | None) -> None:
    """Show the audit log FILE, or check it; exit status 1 when something is wrong with it."""
    from kavachc.audit.reading import read_file, text_lines

    contents = read_file(file)
    problem = contents.problem
    if problem is None and holds is not None and holds not in contents.hashes:
        problem = f"no line has the hash {holds}: lines were removed at the end, or it is another log"
    if not verify:
        for line in text_lines(contents.events):
            click.echo(line)
    if problem is not None:
        raise ToolError(f"audit log {file}: {problem}")
    if verify:
        last = f"; the last has the hash {contents.hashes[-1]}" if contents.hashes else ""
        click.echo(f"{file}: sound: {len(contents.events)} lines{last}")
        if contents.note is not None:
            click.echo(f"note: {contents.note}")


def _checked(file: str, output: DiagnosticOutput, *, main: MainNeed = "always") -> Compilation:
    """The program without mistakes; what there is to warn about is said, once."""
    compilation = Compilation(file, main=main)
    _ = compilation.program
    output.write(compilation.bag.items)
    return compilation


def _leave(status: int) -> NoReturn:
    sys.exit(status)


def _fail(output: DiagnosticOutput, message: str, status: int) -> int:
    """The status after a message that is about no place in the program, and so has no code."""
    if output.form == "json":
        output.write([Diagnostic("", message)])
    else:
        print(f"error: {message}", file=sys.stderr)
    return status


def main() -> None:
    """The console script: every failure becomes a message, never a traceback."""
    streams.secure()
    sys.exit(_status())


def _status() -> int:
    output = DiagnosticOutput()
    try:
        status = _run_command(output)
        sys.stdout.flush()
        return status
    except click.exceptions.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except CompileErrors as errors:
        output.write(errors.diagnostics)
        return 1
    except ToolError as error:
        return _fail(output, str(error), error.status)
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        return _fail(output, "out of memory", 1)
    except Exception as error:
        if os.environ.get("KAVACHC_TRACEBACK"):
            raise
        return _fail(
            output,
            f"kavachc itself failed ({type(error).__name__}: {error}); a bug in the compiler, not in the program\n"
            "help: run again with KAVACHC_TRACEBACK=1 and report what it prints",
            1,
        )


def _run_command(output: DiagnosticOutput) -> int:
    """The status with which the command leaves. Not click's "standalone" mode, which would have its own ways with
    Ctrl-C and a closed pipe; it gives a status after --help."""
    try:
        status = cli.main(standalone_mode=False, obj=output)
    except SystemExit as leaving:
        status = leaving.code
    return status if isinstance(status, int) else 0
