/* page.js - the page of wardbox serve, and of a report that has its data within
 * SPDX-License-Identifier: MIT
 *
 * What a command said or was called is hostile: it becomes text of an element, or
 * bytes of a terminal, and never HTML.
 */
"use strict";

const $ = id => document.getElementById(id);
const report = $("data") ? JSON.parse($("data").textContent) : null;

/* Text whose invisible characters are spelt out, so that no letter hides or turns
 * others round. */
function plain(text) {
	return String(text).replace(/\r\n/g, "\n").replace(
		/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu,
		c => `\\u{${c.codePointAt(0).toString(16)}}`);
}

function el(name, text, kind) {
	const e = document.createElement(name);
	if (text !== undefined && text !== null)
		e.textContent = plain(text);
	if (kind)
		e.className = kind;
	return e;
}

function button(text, act) {
	const b = el("button", text);
	b.type = "button";
	b.onclick = act;
	return b;
}

function say(text) {
	$("say").textContent = plain(text);
	$("say").hidden = !text;
}

/* ---- times */

const two = n => String(n).padStart(2, "0");

function when(ms) {
	const d = new Date(ms);
	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
		`${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

function took(ms) {
	return ms < 1000 ? `${ms} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s`
		: ms < 3600000 ? `${(ms / 60000).toFixed(1)} min`
		: `${(ms / 3600000).toFixed(1)} h`;
}

/* ---- keys: in this tab alone, sent in a field of the request, never in an address */

const KEYS = "wardbox.keys";
let keys = report ? [] : JSON.parse(sessionStorage.getItem(KEYS) || "[]");

const keyFor = role => keys.find(k => k[role]);

function keepKeys() {
	sessionStorage.setItem(KEYS, JSON.stringify(keys));
	$("keys-list").replaceChildren(...keys.map(k => {
		const li = el("li");
		li.append(el("code", k.key.slice(0, 8) + "…"),
			el("span", k.approve ? "approve" : k.run ? "run" : "view"),
			button("Forget", () => {
				keys = keys.filter(other => other !== k);
				keepKeys();
			}));
		return li;
	}));
	$("start").hidden = !keyFor("run");
	$("questions-role").hidden = Boolean(keyFor("approve"));
}

async function fetchWith(key, method, path, body) {
	return fetch(path, {method, credentials: "omit", cache: "no-store",
		headers: {Authorization: `Bearer ${key}`},
		body: body === undefined ? undefined : JSON.stringify(body)});
}

/* Asks the server; what it answers, or an Error with what it says. */
async function ask(path, {method = "GET", role = "view", body, text} = {}) {
	const k = keyFor(role);
	if (!k)
		throw new Error(`that needs a key of the role ${role}`);
	const got = await fetchWith(k.key, method, `/api/v1/${path}`, body);
	if (got.status === 401) {
		keys = keys.filter(other => other !== k);
		keepKeys();
		openKeys("The key is not known any more.");
	}
	if (!got.ok)
		throw new Error((await got.json().catch(() => ({}))).error ||
			`${got.status} ${got.statusText}`);
	return got.status === 204 ? null : text ? got.text() : got.json();
}

/* Does act, and says why where that fails. */
async function attempt(act) {
	try {
		await act();
		say("");
	} catch (e) {
		say(e.message);
	}
}

function openKeys(why) {
	$("keys-say").textContent = why || "";
	if (!$("keys").open)
		$("keys").showModal();
	$("keys-text").focus();
}

async function addKey(event) {
	event.preventDefault();
	const key = $("keys-text").value.trim();
	$("keys-say").textContent = "…";
	const got = await fetchWith(key, "GET", "/api/v1/me").catch(() => null);
	if (!got || !got.ok) {
		$("keys-say").textContent = got ? "No such key." : "The server does not answer.";
		return;
	}
	const me = await got.json();
	keys = keys.filter(k => k.key !== key).concat({key, view: me.view,
		run: me.run, approve: me.approve});
	$("keys-text").value = "";
	$("keys").close();
	keepKeys();
	refresh();
	verify();
	if (!$("log").hidden)
		search();
}

/* ---- a terminal, or plain text where none is built in */

function colours() {
	const style = getComputedStyle(document.documentElement);
	return {background: style.getPropertyValue("--term").trim(),
		foreground: style.getPropertyValue("--term-text").trim(),
		cursor: style.getPropertyValue("--mark").trim(),
		selectionBackground: "#8888"};
}

class Screen {
	constructor(holder, {rows, cols, tty, typed}) {
		this.box = el("div", null, "screen");
		holder.append(this.box);
		if (!window.Terminal) {
			this.text = el("pre");
			this.box.append(this.text);
			return;
		}
		this.term = new Terminal({rows, cols, convertEol: !tty,
			disableStdin: !typed, cursorBlink: false, scrollback: 5000,
			fontSize: 13, fontFamily: "ui-monospace, monospace",
			minimumContrastRatio: 4.5, theme: colours(),
			/* A link leads where the command wants. */
			linkHandler: {activate() {}}});
		this.term.open(this.box);
		this.dark = matchMedia("(prefers-color-scheme: dark)");
		this.dark.onchange = () => {
			this.term.options.theme = colours();
		};
		/* The way out for the keyboard. */
		this.term.attachCustomKeyEventHandler(e => {
			if (e.key !== "Escape" || !e.shiftKey)
				return true;
			if (e.type === "keydown")
				$("detail-close").focus();
			return false;
		});
	}
	write(data, done) {
		if (this.term)
			this.term.write(data, done);
		else
			this.text.append(plain(typeof data === "string" ? data
				: new TextDecoder().decode(data)));
	}
	clear() {
		if (this.term)
			this.term.reset();
		else
			this.text.textContent = "";
	}
	resize(cols, rows) {
		if (this.term && cols > 0 && rows > 0)
			this.term.resize(Math.min(cols, 1000), Math.min(rows, 1000));
	}
	/* The size that would fill the place. */
	fit() {
		const grid = this.box.querySelector(".xterm-screen");
		const cell = grid.clientWidth / this.term.cols;
		const line = grid.clientHeight / this.term.rows;
		const high = Math.max(240, innerHeight - this.box.getBoundingClientRect().top - 140);
		return {cols: Math.max(20, Math.floor((this.box.clientWidth - 28) / cell)),
			rows: Math.max(8, Math.min(50, Math.floor(high / line)))};
	}
	close() {
		if (this.term) {
			this.dark.onchange = null;
			this.term.dispose();
		}
		this.box.remove();
	}
}

/* ---- one command: what the two lists open */

/* [name, value, kind] of those that have a value, for a dl. */
function pairs(list) {
	return list.filter(f => f[1] || f[1] === 0).map(([name, value, kind]) => {
		const both = el("div");
		both.append(el("dt", name), el("dd", value, kind));
		return both;
	});
}

let opened = null; /* {id, close} */

function closeDetail() {
	if (!opened)
		return;
	const row = opened.row;
	opened.close();
	opened = null;
	$("detail").hidden = true;
	document.querySelector("main").classList.remove("two");
	if (row) {
		row.removeAttribute("aria-current");
		row.focus();
	}
}

function openDetail(id, title, row) {
	if (opened)
		opened.close();
	document.querySelectorAll("[aria-current]").forEach(e => e.removeAttribute("aria-current"));
	opened = {id, row, close() {}};
	if (row)
		row.setAttribute("aria-current", "true");
	$("detail").hidden = false;
	document.querySelector("main").classList.add("two");
	$("detail-title").textContent = plain(title);
	for (const part of ["acts", "screen", "facts", "more"])
		$("detail-" + part).replaceChildren();
	$("detail-title").focus();
	return opened;
}

function changedList(list, holder) {
	const items = el("ul");
	items.append(...list.map(([what, path]) => el("li", `${what}  ${path}`, "path")));
	holder.append(el("h2", `Changed files (${list.length})`), items);
}

/* ---- live */

let commands = [], only = null; /* one session's, or all */
const live = new Map(); /* id: row */

const states = {running: "open", asking: "warn", ended: "good", denied: "bad", failed: "bad"};

function fillLive(row, c) {
	const done = c.exit_code !== undefined;
	const state = el("span", null, "state");
	state.append(el("span", c.state, "tag " + states[c.state]));
	const line = el("span", c.command, "line");
	line.title = plain(c.command);
	row.replaceChildren(state, el("span", c.session, "session"), line,
		el("span", done && c.state !== "denied"
			? c.signal ? c.signal : "exit " + c.exit_code : "",
			"exit " + (c.exit_code ? "bad" : "good")),
		el("span", done ? took(c.duration_ms || 0)
			: took(Math.max(0, Date.now() - c.started_ms)), "took"));
}

/* With more than one session, a button for each shows its commands alone. */
function drawSessions() {
	const names = [...new Set(commands.map(c => c.session))];
	const said = JSON.stringify([names, only]);
	if ($("live-sessions").dataset.said === said)
		return;
	$("live-sessions").dataset.said = said;
	$("sessions").replaceChildren(...names.map(s => {
		const o = el("option");
		o.value = s;
		return o;
	}));
	$("live-sessions").replaceChildren(...(names.length < 2 ? [] : [null, ...names]).map(s => {
		const b = button(s === null ? "All sessions" : s, () => {
			only = s;
			drawLive();
			[...$("live-sessions").children].find(e => e.ariaPressed === "true").focus();
		});
		b.ariaPressed = String(s === only);
		return b;
	}));
}

function drawLive() {
	const seen = new Set();
	let before = null;
	if (!commands.some(c => c.session === only))
		only = null;
	drawSessions();
	for (const c of commands.filter(c => only === null || c.session === only)) {
		seen.add(c.id);
		let row = live.get(c.id);
		if (!row) {
			row = button("", () => openLive(row.about, row));
			row.classList.add("row");
			const li = el("li");
			li.append(row);
			live.set(c.id, row);
		}
		const said = JSON.stringify(c) + (c.exit_code === undefined ? Date.now() : "");
		if (row.said !== said)
			fillLive(row, c);
		row.said = said;
		row.about = c;
		const place = before ? before.nextSibling : $("live-rows").firstChild;
		if (row.parentNode !== place)
			$("live-rows").insertBefore(row.parentNode, place);
		before = row.parentNode;
	}
	for (const [id, row] of live)
		if (!seen.has(id)) {
			row.parentNode.remove();
			live.delete(id);
		}
	$("live-none").hidden = commands.length > 0;
	const running = commands.filter(c => c.exit_code === undefined).length;
	$("live-count").textContent = running || "";
}

function liveFacts(c) {
	$("detail-facts").replaceChildren(...pairs([["State", c.state, states[c.state]], ["Session", c.session],
		["Began", when(c.started_ms)], ["Decision", c.decision, decisions[c.decision]],
		["Rule", c.rule], ["Why", c.reason], ["Instead", c.hint],
		["Profile", c.profile],
		["Ended", c.exit_code === undefined ? ""
			: c.signal ? `by ${c.signal}` : `exit ${c.exit_code}`,
		c.exit_code ? "bad" : "good"],
		["Took", c.duration_ms === undefined ? "" : took(c.duration_ms)],
		["Processor", c.cpu_ms === undefined ? "" : took(c.cpu_ms)],
		["Memory", c.memory_peak_bytes ? `${(c.memory_peak_bytes / 1048576).toFixed(1)} MiB` : ""]]));
}

function liveActs(c) {
	const acts = [];
	const send = name => () => attempt(() => ask(`commands/${c.id}/signal`,
		{method: "POST", role: "run", body: {name}}));
	if (c.exit_code === undefined && keyFor("run"))
		acts.push(button("Interrupt", send("INT")), button("End", send("TERM")),
			button("Kill", send("KILL")));
	if (c.journal)
		acts.push(button("Changed files", () => attempt(async () => {
			const got = await ask(`commands/${c.id}/changed`);
			$("detail-more").replaceChildren();
			changedList((got.changes || []).map(e => [e.what, e.path]), $("detail-more"));
			const diff = el("pre", await ask(`commands/${c.id}/diff`, {text: true}));
			$("detail-more").append(diff);
		})));
	if (c.exit_code === undefined)
		acts.push(button("Share live", () => attempt(async () => {
			const got = await ask(`commands/${c.id}/ticket`, {method: "POST"});
			$("detail-more").replaceChildren(el("p", "For asciinema's player, once," +
				` within ${got.seconds} s:`, "hint"), el("code", wsBase() + got.path));
		})));
	$("detail-acts").replaceChildren(...acts);
}

const wsBase = () => `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}`;

function openLive(c, row) {
	const here = openDetail(c.id, c.command, row);
	const key = keyFor("run") || keyFor("view");
	const typed = Boolean(keyFor("run")) && c.exit_code === undefined;
	const encoder = new TextEncoder();
	let screen = null, started = null, backlog = 0, held = "";
	liveFacts(c);
	liveActs(c);
	here.update = now => {
		if (JSON.stringify(now) !== JSON.stringify(c)) {
			c = now;
			liveFacts(c);
			liveActs(c);
		}
	};
	const ws = new WebSocket(`${wsBase()}/api/v1/sessions/${encodeURIComponent(c.session)}/pty`,
		["wardbox.v1", `wardbox.key.${key.key}`]);
	ws.binaryType = "arraybuffer";
	const tell = message => ws.readyState === 1 && ws.send(JSON.stringify(message));
	const type = text => ws.readyState === 1 && ws.send(encoder.encode(text));
	const fit = () => {
		if (screen && screen.term && typed && c.pty)
			tell({type: "resize", ...screen.fit()});
	};
	ws.onopen = () => tell({type: "attach", id: c.id, view: !typed});
	const show = m => {
		screen = new Screen($("detail-screen"), {rows: m.rows, cols: m.cols, tty: m.pty, typed});
		if (!typed)
			return;
		$("detail-screen").append(el("p", "Keys go to the command; Shift+Escape leaves it.", "hint"));
		if (screen.term) {
			/* What old output asks a terminal was answered, or nobody listens: of
			 * what the terminal says until then only the keys count. */
			screen.term.onData(text => backlog <= 0 && type(text));
			screen.term.onKey(e => {
				if (backlog > 0)
					held += e.key;
			});
			screen.term.focus();
		}
		fit();
	};
	ws.onmessage = ({data}) => {
		if (typeof data !== "string") {
			const n = data.byteLength;
			/* What prints nothing needs no screen. */
			if (!screen)
				show(started);
			screen.write(new Uint8Array(data), () => {
				backlog -= n;
				if (backlog <= 0 && held) {
					type(held);
					held = "";
				}
			});
			return;
		}
		const m = JSON.parse(data);
		if (m.type === "started") {
			started = m;
			backlog = m.backlog;
			if (typed && m.pty)
				show(m);
		} else if (m.type === "resize") {
			Object.assign(started, {rows: m.rows, cols: m.cols});
			if (screen)
				screen.resize(m.cols, m.rows);
		} else if (m.type === "error") {
			say(m.message);
		} else if (m.type === "exit") {
			if (m.stdout_lost)
				$("detail-screen").append(el("p",
					`${m.stdout_lost} bytes were gone before they could be shown.`, "hint"));
			refresh();
		}
	};
	ws.onerror = () => say("the connection failed");
	addEventListener("resize", fit);
	here.close = () => {
		removeEventListener("resize", fit);
		ws.onmessage = ws.onerror = null;
		ws.close();
		if (screen)
			screen.close();
		$("detail-screen").replaceChildren();
	};
}

async function start(event) {
	event.preventDefault();
	await attempt(async () => {
		const pty = $("start-pty").checked;
		const c = await ask(`sessions/${encodeURIComponent($("start-session").value)}/commands`,
			{method: "POST", role: "run", body: {text: $("start-text").value, pty, input: pty}});
		$("start-text").value = "";
		await refresh();
		const row = live.get(c.id);
		openLive(row ? row.about : c, row);
	});
}

/* ---- questions */

const cards = new Map();

function questionCard(q) {
	const li = el("li");
	const list = el("dl");
	list.append(...pairs([["Because of", q.command], ["Rule", q.rule],
		["Why it asks", q.reason], ["Session", q.session], ["Directory", q.directory],
		["By", q.by], ["Asked", when(q.asked * 1000)]]));
	const acts = el("p", null, "acts");
	const answer = word => () => attempt(async () => {
		await ask(`questions/${encodeURIComponent(q.id)}`,
			{method: "POST", role: "approve", body: {answer: word}});
		await refresh();
	});
	if (keyFor("approve"))
		acts.append(button("Yes, this once", answer("yes")), button("No", answer("no")),
			button("Always in this session", answer("always")));
	li.append(el("pre", q.line), list, acts);
	return li;
}

function drawQuestions(list) {
	const ids = new Set(list.map(q => q.id));
	for (const [id, card] of cards)
		if (!ids.has(id)) {
			card.remove();
			cards.delete(id);
		}
	for (const q of list) {
		const may = Boolean(keyFor("approve"));
		let card = cards.get(q.id);
		if (!card || card.may !== may) {
			const fresh = questionCard(q);
			fresh.may = may;
			if (card)
				card.replaceWith(fresh);
			else
				$("question-cards").append(fresh);
			cards.set(q.id, fresh);
		}
	}
	$("questions-none").hidden = list.length > 0;
	$("question-count").textContent = list.length || "";
	document.title = list.length ? `(${list.length}) wardbox` : "wardbox";
}

/* ---- what happens meanwhile */

let asking = null; /* what is under way: who needs news waits for it, and asks anew */

async function refresh() {
	if (report || !keyFor("view"))
		return;
	await asking;
	asking = look();
	await asking;
}

async function look() {
	try {
		commands = (await ask("commands")).commands;
		drawLive();
		if (opened && opened.update) {
			const now = commands.find(c => c.id === opened.id);
			if (now)
				opened.update(now);
		}
		drawQuestions((await ask("questions",
			{role: keyFor("approve") ? "approve" : "view"})).questions);
		if ($("say").dataset.lost) {
			delete $("say").dataset.lost;
			say("");
		}
	} catch (e) {
		say(e.message);
		$("say").dataset.lost = "1";
	}
}

/* ---- the log */

const decisions = {allow: "good", open: "open", deny: "bad", confirm: "warn", redirect: "warn"};

const ending = c => c.decision === "deny" ? "" : !c.end ? "no end"
	: c.signal ? `signal ${c.signal}` : `exit ${c.exit}`;
const endKind = c => !c.end ? "warn" : c.exit ? "bad" : "good";
const laneKind = c => c.decision === "deny" ? "bad" : c.decision === "allow" ||
	c.decision === "open" ? endKind(c) : "warn";

let found = [], drawn = 0;

function filters() {
	const f = {};
	for (const name of ["command", "grep", "session", "decision", "exit", "since"])
		f[name] = $("f-" + name).value.trim();
	return f;
}

function fits(c, f) {
	const out = () => c.io.map(e => e[2]).join("");
	return (!f.command || c.line.includes(f.command)) &&
		(!f.grep || out().includes(f.grep)) &&
		(!f.session || c.session === f.session) &&
		(!f.decision || c.decision === f.decision) &&
		(!f.exit || (c.end && (f.exit === "0" ? c.exit === 0
			: f.exit === "fail" ? c.exit !== 0 : c.signal > 0)));
}

function logRow(c) {
	const row = button("", () => openLogged(c, row));
	row.classList.add("row");
	const line = el("span", c.line, "line");
	line.title = plain(c.line);
	const decision = el("span", null, "decision");
	decision.append(el("span", c.decision, "tag " + decisions[c.decision]));
	row.append(el("span", when(c.t), "when"), el("span", c.session, "session"),
		decision, line, el("span", ending(c), "exit " + endKind(c)),
		el("span", c.end ? took(c.ms) : "", "took"));
	row.dataset.id = c.id;
	const li = el("li");
	li.append(row);
	return li;
}

function more(n) {
	$("log-rows").append(...found.slice(drawn, drawn + n).map(logRow));
	drawn = Math.min(found.length, drawn + n);
	$("log-more").hidden = drawn >= found.length;
}

function totals(all) {
	const count = test => found.filter(test).length;
	const parts = [[found.length, found.length === 1 ? "command" : "commands"]];
	for (const d of Object.keys(decisions))
		parts.push([count(c => c.decision === d), d]);
	parts.push([count(c => c.end && c.exit), "failed"], [count(c => c.decision !== "deny" && !c.end), "without an end"],
		[took(found.reduce((sum, c) => sum + c.ms, 0)), "of running"]);
	$("totals").replaceChildren(...parts.filter(p => p[0]).flatMap(([n, what], i) =>
		[i ? " · " : "", el("b", n), " " + what]));
	if (all && all.left_out)
		$("totals").append(` · the first ${all.left_out} of ${all.commands_in_all} are left out`);
}

function lanes() {
	const by = new Map();
	let first = Infinity, last = -Infinity;
	for (const c of found) {
		first = Math.min(first, c.t);
		last = Math.max(last, c.t + c.ms);
		if (!by.has(c.session))
			by.set(c.session, []);
		by.get(c.session).push(c);
	}
	const wide = Math.max(1, last - first);
	$("lanes").replaceChildren(...[...by].slice(0, 12).map(([session, list]) => {
		const lane = el("div", null, "lane"), track = el("div", null, "track");
		lane.append(el("b", session), track);
		for (const c of list.slice(0, 1000)) {
			const mark = el("i", null, laneKind(c));
			mark.style.left = `${100 * (c.t - first) / wide}%`;
			mark.style.width = `${100 * c.ms / wide}%`;
			mark.title = `${when(c.t)}  ${plain(c.line)}`;
			mark.onclick = () => {
				let row;
				while (!(row = document.querySelector(`#log-rows [data-id="${c.id}"]`)) &&
					drawn < found.length)
					more(500);
				openLogged(c, row);
			};
			track.append(mark);
		}
		return lane;
	}));
}

function drawLog(list, all) {
	found = list.sort((a, b) => b.t - a.t || b.id - a.id);
	drawn = 0;
	$("log-rows").replaceChildren();
	$("log-none").hidden = $("log-head").hidden = false;
	$("log-none").hidden = found.length > 0;
	$("log-head").hidden = !found.length;
	totals(all);
	lanes();
	more(200);
	document.documentElement.dataset.ready = found.length;
}

async function search() {
	const f = filters();
	if (report) {
		drawLog(report.commands.filter(c => fits(c, f)), report);
		return;
	}
	await attempt(async () => {
		const query = new URLSearchParams(Object.entries(f).filter(e => e[1]));
		const got = await ask(`log?${query}`);
		drawLog(got.commands, got);
	});
}

/* A recording's lines as [milliseconds, kind, text]. */
function castEvents(text) {
	let at = 0;
	return text.split("\n").filter(l => l.startsWith("[")).map(l => {
		const [gap, kind, data] = JSON.parse(l);
		at += gap * 1000;
		return [at, kind, data];
	});
}

async function openLogged(c, row) {
	const here = openDetail(c.id, c.line, row);
	$("detail-facts").replaceChildren(...pairs([["When", when(c.t)], ["Session", c.session],
		["Decision", c.decision, decisions[c.decision]], ["Rule", c.rule],
		["Why", c.reason], ["Ended", ending(c), endKind(c)],
		["Took", c.end ? took(c.ms) : ""], ["Directory", c.cwd],
		["Program", c.exe], ["Process", c.pid], ["Record", c.id],
		["Processor", c.end ? took(c.cpu) : ""],
		["Memory", c.memory ? `${(c.memory / 1048576).toFixed(1)} MiB` : ""],
		["Flags", ["output cut", "timed out", "out of memory", "killed"]
			.filter((name, i) => c.flags >> i & 1).join(", ")]]));
	let io = c.io;
	if (c.cut && !report)
		await attempt(async () => {
			io = castEvents(await ask(`log/${c.id}/cast`, {text: true}));
		});
	if (opened !== here)
		return;
	if (c.changed.length)
		changedList(c.changed, $("detail-more"));
	if (io.length)
		replay(here, io, c.tty);
	if (c.cut && report)
		$("detail-more").append(el("p", "There is more output in the log than in this page.", "hint"));
	const text = io.filter(e => e[1] === "o" || e[1] === "e").map(e => e[2]).join("");
	if (text && !c.tty) {
		const all = el("details");
		all.append(el("summary", "Output as text"), el("pre", text));
		$("detail-more").append(all);
	}
}

/* ---- replay with a time line */

const PAUSE = 1000; /* of which longer ones are cut, if that is wanted */

function replay(here, pieces, tty) {
	const io = [...pieces].sort((a, b) => a[0] - b[0]);
	const size = io.find(e => e[1] === "r");
	const [cols, rows] = size ? size[2].split("x").map(Number) : [80, 24];
	const bar = el("div", null, "replay"), slide = el("div", null, "slide");
	const ticks = el("div", null, "ticks"), range = el("input"), clock = el("span", "", "clock");
	const cut = el("input"), label = el("label", null, "check"), speed = el("select");
	const play = button("Play", () => running ? stop() : go());
	let at = 0, next = 0, running = 0, times = [], end = 0, screen = null;

	range.type = "range";
	range.min = 0;
	range.setAttribute("aria-label", "time");
	cut.type = "checkbox";
	cut.checked = true;
	label.append(cut, " cut pauses");
	speed.setAttribute("aria-label", "speed");
	for (const n of [1, 2, 4, 16]) {
		const o = el("option", `${n}×`);
		o.value = n;
		speed.append(o);
	}
	slide.append(ticks, range);
	bar.append(play, slide, clock, speed, label);
	$("detail-screen").append(bar);
	screen = new Screen($("detail-screen"), {rows, cols, tty, typed: false});

	const show = e => {
		if (e[1] === "r")
			screen.resize(...e[2].split("x").map(Number));
		else if (e[1] === "e")
			screen.write(`\x1b[31m${e[2]}\x1b[39m`);
		else if (e[1] === "o")
			screen.write(e[2]);
	};
	const draw = () => {
		range.value = at;
		clock.textContent = `${(at / 1000).toFixed(1)} / ${(end / 1000).toFixed(1)} s`;
		range.setAttribute("aria-valuetext", `${(at / 1000).toFixed(1)} seconds`);
	};
	const seek = to => {
		if (to < at || !next) {
			screen.clear();
			next = 0;
		}
		at = Math.min(to, end);
		while (next < io.length && times[next] <= at)
			show(io[next++]);
		draw();
	};
	const lay = () => {
		let last = 0, sum = 0;
		times = io.map(([ms]) => {
			const gap = Math.max(0, ms - last);
			last = ms;
			sum += cut.checked ? Math.min(gap, PAUSE) : gap;
			return sum;
		});
		end = Math.ceil(sum);
		range.max = end;
		range.step = Math.max(1, Math.floor(end / 1000));
		const step = Math.ceil(io.length / 300);
		ticks.replaceChildren(...io.filter((e, i) => i % step === 0).map((e, i) => {
			const tick = el("i", null, e[1]);
			tick.style.left = `${end ? 100 * times[i * step] / end : 0}%`;
			return tick;
		}));
		next = 0;
		seek(end);
	};
	let from = 0;
	const turn = now => {
		if (!running)
			return;
		seek(at + (now - from) * Number(speed.value));
		from = now;
		if (at >= end)
			stop();
		else
			running = requestAnimationFrame(turn);
	};
	const go = () => {
		if (at >= end)
			seek(0);
		play.textContent = "Pause";
		from = performance.now();
		running = requestAnimationFrame(turn);
	};
	const stop = () => {
		cancelAnimationFrame(running);
		running = 0;
		play.textContent = "Play";
	};
	range.oninput = () => {
		stop();
		seek(Number(range.value));
	};
	cut.onchange = lay;
	lay();
	here.close = () => {
		stop();
		screen.close();
		$("detail-screen").replaceChildren();
	};
}

/* ---- is the log whole? */

const proofs = {intact: ["log intact", "good"],
	unauthenticated: ["log intact, held against itself alone", "good"],
	"declared-loss": ["log intact but for a declared loss", "warn"],
	tampered: ["LOG TAMPERED WITH", "bad"]};

function showProof(word) {
	const [text, kind] = proofs[word] || [word, "warn"];
	$("proof").textContent = text;
	$("proof").className = "tag " + kind;
}

async function verify() {
	if (!report && keyFor("view"))
		await ask("log/verify").then(v => {
			showProof(v.outcome);
			$("proof").title = plain(`${v.records} records; ` +
				v.findings.map(f => f.text).join("; "));
		}, e => showProof(e.message));
}

/* ---- sections */

const sections = report ? ["log"] : ["live", "questions", "log"];

function openSection(name) {
	closeDetail();
	for (const s of sections) {
		$(s).hidden = s !== name;
		$("tab-" + s).setAttribute("aria-selected", s === name);
		$("tab-" + s).tabIndex = s === name ? 0 : -1;
	}
	if (name === "log" && (report || keyFor("view")))
		search();
}

function onKey(e) {
	const typing = e.target.closest("input, select, textarea, dialog");
	if (e.key === "Escape" && opened && !e.target.closest(".xterm, dialog"))
		closeDetail();
	else if (typing || e.ctrlKey || e.altKey || e.metaKey)
		return;
	else if (e.key === "/") {
		e.preventDefault();
		openSection("log");
		$("f-command").focus();
	} else if (e.target.closest("#tabs") && (e.key === "ArrowRight" || e.key === "ArrowLeft")) {
		const at = sections.findIndex(s => !$(s).hidden);
		const to = sections[(at + (e.key === "ArrowRight" ? 1 : sections.length - 1)) % sections.length];
		openSection(to);
		$("tab-" + to).focus();
	} else if (e.target.classList.contains("row") && (e.key === "ArrowDown" || e.key === "ArrowUp")) {
		const li = e.target.parentNode;
		const to = e.key === "ArrowDown" ? li.nextElementSibling : li.previousElementSibling;
		if (to)
			to.firstChild.focus();
		e.preventDefault();
	}
}

for (const s of sections)
	$("tab-" + s).onclick = () => openSection(s);
$("detail-close").onclick = closeDetail;
$("search").onsubmit = e => {
	e.preventDefault();
	search();
};
$("log-more").onclick = () => more(500);
document.addEventListener("keydown", onKey);
if (report) {
	document.title = "wardbox audit report";
	for (const id of ["tabs", "keys-open", "f-since-label"])
		$(id).hidden = true;
	$("search").addEventListener("input", search);
	showProof(report.proof);
	openSection("log");
} else {
	$("start").onsubmit = start;
	$("keys-form").onsubmit = addKey;
	$("keys-open").onclick = () => openKeys();
	$("keys-close").onclick = () => $("keys").close();
	keepKeys();
	openSection("live");
	if (!keyFor("view"))
		openKeys();
	refresh();
	verify();
	const turn = () => setTimeout(async () => {
		if (!document.hidden)
			await refresh();
		turn();
	}, 1500);
	turn();
	setInterval(() => document.hidden || verify(), 60000);
}
