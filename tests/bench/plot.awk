# plot.awk - the curve lines of the results as an SVG: cost against work
#
# One panel per plot, both axes logarithmic, each series labelled at its end.

BEGIN {
	W = 420; H = 300; LEFT = 58; RIGHT = 118; TOP = 46; BOTTOM = 44
	title["depth"] = "auto-shebang: depth of the tree"
	xname["depth"] = "directories above the script"; yname["depth"] = "µs"
	title["line"] = "deciding: length of the line"
	xname["line"] = "bytes"; yname["line"] = "µs"
	title["log"] = "audit: size of the log"
	xname["log"] = "MB"; yname["log"] = "ms"
	title["session"] = "sh -c : many times in a session"
	xname["session"] = "commands"; yname["session"] = "ms for all"
	title["parallel"] = "sh -c : at once, 10 each"
	xname["parallel"] = "shims in parallel"; yname["parallel"] = "ms per command"
	split("#0b6e99 #c2410c #4d7c0f #7e22ce #475569", colour, " ")
}

function log10(v) { return log(v) / log(10) }
function escaped(s) { gsub(/&/, "\\&amp;", s); gsub(/</, "\\&lt;", s); return s }
function nice(v) { return v >= 1000 ? v / 1000 "k" : v "" }

$1 == "curve" && $NF > 0 && $(NF - 1) > 0 {
	p = $2
	s = ""
	for (i = 3; i <= NF - 2; i++) s = s (i > 3 ? " " : "") $i
	if (!(p in count)) { plot[++plots] = p; count[p] = 0 }
	if (!((p, s) in at)) { at[p, s] = ++count[p]; name[p, count[p]] = s }
	k = at[p, s]
	n = ++points[p, k]
	X[p, k, n] = $(NF - 1) + 0; Y[p, k, n] = $NF + 0
	if (!(p in xmin) || X[p, k, n] < xmin[p]) xmin[p] = X[p, k, n]
	if (X[p, k, n] > xmax[p]) xmax[p] = X[p, k, n]
	if (!(p in ymin) || Y[p, k, n] < ymin[p]) ymin[p] = Y[p, k, n]
	if (Y[p, k, n] > ymax[p]) ymax[p] = Y[p, k, n]
}

function sx(v) { return LEFT + (log10(v) - x0) / (x1 - x0) * (W - LEFT - RIGHT) }
function sy(v) { return H - BOTTOM - (log10(v) - y0) / (y1 - y0) * (H - TOP - BOTTOM) }
function floor10(v,   e) { e = int(log10(v)); while (e > log10(v) + 1e-9) e--; return e }

# 1, 2 and 5 of each decade on the way, or powers alone when there are many.
function ticks(low, high, horizontal,   e, m, v, wide) {
	wide = high - low > 2.5
	for (e = floor10(10 ^ low) - 1; e <= high + 1; e++)
		for (m = 1; m <= 5; m += m == 2 ? 3 : 1) {
			if (m == 3 || m == 4 || (wide && m > 1)) continue
			v = m * 10 ^ e
			if (log10(v) < low - 1e-6 || log10(v) > high + 1e-6) continue
			if (horizontal) {
				printf "<text x='%.1f' y='%d' class='t' text-anchor='middle'>%s</text>\n", sx(v), H - BOTTOM + 15, nice(v)
			} else {
				printf "<path d='M%d %.1fH%d' class='g'/>\n", LEFT, sy(v), W - RIGHT
				printf "<text x='%d' y='%.1f' class='t' text-anchor='end'>%s</text>\n", LEFT - 6, sy(v) + 4, nice(v)
			}
		}
}

function panel(p,   k, n, i, j, y, order, tmp) {
	x0 = log10(xmin[p]); x1 = log10(xmax[p])
	if (x1 - x0 < 0.1) x1 = x0 + 0.1
	y0 = log10(ymin[p]) - 0.1; y1 = log10(ymax[p]) + 0.1
	printf "<text x='%d' y='20' class='h'>%s</text>\n", LEFT, escaped(title[p])
	printf "<text x='4' y='%d' class='t'>%s</text>\n", TOP - 4, yname[p]
	printf "<text x='%d' y='%d' class='t' text-anchor='middle'>%s</text>\n", (LEFT + W - RIGHT) / 2, H - 10, escaped(xname[p])
	ticks(y0, y1, 0)
	ticks(x0, x1, 1)
	printf "<path d='M%d %dH%d' class='a'/>\n", LEFT, H - BOTTOM, W - RIGHT
	for (k = 1; k <= count[p]; k++) {
		n = points[p, k]
		printf "<polyline fill='none' stroke='%s' stroke-width='2' points='", colour[k]
		for (i = 1; i <= n; i++) printf "%.1f,%.1f ", sx(X[p, k, i]), sy(Y[p, k, i])
		print "'/>"
		for (i = 1; i <= n; i++)
			printf "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'><title>%s: %s at %s</title></circle>\n", sx(X[p, k, i]), sy(Y[p, k, i]), colour[k], escaped(name[p, k]), Y[p, k, i], X[p, k, i]
		where[k] = sy(Y[p, k, n])
		order[k] = k
	}
	# Labels from the top down, pushed apart.
	for (i = 1; i <= count[p]; i++)
		for (j = i + 1; j <= count[p]; j++)
			if (where[order[j]] < where[order[i]]) {
				tmp = order[i]; order[i] = order[j]; order[j] = tmp
			}
	y = -99
	for (i = 1; i <= count[p]; i++) {
		k = order[i]
		if (where[k] < y + 14) where[k] = y + 14
		y = where[k]
		printf "<text x='%d' y='%.1f' class='s' fill='%s'>%s</text>\n", W - RIGHT + 8, y + 4, colour[k], escaped(name[p, k])
	}
}

END {
	rows = int((plots + 1) / 2)
	printf "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' font-family='sans-serif'>\n", 2 * W, rows * H + 24, 2 * W, rows * H + 24
	print "<style>.t{font-size:11px;fill:#475569}.h{font-size:14px;font-weight:bold;fill:#0f172a}.s{font-size:12px}.g{stroke:#e2e8f0}.a{stroke:#64748b}</style>"
	print "<rect width='100%' height='100%' fill='#fff'/>"
	for (i = 1; i <= plots; i++) {
		printf "<g transform='translate(%d,%d)'>\n", (i - 1) % 2 * W, int((i - 1) / 2) * H
		panel(plot[i])
		print "</g>"
	}
	printf "<text x='%d' y='%d' class='t'>%s</text>\n</svg>\n", LEFT, rows * H + 14, escaped(machine)
}
