# applets.awk - reads the stanzas of applets/*.c and writes what the build needs
# SPDX-License-Identifier: MIT
#
# awk -v want=kconfig|table|mk [-v config=.config] -f applets.awk applets/*.c
#
# kconfig  the config entries of all stanzas
# table    the dispatch table of the enabled applets
# mk       APPLETS (all) and APPLETS_ON (enabled), for make

function symbol_of(name,   s)
{
	s = toupper(name)
	gsub(/-/, "_", s)
	return "APPLET_" s
}

BEGIN {
	while (config != "" && (getline line < config) > 0)
		if (line ~ /^CONFIG_APPLET_[A-Z0-9_]+=y$/) {
			sub(/^CONFIG_/, "", line)
			sub(/=y$/, "", line)
			enabled[line] = 1
		}
}

FNR == 1 { in_stanza = 1; in_config = 0 }
/\*\// { in_stanza = 0; in_config = 0 }
!in_stanza { next }

/^ \* APPLET\(/ {
	text = $0
	sub(/^ \* APPLET\(/, "", text)
	sub(/\).*/, "", text)
	n = split(text, part, /[ ,"]+/)
	applet = part[1]
	names[++count] = applet
	for (i = 2; i <= n; i++)
		if (part[i] != "") {
			names[++count] = part[i]
			alias_of[part[i]] = applet
		}
	all = all " " applet
	if (symbol_of(applet) in enabled)
		on = on " " applet
	next
}

/^ \* config / { in_config = 1; print_blank = 1 }
in_config {
	line = $0
	sub(/^ \* ?/, "", line)
	if (want == "kconfig") {
		if (print_blank)
			print ""
		print line
	}
	print_blank = 0
	if (about[applet] == "" && line ~ /^\tbool "/) {
		sub(/^\tbool "[^:]*: /, "", line)
		sub(/( \([0-9.]+ KB\))?"$/, "", line)
		about[applet] = line
	}
}

END {
	if (want == "mk") {
		print "APPLETS :=" all
		print "APPLETS_ON :=" on
	}
	if (want != "table")
		exit
	print "/* made by scripts/applets.awk */"
	print "#include \"applet.h\"\n"
	# Insertion sort by byte order; the lists are short.
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && names[j - 1] > names[j]; j--) {
			t = names[j]
			names[j] = names[j - 1]
			names[j - 1] = t
		}
	rows = 0
	for (i = 1; i <= count; i++) {
		owner = names[i] in alias_of ? alias_of[names[i]] : names[i]
		if (!(symbol_of(owner) in enabled))
			continue
		id = owner
		gsub(/-/, "_", id)
		if (owner == names[i])
			print "extern const struct applet " id "_applet;"
		text = owner == names[i] ? "\"" about[owner] "\"" : "NULL"
		row[++rows] = "\t{\"" names[i] "\", &" id "_applet, " text "},"
	}
	print "\nconst struct applet_name applet_names[] = {"
	for (i = 1; i <= rows; i++)
		print row[i]
	print "\t{\"\", NULL, NULL},\n};"
	print "const size_t applet_names_count = " rows ";"
}
