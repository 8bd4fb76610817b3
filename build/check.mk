# check.mk - tests, lint, sizes

UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
TEST := $(O)/test

# What a unit test may lean on, beyond libcore: its data, beside its source.
TEST_DEFS := -DTEST_DATA='"$(CURDIR)/tests/data"'

# What only tests use of the shell's tree: its text in one canonical form.
$(TEST)/test_shell_parse $(TEST)/fuzz_shell: PARTS = $(wildcard tests/parts/shell_print*.c)
$(TEST)/test_%: tests/unit/test_%.c $(O)/dev/libcore.a $(DEV_DEP_LIBS)
	@mkdir -p $(@D)
	@echo "  CC test  $<"
	$(Q)$(DEV_COMPILE) -Wno-conversion -Wno-sign-conversion $(TEST_DEFS) \
		-iquote tests/lib -iquote tests -o $@ $< $(PARTS) $(O)/dev/libcore.a $(DEV_DEP_LIBS) \
		-lcmocka

$(TEST)/fuzz_%: tests/fuzz/fuzz_%.c tests/lib/replay.c $(O)/dev/libcore.a $(DEV_DEP_LIBS)
	@mkdir -p $(@D)
	@echo "  CC fuzz  $<"
	$(Q)$(DEV_COMPILE) -Wno-missing-prototypes -Wno-conversion \
		-Wno-sign-conversion -iquote tests -o $@ $< $(PARTS) tests/lib/replay.c \
		$(O)/dev/libcore.a $(DEV_DEP_LIBS)

# Programs that tests/cli and tests/e2e run: tests/lib/NAME.c becomes
# out/test/lib/NAME, static so that it runs in any root.
HELPERS := $(patsubst tests/lib/%.c,$(TEST)/lib/%,\
	$(filter-out tests/lib/replay.c tests/lib/attack_%,$(wildcard tests/lib/*.c)))
$(TEST)/lib/attack: $(wildcard tests/lib/attack_*.c)
$(TEST)/lib/allocator $(TEST)/lib/libc: applets/malloc.c applets/libc.c libcore/base/heap.c
$(TEST)/lib/%: tests/lib/%.c | $(GENERATED) $(GEN)/.kernel
	@mkdir -p $(@D)
	$(Q)$(TARGET_CC) $(STD) -O2 -fPIE -static-pie -iquote libcore $(TARGET_INC) -o $@ $^

# Programs of tests/bench: as the product is compiled, linked with libcore.
BENCHES := $(patsubst tests/bench/%.c,$(TEST)/bench/%,$(wildcard tests/bench/*.c))
START_OBJECT := $(START:%.c=$(O)/obj/%.o)
$(TEST)/bench/%: tests/bench/%.c $(START_OBJECT) $(O)/libcore.a $(DEP_LIBS)
	@mkdir -p $(@D)
	$(Q)$(TARGET_CC) $(OPT_HOT) $(TARGET_CFLAGS) $(INCLUDES) $(DEP_INC) $(TARGET_INC) \
		$(TARGET_LDFLAGS) -o $@ $< $(START_OBJECT) $(O)/libcore.a \
		$(DEP_LIBS)

check: all dev ## every test that fits into minutes
	$(Q)$(MAKE) --no-print-directory check-ready
	$(Q)O=$(O) sh tests/run unit fuzz cli build e2e
check-ready: $(O)/wardbox $(O)/dev/wardbox $(UNIT:%=$(TEST)/%) $(FUZZ:%=$(TEST)/%) $(HELPERS)
check-unit: $(UNIT:%=$(TEST)/%) ## libcore's modules under sanitizers
check-fuzz: $(FUZZ:%=$(TEST)/%) ## replay the fuzzers' corpora
check-cli: $(O)/wardbox $(O)/dev/wardbox $(HELPERS) ## the applets, through the real binary
check-e2e: $(O)/wardbox $(HELPERS) ## whole roots and real programs
check-build: ## layers, headers, configurations, declarations
day: $(O)/wardbox ## an agent's honest day, plain and guarded (tests/day/README.md)
	$(Q)O=$(O) tests/day/run $(DAY_ARGS)
soak: $(O)/wardbox ## N=2000 commands by eight shims, killed, denied, on a full disk
	$(Q)O=$(O) sh tests/soak/run $(N)
check-long: $(O)/wardbox $(TEST)/test_audit_kills $(HELPERS) ## the end-to-end runs that take long
check-unit check-fuzz check-cli check-e2e check-build check-long:
	$(Q)O=$(O) sh tests/run $(@:check-%=%)
# What each takes on two cores: HACKING.md.
# The cross builds come before the boots, one of which is of theirs.
FULL_GOALS ?= check analyze repro check-cross check-long soak
check-full: ## check, the analyzers, the long runs, the soak, other machines
	+$(Q)MAKE="$(MAKE) --no-print-directory O=$(O)" sh tests/full $(FULL_GOALS)

# libFuzzer, T seconds per harness.
T ?= 60
FUZZ_CC ?= clang
fuzz: $(GENERATED) $(DEP_STAMP) ## fuzz each parser for T=60 seconds
	$(Q)bad=; for f in $(FUZZ); do \
		sh tests/fuzz/run $(O) $$f $(T) || bad="$$bad $$f"; \
	done; [ -z "$$bad" ] || { echo "fuzz: found something:$$bad"; exit 1; }

bench: $(O)/wardbox $(HELPERS) $(BENCHES) ## ratios beside peers, as a table
	$(Q)O=$(O) sh tests/bench/run $(BENCH_ARGS)
bench-ready: $(O)/wardbox $(HELPERS) $(BENCHES)
bench-compare: bench-ready ## what changed since BASE=rev, measured now
	$(Q)O=$(O) sh tests/bench/compare $(BASE)

LINT_SOURCES := $(wildcard applets/*.c libcore/*/*.c)
LINT_SCRIPTS := $(filter-out scripts/%.awk scripts/packages scripts/words scripts/cppcheck.supp scripts/%.c,$(wildcard scripts/*)) \
	tests/run .ci/run $(wildcard tests/fuzz/run tests/cross tests/soak/run tests/bench/run tests/bench/compare)
lint: $(GENERATED) $(DEP_STAMP) $(O)/dev/manopts check-headers check-layers ## style, man pages, shell scripts, spelling
	$(Q)sh scripts/lint $(O) $(LINT_SCRIPTS)
analyze: $(GENERATED) $(DEP_STAMP) ## clang-tidy, cppcheck, gcc -fanalyzer
	$(Q)CC="$(DEV_CC)" GEN=$(GEN) FLAGS="$(STD) -O1 $(INCLUDES) $(DEP_INC)" \
		sh scripts/analyze $(LINT_SOURCES)
check-headers: $(GENERATED) $(DEP_STAMP) ## every header compiles alone
	$(Q)COMPILE='$(DEV_COMPILE) -fsyntax-only -x c -' sh scripts/check-headers
check-layers: $(O)/libcore.a ## libcore prints nothing, includes go one way
	$(Q)sh scripts/check-layers $(O)/libcore.a

$(O)/dev/manopts: scripts/manopts.c $(DEV_BOX_OBJECTS) $(O)/dev/libcore.a $(DEV_DEP_LIBS)
	$(Q)$(DEV_COMPILE) $(DEV_LDFLAGS) -iquote applets -o $@ scripts/manopts.c \
		$(filter-out $(O)/dev/applets/main.o $(O)/dev/applets/toplevel.o $(O)/dev/applets/completion.o,$(DEV_BOX_OBJECTS)) \
		$(O)/dev/libcore.a $(DEV_DEP_LIBS)
man: $(O)/dev/manopts ## write the OPTIONS of the man pages from the option tables
	$(Q)for a in $(APPLETS_ON); do $(O)/dev/manopts $$a applets/$$a.1 || exit 1; done

size: $(O)/wardbox ## bytes per section, folder and object, beside the budget (OF=all: of each configuration)
	$(Q)sh scripts/size $(O) $(OF)
# What the applets' prompts in Kconfig say, against what is linked.
APPLET_SIZES = COMPILE="$(TARGET_CC) $(OPT) $(TARGET_CFLAGS) $(INCLUDES) $(TARGET_INC)" \
	LINK="$(TARGET_CC) $(TARGET_CFLAGS) $(TARGET_LDFLAGS) -s" \
	sh scripts/applet-sizes $(O)
APPLET_INPUTS := $(filter-out $(O)/obj/gen/applets.o,$(BOX_OBJECTS)) \
	$(LIBCORE) $(DEP_LIBS)
check-prompts: $(O)/wardbox ## what each applet adds, beside its Kconfig prompt
	$(Q)$(APPLET_SIZES) $(APPLET_INPUTS)
prompts: $(O)/wardbox ## write what each applet adds into its prompt
	$(Q)$(APPLET_SIZES) --write $(APPLET_INPUTS)
baseline: $(O)/wardbox ## keep this binary for bloatcheck
	$(Q)cp $(O)/wardbox.debug $(O)/wardbox.base
bloatcheck: $(O)/wardbox ## what grew since the baseline, by symbol
	$(Q)sh scripts/bloatcheck $(O)/wardbox.base $(O)/wardbox.debug
stacks: ## the largest stack frames
	$(Q)$(MAKE) --no-print-directory O=$(O)/stacks DEPS=$(abspath $(DEPS)) \
		OPT="-Os -fstack-usage" all >/dev/null
	$(Q)cat $$(find $(O)/stacks -name '*.su') | sort -t'	' -k2 -rn | head -n 25

repro: ## build twice in different places, compare
	$(Q)sh scripts/repro $(O)
