# Two commands do everything on a fresh machine with Python 3.11, make and git: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Runs a binary of a CPU here, under qemu-user where it is not this machine's, or says that it cannot.
run-on = if test "$$(uname -m)" = $(1); then ./$(2); elif command -v qemu-$(1)-static >/dev/null; then qemu-$(1)-static ./$(2); else echo "skipped: no qemu-$(1)-static here"; fi

.PHONY: setup demo test lint bench clean

# Kept up to date with pyproject.toml; a half-made .venv is made again.
setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "kavachc needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "installing the packages (about 250 MB with the Zig compiler; once)"
	$(BIN)/pip install --disable-pip-version-check --progress-bar on -e ".[dev]"
	@# ARM64 programs run here under qemu-user, and a test drives gdb; without them those rows are skipped, and say so.
	@missing=""; \
	command -v qemu-aarch64-static >/dev/null || test "$$(uname -m)" = aarch64 || missing="qemu-user-static"; \
	command -v gdb >/dev/null || missing="$$missing gdb"; \
	if test -n "$$missing"; then \
	  if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
	    echo "installing $$missing, to run ARM64 programs here and to test debug information"; \
	    { apt-get update -qq && apt-get install -y -qq $$missing >/dev/null; } || echo "could not install $$missing: what needs it is skipped"; \
	  else echo "missing here: $$missing (Debian: apt install $$missing): what needs it is skipped"; fi; fi
	@touch $@

demo: setup
	@mkdir -p build
	$(BIN)/kavachc build examples/limit.kav -o build/limit-x86_64 --target x86_64-linux
	$(BIN)/kavachc build examples/limit.kav -o build/limit-aarch64 --target aarch64-linux
	@ls -l build/limit-x86_64 build/limit-aarch64
	@echo; echo "x86-64:"; $(call run-on,x86_64,build/limit-x86_64)
	@echo; echo "ARM64:"; $(call run-on,aarch64,build/limit-aarch64)
	@echo; echo "Every engine, with and without optimisation:"; $(BIN)/kavachc conform examples/limit.kav

test: setup
	@$(BIN)/python -m pytest --processes auto

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m ziglang fmt --check runtime

bench: setup
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis
