# wardbox - see `make help`

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
export LC_ALL := C

O ?= out
GEN := $(O)/gen
PREFIX ?= /usr/local
VERSION := 0.1.0
Q := $(if $(V),,@)

all: $(O)/wardbox ## the binary, out/wardbox

# An applet alone: the same rules with another configuration and output.
BOX_GOAL := $(filter box-%,$(MAKECMDGOALS))

include build/flags.mk
include build/config.mk
include build/deps.mk
include build/rules.mk
include build/check.mk
include build/cross.mk
include build/install.mk

# What `help` lists makes no file of its name, and these.
.PHONY: all check-ready bench-ready version-now $(CONFIG_GOALS) \
	$(shell sed -n 's/^\([a-z][a-z -]*\):.*## .*/\1/p' Makefile build/*.mk)
help: ## this list
	@sed -n 's/^\([a-z][a-z0-9 %_-]*\):.*## /\1\t/p' Makefile build/*.mk | \
		while IFS='	' read -r goals text; do \
			printf '%-34s %s\n' "$$goals" "$$text"; done
	@echo
	@echo "Variables: O=DIR (output, default out), V=1, WERROR=1, CC, PREFIX,"
	@echo "DESTDIR, DEPS_DIR=DIR (tarballs), SYSTEM_DEPS=1, SANITIZE=FLAGS"

clean: ## remove objects and binaries, keep the configuration and tarballs
	rm -rf $(O)/own.* $(O)/obj $(O)/dev $(O)/box $(O)/test $(O)/fuzz $(O)/stacks $(O)/wardbox \
		$(O)/wardbox.debug $(O)/wardbox.map $(O)/libcore.a

distclean: ## remove everything that was made
	rm -rf $(O)
