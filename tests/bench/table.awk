# table.awk - rows and goals as a table for people; JSON with json=1
#
# awk -f table.awk [-v json=1] [-v machine=TEXT] goals results

function trim(s) { sub(/^[ \t]+/, "", s); sub(/[ \t]+$/, "", s); return s }

function holds(value, goal,   number) {
	number = goal
	gsub(/[<>=]/, "", number)
	number += 0
	if (goal ~ /^<=/) return value <= number
	if (goal ~ /^>=/) return value >= number
	return value < number
}

function verdict(name,   v) {
	v = value[name]
	if (!holds(v, must[name])) return "misses"
	if (aim[name] == "") return "holds"
	return holds(v, aim[name]) ? "reaches the aim" : "holds"
}

function quoted(s) {
	gsub(/["\\]/, "\\\\&", s)
	return "\"" s "\""
}

# Columns are counted in characters also where awk counts bytes.
function padded(s, width,   plain) {
	plain = s
	gsub(/…|µ|≤|≥/, "_", plain)
	while (length(plain) < width) { plain = plain " "; s = s " " }
	return s
}

function shown(goal) {
	sub(/^<=/, "≤ ", goal); sub(/^>=/, "≥ ", goal); sub(/^</, "< ", goal)
	return goal
}

FNR == 1 { file++ }
file == 1 && /^#/ { next }
file == 1 {
	split($0, f, "|")
	# a "|" in the last field stays
	name = trim(f[1])
	text = $0
	sub(/^[^|]*\|[^|]*\|[^|]*\|/, "", text)
	order[++goals] = name
	must[name] = trim(f[2]); aim[name] = trim(f[3]); what[name] = trim(text)
	next
}
$1 == "curve" {
	series = ""
	for (i = 3; i <= NF - 2; i++) series = series (i > 3 ? " " : "") $i
	curve[++curves] = "{\"plot\":" quoted($2) ",\"series\":" \
		quoted(series) ",\"x\":" $(NF - 1) ",\"y\":" $NF "}"
	next
}
$1 == "skip" || $1 == "failed" { note[++notes] = $0; next }
NF >= 3 {
	if (!($1 in value)) rows[++count] = $1
	value[$1] = $2; unit[$1] = $3; p90[$1] = $4
}

END {
	if (json) {
		printf "{\"machine\":%s,\"rows\":[", quoted(machine)
		for (i = 1; i <= count; i++) {
			n = rows[i]
			printf "%s\n{\"name\":%s,\"value\":%s,\"unit\":%s", \
				(i > 1 ? "," : ""), quoted(n), value[n], quoted(unit[n])
			if (p90[n] != "") printf ",\"p90\":%s", p90[n]
			if (n in must) {
				printf ",\"what\":%s,\"must\":%s", quoted(what[n]), quoted(must[n])
				if (aim[n] != "") printf ",\"aim\":%s", quoted(aim[n])
				printf ",\"verdict\":%s", quoted(verdict(n))
			}
			printf "}"
		}
		printf "],\"curves\":["
		for (i = 1; i <= curves; i++) printf "%s\n%s", (i > 1 ? "," : ""), curve[i]
		printf "],\"notes\":["
		for (i = 1; i <= notes; i++) printf "%s\n%s", (i > 1 ? "," : ""), quoted(note[i])
		print "]}"
		exit
	}
	print machine
	print ""
	wide = 62
	print padded("| what", wide + 2) " | measured     | must hold | aim     | verdict         |"
	line = "|"
	while (length(line) < wide + 2) line = line "-"
	print line "-|--------------|-----------|---------|-----------------|"
	for (i = 1; i <= goals; i++) {
		n = order[i]
		text = what[n]
		gsub(/\|/, "\\|", text)
		measured = n in value ? value[n] " " unit[n] : "not measured"
		print padded("| " text, wide + 2) " | " \
			sprintf("%-12s", measured) " | " \
			padded(shown(must[n]), 9) " | " \
			padded(shown(aim[n]), 7) " | " \
			sprintf("%-15s", n in value ? verdict(n) : "") " |"
	}
	print "\nEverything measured (median, then p90 where it was taken):\n"
	for (i = 1; i <= count; i++) {
		n = rows[i]
		printf "  %-46s %12s %-8s", n, value[n], unit[n]
		if (p90[n] != "") printf " %10s", p90[n]
		printf "\n"
	}
	if (notes) print ""
	for (i = 1; i <= notes; i++) print note[i]
}
