"""How a program is to be run: what the command line and the goldens say, and every engine takes."""

from __future__ import annotations

from dataclasses import dataclass

# The targets, each by its own name and by those that machines and other tools give it.
TARGET_NAMES = {
    "x86_64-linux": "x86_64-linux",
    "x86_64": "x86_64-linux",
    "x86-64": "x86_64-linux",
    "amd64": "x86_64-linux",
    "aarch64-linux": "aarch64-linux",
    "aarch64": "aarch64-linux",
    "arm64": "aarch64-linux",
}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`test_model`, `report`, `state_file` and `audit_log` are paths, or None (docs/test-model.md,
    docs/spec.md, docs/state-file.md, docs/audit-log.md)."""

    dry_run: bool = False
    virtual_time: bool = False
    test_model: str | None = None
    report: str | None = None
    state_file: str | None = None
    audit_log: str | None = None
    audit_prompts: bool = False
    arguments: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """The variables that tell a built binary the same."""
        variables: dict[str, str] = {}
        if self.dry_run:
            variables["KAVACH_DRY_RUN"] = "1"
        if self.virtual_time:
            variables["KAVACH_VIRTUAL_TIME"] = "1"
        if self.test_model is not None:
            variables["KAVACH_TEST_MODEL"] = self.test_model
        if self.report is not None:
            variables["KAVACH_REPORT"] = self.report
        if self.state_file is not None:
            variables["KAVACH_STATE_FILE"] = self.state_file
        if self.audit_log is not None:
            variables["KAVACH_AUDIT_LOG"] = self.audit_log
        if self.audit_prompts:
            variables["KAVACH_AUDIT_PROMPTS"] = "1"
        return variables
