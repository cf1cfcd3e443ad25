# The two commands of README.md, and some for daily work. Everything else is `cargo xtask`.

.DEFAULT_GOAL := run
.PHONY: run sim test smoke bench build fmt cargo

CAIRN = target/release/cairn

# The main job: five real forwarders, real transfers, a report.
run: build
	$(CAIRN) lab run experiments/quickstart.toml

# The same in virtual time.
sim: build
	$(CAIRN) lab run experiments/quickstart.toml --on sim

build: cargo
	cargo build --release --locked --package cairn

# Everything that must pass before a merge.
test: cargo
	cargo xtask ci full

# The quick part of it.
smoke: cargo
	cargo xtask ci smoke

# What the engine, the packets, the links and the simulator cost.
bench: cargo
	cargo xtask bench

fmt: cargo
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml

cargo:
	@command -v cargo >/dev/null || { \
	    echo "cargo is missing: install Rust 1.88 or newer with rustup" >&2; exit 1; }
