"""How a program is to be run: what the command line and the goldens say, and every engine takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`test_model` and `report` are paths, or None (scripted-model.md, spec report)."""

    dry_run: bool = False
    virtual_time: bool = False
    test_model: str | None = None
    report: str | None = None

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
        return variables
