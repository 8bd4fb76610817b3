# config.mk - Kconfig: from .config to make and C

CONFIG := $(O)/.config
KCONFIG_CONF ?= $(firstword $(shell command -v kconfig-conf) scripts/kconfig-conf)
KCONFIG_MCONF ?= $(firstword $(shell command -v kconfig-mconf menuconfig))
# Written in place: its temporary file would be here, and O may be on another
# file system.
KCONFIG_ENV := KCONFIG_OVERWRITECONFIG=1 GEN=$(GEN) KCONFIG_CONFIG=$(CONFIG) CONFIG_=CONFIG_
APPLET_SOURCES := $(sort $(wildcard applets/*.c))

# The fragment and the default configuration exist before anything is read, so
# that a first `make` needs no step before it.
CONFIG_GOALS := defconfig minimal_defconfig full_defconfig menuconfig nconfig \
	oldconfig olddefconfig randconfig allnoconfig allyesconfig savedefconfig
NO_CONFIG_GOALS := help clean distclean dist $(CONFIG_GOALS)

ifneq ($(filter-out $(NO_CONFIG_GOALS),$(or $(MAKECMDGOALS),all)),)
-include $(GEN)/auto.mk
-include $(GEN)/applets.mk
endif

# Changes when an applet comes or goes, which no newer file would tell.
$(GEN)/.sources: version-now
	@mkdir -p $(@D)
	@echo $(APPLET_SOURCES) >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(GEN)/Kconfig.applets: $(APPLET_SOURCES) scripts/applets.awk $(GEN)/.sources
	@mkdir -p $(@D)
	$(Q)awk -v want=kconfig -f scripts/applets.awk $(APPLET_SOURCES) >$@

# What the make within reads is made first: both would write it at once.
$(CONFIG): | $(GEN)/Kconfig.applets
	$(Q)$(MAKE) --no-print-directory $(or $(filter %_defconfig,$(MAKECMDGOALS)),defconfig)

# A stanza that changed, or an option that came, is answered by its default.
$(GEN)/auto.mk: $(CONFIG) $(GEN)/Kconfig.applets Kconfig libcore/Kconfig
	$(Q)$(KCONFIG_ENV) $(KCONFIG_CONF) -s --olddefconfig Kconfig >/dev/null
	$(Q)touch $(CONFIG)
	$(Q)grep '^CONFIG_' $(CONFIG) >$@ || true

$(GEN)/autoconf.h: $(GEN)/auto.mk
	$(Q)sed -e 's/^\(CONFIG_[A-Z0-9_]*\)=y$$/#define \1 1/' \
		-e 's/^\(CONFIG_[A-Z0-9_]*\)=\(.*\)$$/#define \1 \2/' $< >$@.new
	$(Q)cmp -s $@.new $@ && rm $@.new || mv $@.new $@
	$(Q)touch $@

$(GEN)/applets.mk: $(GEN)/auto.mk $(APPLET_SOURCES) scripts/applets.awk $(GEN)/.sources
	$(Q)awk -v want=mk -v config=$(CONFIG) -f scripts/applets.awk \
		$(APPLET_SOURCES) >$@

$(GEN)/applets.c: $(GEN)/auto.mk $(APPLET_SOURCES) scripts/applets.awk $(GEN)/.sources
	$(Q)awk -v want=table -v config=$(CONFIG) -f scripts/applets.awk \
		$(APPLET_SOURCES) >$@

CONF := $(KCONFIG_ENV) $(KCONFIG_CONF) -s

defconfig minimal_defconfig full_defconfig: $(GEN)/Kconfig.applets ## take a configuration of configs/
	$(Q)$(CONF) --defconfig=configs/$@ Kconfig >/dev/null
	@echo "configuration: $@ in $(CONFIG)"
olddefconfig oldconfig allnoconfig allyesconfig randconfig: $(GEN)/Kconfig.applets ## answer by default, when asked, no, yes or chance
	$(Q)$(if $(filter oldconfig,$@),$(CONF:-s=) --$@ Kconfig,$(CONF) --$@ Kconfig >/dev/null)
menuconfig nconfig: $(GEN)/Kconfig.applets ## choose applets and limits in menus
	$(Q)$(KCONFIG_ENV) $(if $(filter n%,$@),kconfig-nconf,$(KCONFIG_MCONF)) Kconfig
savedefconfig: $(GEN)/Kconfig.applets ## write the smallest equal configuration to O/defconfig
	$(Q)$(CONF) --savedefconfig=$(O)/defconfig Kconfig >/dev/null
	@echo "$(O)/defconfig"
