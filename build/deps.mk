# deps.mk - the libraries, built here with the project's flags, and the page's
# terminal, by hash

BEARSSL_FROM := bearssl bookworm bearssl_0.6+dfsg.1.orig.tar.xz 102a625bd8f6155260867a50c508df8d8c3f796985dd744df1a68e5cd1a79004
TINYCBOR_FROM := tinycbor trixie tinycbor_0.6.1.orig.tar.gz 0f9944496d1143935e9c996bc6233ca0dd5451299def33ef400a409942f8f34b
# For SERVE_GRPC alone, and of it the library alone.
NGHTTP2_FROM := nghttp2 trixie nghttp2_1.64.0.orig.tar.gz b452dc69a1fcbc9375389b8b154175d8b7b125cdd713fc426774c2b79a1ebd77
XTERM_FROM := npm:@xterm/xterm 5.5.0 xterm-xterm-5.5.0.tgz bd954fa721872170188cc5d7e83e88db3c83c9a18a4e8d24c2783d26491f59d2
LIBRARIES := bearssl.a tinycbor.a $(if $(CONFIG_SERVE_GRPC),nghttp2.a)

DEPS := $(O)/deps
BEARSSL := $(DEPS)/bearssl
TINYCBOR := $(DEPS)/tinycbor
NGHTTP2 := $(DEPS)/nghttp2/lib
NGHTTP2_H := $(NGHTTP2)/includes/nghttp2/nghttp2ver.h

# The system's own, as the files that they are: of a library by name the linker
# would take the shared form.
ifdef SYSTEM_DEPS
SYSTEM_LIBDIR ?= /usr/lib
SYSTEM_INCLUDE ?= /usr/include/tinycbor
DEP_INC := $(SYSTEM_INCLUDE:%=-isystem %)
DEP_LIBS := $(LIBRARIES:%=$(SYSTEM_LIBDIR)/lib%)
DEV_DEP_LIBS := $(DEP_LIBS)
DEP_STAMP := $(DEP_LIBS)
$(DEP_LIBS):
	@echo "$@ is missing: install BearSSL and tinycbor, static and with headers (Alpine: bearssl-static bearssl-dev tinycbor-static tinycbor-dev, for SERVE_GRPC nghttp2-static nghttp2-dev), or say where with SYSTEM_LIBDIR=DIR" >&2; false
else
DEP_INC := -isystem $(BEARSSL)/inc -isystem $(TINYCBOR)/src -isystem $(NGHTTP2)/includes
DEP_LIBS := $(LIBRARIES:%=$(DEPS)/%)
DEV_DEP_LIBS := $(LIBRARIES:%=$(DEPS)/dev/%)
DEP_STAMP := $(DEPS)/.unpacked $(if $(CONFIG_SERVE_GRPC),$(NGHTTP2_H))
endif

$(DEPS)/.unpacked: build/deps.mk scripts/fetch-deps
	$(Q)DEPS_DIR="$(DEPS_DIR)" sh scripts/fetch-deps $(DEPS) "$(BEARSSL_FROM)" "$(TINYCBOR_FROM)"
	@touch $@
$(NGHTTP2_H): build/deps.mk scripts/fetch-deps | $(DEPS)/.unpacked
	$(Q)DEPS_DIR="$(DEPS_DIR)" sh scripts/fetch-deps $(DEPS) "$(NGHTTP2_FROM)"
	$(Q)sed 's/@PACKAGE_VERSION@/1.64.0/; s/@PACKAGE_VERSION_NUM@/0x014000/' $@.in >$@

# The terminal of the page: a package of npm's, of which no code is compiled.
XTERM := $(if $(CONFIG_SERVE_WEB),$(addprefix $(DEPS)/xterm/,lib/xterm.js css/xterm.css))
$(DEPS)/xterm/lib/xterm.js $(DEPS)/xterm/css/xterm.css &: build/deps.mk scripts/fetch-deps
	$(Q)DEPS_DIR="$(DEPS_DIR)" sh scripts/fetch-deps $(DEPS) "$(XTERM_FROM)"

# Only what is called is linked, so all of BearSSL is built; of tinycbor the reader,
# the writer and the validator.
DEP_FLAGS := -DBR_RDRAND=0 -DBR_USE_URANDOM=0 -DCBOR_PARSER_MAX_RECURSIONS=16 -DCBOR_NO_FLOATING_POINT=1 -DNDEBUG -w
TINYCBOR_PARTS := cborencoder cborencoder_close_container_checked cborparser cborvalidation cborerrorstrings

# $(call build_deps,OUTPUT DIRECTORY,COMPILER AND FLAGS)
define build_deps
$(1)/bearssl.a $(1)/tinycbor.a &: $(DEPS)/.unpacked | $(GEN)/.kernel
	@echo "  DEPS     $(1)"
	$(Q)AR="$(AR)" sh scripts/build-archive $(1)/bearssl.a \
		"$(2) $(DEP_FLAGS) -I$(BEARSSL)/inc -I$(BEARSSL)/src" $(BEARSSL)/src
	$(Q)AR="$(AR)" sh scripts/build-archive $(1)/tinycbor.a \
		"$(2) $(DEP_FLAGS) -I$(TINYCBOR)/src" $(TINYCBOR_PARTS:%=$(TINYCBOR)/src/%.c)
$(1)/nghttp2.a: $(NGHTTP2_H) | $(GEN)/.kernel
	$(Q)AR="$(AR)" sh scripts/build-archive $$@ "$(2) $(DEP_FLAGS) -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H -DHAVE_CLOCK_GETTIME -DHAVE_DECL_CLOCK_MONOTONIC=1 -I$(NGHTTP2)/includes" $(NGHTTP2)
endef
$(eval $(call build_deps,$(DEPS),$(TARGET_CC) $(TARGET_INC) -Os $(TARGET_CFLAGS)))
$(eval $(call build_deps,$(DEPS)/dev,$(DEV_CC) -O2 -g))

deps: $(DEP_STAMP) ## fetch and unpack the pinned libraries
