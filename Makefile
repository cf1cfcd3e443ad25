# The two commands of README.md, and some for daily work. Everything else is `cargo xtask`.

.DEFAULT_GOAL := run
.PHONY: run sim test smoke bench build install uninstall fmt cargo

CAIRN = target/release/cairn

# Where `make install` puts things. DESTDIR is set before all of it, for packages.
PREFIX = /usr/local
SYSCONFDIR = /etc
DESTDIR =
SHARE = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = $(SHARE)/bash-completion/completions/cairn $(SHARE)/zsh/site-functions/_cairn \
    $(SHARE)/fish/vendor_completions.d/cairn.fish
UNITS = $(addprefix $(DESTDIR)$(PREFIX)/lib/systemd/system/,cairn.service cairn-gateway.service)
CONFIG = $(DESTDIR)$(SYSCONFDIR)/cairn/cairn.toml

# The main job: five real forwarders, real transfers, a report.
run: build
	$(CAIRN) lab run experiments/quickstart.toml

# The same in virtual time.
sim: build
	$(CAIRN) lab run experiments/quickstart.toml --on sim

build: cargo
	cargo build --release --locked --package cairn

# The command, its manual pages, completions for three shells, units for systemd, and a configuration where
# there is none yet. It takes what `make build` has built, so that nothing is compiled as root.
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

# All but the configuration, which may have been changed.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/cairn $(SHARE)/man/man1/cairn.1 $(SHARE)/man/man1/cairn-*.1 \
	    $(COMPLETIONS) $(UNITS)

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
	    echo "cargo is missing: install Rust 1.90 or newer with rustup" >&2; exit 1; }
