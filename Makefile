# The two commands of README.md, and some for daily work. Everything else is `cargo xtask`.

.DEFAULT_GOAL := run
.PHONY: run sim test smoke bench build wheel install uninstall fmt cargo

CAIRN = target/release/cairn

# Where `make install` puts things. DESTDIR is set before all of it, for packages.
PREFIX = /usr/local
SYSCONFDIR = /etc
DESTDIR =
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = $(SHARE)/bash-completion/completions/cairn $(SHARE)/zsh/site-functions/_cairn \
    $(SHARE)/fish/vendor_completions.d/cairn.fish
DISSECTORS = $(SHARE)/cairn/wireshark
UNITS = $(addprefix $(DESTDIR)$(PREFIX)/lib/systemd/system/,cairn.service cairn-gateway.service)
CONFIG = $(DESTDIR)$(SYSCONFDIR)/cairn/cairn.toml
# Where Wireshark looks for plugins of all users: asked of tshark, and nowhere without it.
WIRESHARK_PLUGINS = $(shell tshark -G folders 2>/dev/null | sed -n 's/^Global Lua Plugins:[[:space:]]*//p')

# The main job: five real forwarders, real transfers, a report.
run: build
	$(CAIRN) lab run experiments/quickstart.toml

# The same in virtual time.
sim: build
	$(CAIRN) lab run experiments/quickstart.toml --on sim

build: cargo
	cargo build --release --locked --package cairn

# The lab as a package for Python 3.10 and newer: `pip install target/wheels/*.whl`.
wheel: cargo
	@command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 1; }
	rm -rf target/wheels
	CARGO_TARGET_DIR=$(CURDIR)/target python3 -m pip wheel --no-deps --wheel-dir target/wheels ./python

# The command, its manual pages, completions for three shells, units for systemd, a configuration where there
# is none yet, dissectors, and a plugin that starts them where Wireshark is installed. It takes what `make
# build` has built, so that nothing is compiled as root.
install:
	@test -x $(CAIRN) || { echo "$(CAIRN) is missing: run \`make build\` first" >&2; exit 1; }
	install -D -m 755 $(CAIRN) $(DESTDIR)$(PREFIX)/bin/cairn
	$(CAIRN) man $(SHARE)/man/man1
	install -d $(dir $(COMPLETIONS)) $(dir $(firstword $(UNITS))) $(dir $(CONFIG))
	$(CAIRN) completions bash > $(word 1,$(COMPLETIONS))
	$(CAIRN) completions zsh > $(word 2,$(COMPLETIONS))
	$(CAIRN) completions fish > $(word 3,$(COMPLETIONS))
	for unit in $(UNITS); do \
	    sed -e 's|/usr/bin/|$(PREFIX)/bin/|; s|/etc/cairn|$(SYSCONFDIR)/cairn|' \
	        packaging/$${unit##*/} > $$unit || exit 1; \
	done
	test -e $(CONFIG) || $(CAIRN) node config --sample > $(CONFIG)
	install -d $(DISSECTORS)
	install -m 644 wireshark/*.lua $(DISSECTORS)
	@plugins="$(WIRESHARK_PLUGINS)"; if test -n "$$plugins"; then \
	    install -d "$(DESTDIR)$$plugins" && \
	    echo 'dofile("$(PREFIX)/share/cairn/wireshark/cairn.lua")' > "$(DESTDIR)$$plugins/cairn.lua"; \
	else echo "no Wireshark here: docs/wireshark.md says how to install the dissectors later"; fi

# All but the configuration, which may have been changed.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/cairn $(SHARE)/man/man1/cairn.1 $(SHARE)/man/man1/cairn-*.1 \
	    $(COMPLETIONS) $(UNITS)
	rm -rf $(DISSECTORS)
	@plugins="$(WIRESHARK_PLUGINS)"; test -z "$$plugins" || rm -f "$(DESTDIR)$$plugins/cairn.lua"

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
	cargo fmt --manifest-path python/Cargo.toml

cargo:
	@command -v cargo >/dev/null || { \
	    echo "cargo is missing: install Rust 1.90 or newer with rustup" >&2; exit 1; }
