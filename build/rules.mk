# rules.mk - from sources to the binary

LIB_SOURCES := $(sort $(wildcard libcore/*/*.c))
# An applet is NAME.c with its NAME_PART.c files.
applet_sources = $(wildcard applets/$(1).c applets/$(1)_*.c)
BOX_SOURCES := applets/main.c applets/malloc.c applets/libc.c applets/toplevel.c \
	applets/completion.c \
	$(foreach a,$(APPLETS_ON),$(call applet_sources,$(a)))

INCLUDES := -iquote libcore -iquote applets -iquote $(GEN)
LIB_OBJECTS := $(LIB_SOURCES:%.c=$(O)/obj/%.o)
BOX_OBJECTS := $(BOX_SOURCES:%.c=$(O)/obj/%.o) $(O)/obj/gen/applets.o \
	$(START:%.c=$(O)/obj/%.o)
DEV_LIB_OBJECTS := $(LIB_SOURCES:%.c=$(O)/dev/%.o)
DEV_BOX_OBJECTS := $(BOX_SOURCES:%.c=$(O)/dev/%.o) $(O)/dev/gen/applets.o

# The built-in policy is compiled here, by the compiler that is in the product:
# nobody should wait for that when a command starts.
HOSTCC ?= cc
POLICY_TOOL := scripts/policy-image.c $(addprefix libcore/sys/,file.c proc_text.c) $(wildcard $(addprefix \
	libcore/policy/policy,.c _image.c _text.c _build.c _compile*.c)) libcore/net/net_name.c \
	$(addprefix libcore/base/,base64.c buf.c cleanup.c diag.c num.c path.c str.c utf8.c)
# So are the marks of the words that redaction looks at.
REDACT_TOOL := scripts/redact-begins.c $(addprefix libcore/redact/,redact_shape.c redact_lines.c)
GEN_EXTRA += $(addprefix $(GEN)/,policy_default.h policy_shipped.h redact_begins.h page_files.h)
$(GEN)/policy_default.h: configs/default.policy $(POLICY_TOOL) libcore/policy/policy_image.h
	$(Q)HOSTCC="$(HOSTCC)" sh scripts/generate $@ $< $(POLICY_TOOL)
$(GEN)/policy_shipped.h: $(wildcard configs/policies/*.policy) scripts/policy-texts
	$(Q)sh scripts/policy-texts $(filter %.policy,$^) >$@
$(GEN)/redact_begins.h: $(REDACT_TOOL) libcore/redact/redact_in.h $(GEN)/policy_default.h
	$(Q)HOSTCC="$(HOSTCC)" sh scripts/generate $@ /dev/null $(REDACT_TOOL)

# And the page, as gzip: its own files, and with SERVE_WEB its terminal's.
PAGE := $(addprefix libcore/page/page.,html css js) $(XTERM)
$(GEN)/page_files.h: scripts/page-files $(PAGE) $(GEN)/auto.mk
	$(Q)sh scripts/page-files $(PAGE) >$@

GENERATED := $(GEN)/autoconf.h $(GEN)/version.h $(GEN_EXTRA)

$(GEN)/.kernel:
	$(Q)sh scripts/kernel-headers $(GEN)/kernel /usr/include \
		/usr/$(MACHINE)/include /usr/include/$(MACHINE)
	@touch $@

# Written again only when it says something else.
$(GEN)/version.h: version-now
	@mkdir -p $(@D)
	@sh scripts/version $(VERSION) >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

COMPILE = $(TARGET_CC) $(OPT) $(TARGET_CFLAGS) $(WARN) $(WARN_GCC) $(INCLUDES) \
	$(DEP_INC) $(TARGET_INC)
# Sanitizers make frames larger; the real ones are measured in the product.
DEV_COMPILE = $(DEV_CC) $(DEV_CFLAGS) \
	$(filter-out -Wframe-larger-than=%,$(WARN)) $(INCLUDES) $(DEP_INC)

vpath gen/%.c $(O)
$(HOT:%=$(O)/obj/libcore/%.o): OPT = $(OPT_HOT)
$(O)/obj/%.o: %.c build/flags.mk | $(GENERATED) $(GEN)/.kernel $(DEP_STAMP)
	@mkdir -p $(@D)
	@echo "  CC       $<"
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(O)/dev/%.o: %.c | $(GENERATED) $(DEP_STAMP)
	@mkdir -p $(@D)
	@echo "  CC dev   $<"
	$(Q)$(DEV_COMPILE) -MMD -MP -c -o $@ $<

# Applets do not change libcore: builds of many configurations can share one.
LIBCORE ?= $(O)/libcore.a

$(O)/libcore.a: $(LIB_OBJECTS)
	$(Q)rm -f $@ && $(AR) crD $@ $^

$(O)/dev/libcore.a: $(DEV_LIB_OBJECTS)
	$(Q)rm -f $@ && $(AR) crD $@ $^

# The list of objects is part of what the binary depends on: a configuration
# that drops an applet leaves no newer object behind to notice it by.
$(O)/obj/.objects: version-now
	@mkdir -p $(@D)
	@echo $(BOX_OBJECTS) >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(O)/wardbox: $(BOX_OBJECTS) $(LIBCORE) $(DEP_LIBS) $(O)/obj/.objects build/sections.ld build/tight.ld build/hot.ld
	@echo "  LD       $@"
	$(Q)$(TARGET_CC) $(TARGET_CFLAGS) $(TARGET_LDFLAGS) -Wl,-Map=$@.map \
		-o $@.debug $(BOX_OBJECTS) $(LIBCORE) $(DEP_LIBS)
	$(Q)$(STRIP) -o $@ $@.debug
	@sh scripts/check-elf $@
	@echo "  SIZE     $$(stat -c %s $@) bytes"

$(O)/dev/wardbox: $(DEV_BOX_OBJECTS) $(O)/dev/libcore.a $(DEV_DEP_LIBS)
	@echo "  LD dev   $@"
	$(Q)$(DEV_CC) $(DEV_LDFLAGS) -o $@ $(DEV_BOX_OBJECTS) \
		$(O)/dev/libcore.a $(DEV_DEP_LIBS)

dev: $(O)/dev/wardbox ## the glibc build with sanitizers, out/dev/wardbox

# box-APPLET: that applet alone, in its own output directory.
box-%: ## one applet alone, out/box/APPLET/wardbox
	$(Q)sh scripts/box-config $* $(O)/box/$*
	$(Q)$(MAKE) --no-print-directory O=$(O)/box/$* DEPS=$(abspath $(DEPS)) all

-include $(patsubst %.o,%.d,$(BOX_OBJECTS) $(LIB_OBJECTS) $(DEV_BOX_OBJECTS) $(DEV_LIB_OBJECTS))
