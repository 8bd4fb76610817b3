# cross.mk - the product and its tests for other machines: Debian's cross
# compilers, and musl and cmocka from their sources
#
# A make of its own in $(O)/ARCH; there, the development build is one with musl,
# too, because its tests run under qemu-user.

ARCH ?= aarch64 riscv64 armhf
CROSS_aarch64 := aarch64-linux-gnu
CROSS_riscv64 := riscv64-linux-gnu
CROSS_armhf := arm-linux-gnueabihf

MUSL_FROM := musl bookworm musl_1.2.3.orig.tar.gz 7d5b0b6062521e4627e099e4c9dc8248d32a30285e959b7eecaa780cf8cfd4a4
CMOCKA_FROM := cmocka bookworm cmocka_1.1.5.orig.tar.xz f0ccd8242d55e2fd74b16ba518359151f6f8383ff8aef4976e48393f77bba8b6
CROSS_DEPS := $(abspath $(DEPS))/cross

CROSS_STAMP := $(CROSS_DEPS)/.$(lastword $(MUSL_FROM))$(lastword $(CMOCKA_FROM))

$(CROSS_STAMP): scripts/fetch-deps
	$(Q)DEPS_DIR="$(DEPS_DIR)" sh scripts/fetch-deps $(CROSS_DEPS) \
		"$(MUSL_FROM)" "$(CMOCKA_FROM)"
	@touch $@

$(O)/%/musl/lib/libc.a: $(CROSS_STAMP)
	$(if $(CROSS_$*),,$(error no such machine: $*))
	$(Q)sh scripts/cross-libs musl $(O)/$* $(CROSS_$*) $(CROSS_DEPS)

cross_make = $(MAKE) --no-print-directory O=$(O)/$(1) \
	CC="$(CCACHE) $(CROSS_$(1))-gcc" AR=$(CROSS_$(1))-ar STRIP=$(CROSS_$(1))-strip \
	MUSL_LIB=$(abspath $(O))/$(1)/musl/lib MUSL_INC=$(abspath $(O))/$(1)/musl/include \
	DEPS_DIR=$(abspath $(DEPS))/tarballs

# Its header has an own idea of uintptr_t, unless told that there is one.
CMOCKA_FLAGS := -D_UINTPTR_T -D_UINTPTR_T_DEFINED -isystem $(CROSS_DEPS)/cmocka/include

# Of the development build and the tests: no sanitizer runs under qemu-user. Hidden,
# because nothing applies the relocations by name that riscv64's linker makes.
cross_dev = SANITIZE= DEV_CC="$(CCACHE) $(CROSS_$(1))-gcc -static-pie -fPIE \
	-fvisibility=hidden -specs=build/musl-static-pie.specs -idirafter $(O)/$(1)/gen/kernel \
	$(CMOCKA_FLAGS) -L$(O)/$(1)/cmocka"

$(O)/%/cmocka/libcmocka.a: $(O)/%/musl/lib/libc.a
	$(Q)sh scripts/cross-libs cmocka $(O)/$* $(CROSS_$*) $(CROSS_DEPS) "$(CMOCKA_FLAGS)"

cross: $(ARCH:%=cross-%) ## for ARCH (default aarch64 riscv64 armhf): out/ARCH/wardbox
cross-%: $(O)/%/musl/lib/libc.a $(DEP_STAMP)
	+$(Q)$(call cross_make,$*) all
check-cross: $(ARCH:%=check-cross-%) ## unit, fuzz and CLI tests (GROUPS=) of ARCH under qemu-user
check-cross-%: cross-% $(O)/%/cmocka/libcmocka.a
	+$(Q)$(call cross_make,$*) $(call cross_dev,$*) dev check-ready
	$(Q)O=$(O)/$* sh tests/cross $* $(GROUPS)
.PRECIOUS: $(O)/%/musl/lib/libc.a $(O)/%/cmocka/libcmocka.a
