# The two commands of README.md, and two for daily work. Everything else is `cargo xtask`.

.DEFAULT_GOAL := bench
.PHONY: bench test smoke fmt cargo

# The main job of this stage: how fast the engine forwards.
bench: cargo
	cargo xtask bench engine

# Everything that must pass before a merge.
test: cargo
	cargo xtask ci full

# The quick part of it.
smoke: cargo
	cargo xtask ci smoke

fmt: cargo
	cargo fmt --all
	cargo fmt --manifest-path fuzz/Cargo.toml

cargo:
	@command -v cargo >/dev/null || { \
	    echo "cargo is missing: install Rust 1.88 or newer with rustup" >&2; exit 1; }
