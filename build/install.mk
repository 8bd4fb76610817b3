# install.mk - install, uninstall, dist

BINDIR := $(DESTDIR)$(PREFIX)/bin
MANDIR := $(DESTDIR)$(PREFIX)/share/man/man1

install: $(O)/wardbox ## binary and man pages below DESTDIR and PREFIX
	install -Dm755 $(O)/wardbox $(BINDIR)/wardbox
	for a in $(APPLETS_ON); do install -Dm644 applets/$$a.1 \
		$(MANDIR)/wardbox-$$a.1 || exit 1; done
uninstall: ## remove what install put there
	rm -f $(BINDIR)/wardbox $(APPLETS:%=$(MANDIR)/wardbox-%.1)
dist: ## the tarball of this commit
	mkdir -p $(O) && git archive --prefix=wardbox-$(VERSION)/ -o $(O)/wardbox-$(VERSION).tar.gz HEAD
	@echo "$(O)/wardbox-$(VERSION).tar.gz"
