# flags.mk - compilers and flags
#
# The product is built with gcc against musl as a static PIE. Debian's musl-gcc
# cannot link one, so the project's own specs drive the plain gcc instead; on a
# native musl system gcc is used as it is.

ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
STRIP ?= strip

MACHINE := $(shell $(CC) -dumpmachine)
MUSL_MACHINE := $(subst -gnu,-musl,$(subst -pc-,-,$(MACHINE)))
ifneq ($(findstring musl,$(MACHINE)),)
TARGET_CC := $(CC)
else
export MUSL_LIB ?= /usr/lib/$(MUSL_MACHINE)
export MUSL_INC ?= /usr/include/$(MUSL_MACHINE)
TARGET_CC := $(CC) -specs=build/musl-static-pie.specs
# musl hides the kernel's headers; a directory with nothing but them shows them
# again, behind everything else.
KERNEL_INC := $(GEN)/kernel
TARGET_INC := -idirafter $(KERNEL_INC)
endif

STD := -std=c11 -D_GNU_SOURCE -funsigned-char

# One path buffer and a kilobyte; an unoptimised build may say more.
FRAME ?= 5120
WARN := -Wall -Wextra -Wformat=2 -Wshadow -Wconversion -Wsign-conversion \
	-Wstrict-prototypes -Wmissing-prototypes -Wvla -Walloca -Wundef \
	-Wcast-qual -Wwrite-strings -Wswitch-enum -Wimplicit-fallthrough \
	-Wnull-dereference -Wframe-larger-than=$(FRAME)
WARN_GCC := -Wlogical-op -Wduplicated-cond -Wtrampolines
ifdef WERROR
WARN += -Werror
endif

HARDEN := -fstack-protector-strong -fstack-clash-protection \
	-ftrivial-auto-var-init=zero -fzero-call-used-regs=used-gpr
HARDEN += $(if $(findstring aarch64,$(MACHINE)),-mbranch-protection=standard)
# Constants lie as the ABI has them, with no room between for vectors. The canary
# is musl's word for it, as on other machines: the copy in the thread's block,
# which without threads lies beside it, takes longer instructions.
LAYOUT := $(if $(findstring x86_64,$(MACHINE)),-malign-data=abi -mstack-protector-guard=global)

# Relative relocations packed into a bitmap, where the linker knows how and
# applets/start.c can read them.
ifneq ($(findstring x86_64,$(MACHINE)),)
ifneq ($(shell $(CC) -Wl,--help 2>/dev/null | grep -- pack-relative-relocs),)
START := applets/start.c
START_LDFLAGS := -Wl,-z,pack-relative-relocs -Wl,-e,start -Wl,-T,build/tight.ld
endif
endif

# Nothing of the path of the tree may reach the binary.
REPRO := -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(abspath $(O))=out

# For size; what of libcore runs once per byte or record, for speed. Each of
# these passes makes more code than it saves here, also at -Oz.
SMALL := -fno-caller-saves -fno-thread-jumps -fno-move-loop-invariants \
	-fno-tree-loop-im -fno-tree-dominator-opts -fno-shrink-wrap -fno-tree-sra \
	-fno-if-conversion -fno-tree-tail-merge -fno-optimize-sibling-calls \
	-fno-jump-tables
OPT ?= $(shell for o in "-Oz $(SMALL)" -Oz -Os; do $(CC) $$o -Werror -E -x c /dev/null >/dev/null 2>&1 && echo $$o && break; done)
OPT_HOT ?= -O2
HOT := log/audit_read_filter base/cbor base/crc32c sys/sha256_hw base/arena
TARGET_CFLAGS := $(STD) -fPIE -ffunction-sections -fdata-sections \
	-fno-common -fvisibility=hidden -fno-unwind-tables \
	-fno-asynchronous-unwind-tables $(HARDEN) $(LAYOUT) $(REPRO)
TARGET_LDFLAGS := -static-pie -Wl,--gc-sections -Wl,-z,relro,-z,now \
	-Wl,-z,noexecstack -Wl,-z,separate-code -Wl,--build-id=sha1 \
	-Wl,--fatal-warnings $(START_LDFLAGS) -Wl,-T,build/sections.ld

# The development build: the machine's own libc, with sanitizers.
DEV_CC ?= $(CC)
SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=all
DEV_CFLAGS := $(STD) -O1 -g -fno-omit-frame-pointer $(SANITIZE)
DEV_LDFLAGS := $(SANITIZE)
