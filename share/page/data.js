/* SPDX-License-Identifier: MIT */
/* What the page is given: the report's JSON and the timeline's block, and the words for
 * times and durations.
 *
 * Times in the report are nanoseconds since 1970, more than a JavaScript number holds. They
 * become nanoseconds since the window's begin (`base`) before the text is parsed, so that
 * all of them are exact; clock() gives back the time of day.
 */
const TIMES = new Set(['begin', 'end', 'time', 'longest_begin', 'since', 'recorded_begin', 'recorded_end']);

function parseReport(text, base) {
	/* strings are matched whole, so that nothing inside one is taken for a member */
	return JSON.parse(
		text.replace(/"((?:[^"\\]|\\.)*)"(?:\s*:\s*(-?\d+))?/g, (all, key, number) =>
			number !== undefined && TIMES.has(key) ? `"${key}":${BigInt(number) - base}` : all,
		),
	);
}

const TIMELINE = JSON.parse(document.getElementById('timeline-data').textContent);
const BASE = BigInt(TIMELINE.base);
const LENGTH = TIMELINE.length_ns;
const ROWS = TIMELINE.rows || [];
const STRINGS = TIMELINE.strings;
const REPORT = parseReport(document.getElementById('report').textContent, BASE);
const KIND = REPORT.schema.replace(/^whylate-(.*)-\d+$/, '$1');
/* Of two sides those of both: each side names its threads by its own. */
const HOSTS = REPORT.hosts || [...REPORT.a.hosts, ...REPORT.b.hosts];
const MANY_HOSTS = Boolean(REPORT.hosts) && HOSTS.length > 1;

/* As the text report has it: four digits. */
function duration(ns) {
	const size = Math.abs(ns),
		sign = ns < 0 ? '-' : '';
	for (const [unit, scale] of [
		['s', 1e9],
		['ms', 1e6],
		['µs', 1e3],
	]) {
		const value = size / scale;
		if (value >= 0.9995)
			return (
				sign + value.toFixed(value >= 999.5 ? 0 : value >= 99.95 ? 1 : value >= 9.995 ? 2 : 3) + ' ' + unit
			);
	}
	return `${ns} ns`;
}

/* As axes have it: "20 ms". */
function shortDuration(ns) {
	for (const [unit, scale] of [
		['s', 1e9],
		['ms', 1e6],
		['µs', 1e3],
		['ns', 1],
	])
		if (ns >= scale) return `${Number((ns / scale).toPrecision(3))} ${unit}`;
	return '0';
}

/* A step of an axis: 1, 2 or 5 of a power of ten, at least so many. */
function roundStep(ns) {
	const ten = 10 ** Math.floor(Math.log10(Math.max(ns, 1)));
	return [1, 2, 5, 10].map((times) => times * ten).find((step) => step >= ns);
}

/* As much of a text as fits, or nothing. */
function fitted(text, width) {
	const room = Math.floor(width / 6);
	return text.length <= room ? text : room > 3 ? `${text.slice(0, room - 1)}…` : '';
}

/* Every nanosecond, in groups of three: "853,744,950 ns". */
function exactly(ns) {
	return String(ns).replace(/\B(?=(\d{3})+$)/g, ',') + ' ns';
}

/* Takes numbers in LEB128 out of bytes, one after the other: {next(), byte(), at}. */
class Numbers {
	constructor(bytes, start = 0) {
		this.bytes = bytes;
		this.at = start;
	}

	byte() {
		return this.bytes[this.at++];
	}

	next() {
		let value = 0,
			scale = 1,
			byte;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte & 128);
		return value;
	}
}

const absolute = (ns) => BASE + BigInt(Math.round(ns));

/* The time of day where the trace was analysed, with nanoseconds. */
function clock(ns, withDate) {
	const at = absolute(ns) + BigInt(TIMELINE.utc_offset_s) * 1000000000n;
	let seconds = at / 1000000000n,
		rest = at % 1000000000n;
	if (rest < 0n) {
		rest += 1000000000n;
		seconds -= 1n;
	}
	const date = new Date(Number(seconds) * 1000);
	if (Number.isNaN(date.getTime())) return `${at} ns`;
	const text = date.toISOString();
	return `${withDate ? text.slice(0, 10) + ' ' : ''}${text.slice(11, 19)}.${String(rest).padStart(9, '0')}`;
}

function percent(part, whole) {
	if (!whole || !part) return '0 %';
	const value = (100 * part) / whole;
	return value >= 99.95
		? '100 %'
		: value < 0.1
			? '<0.1 %'
			: `${value >= 9.95 ? value.toFixed(0) : value.toFixed(1)} %`;
}

function count(number, one, many) {
	return `${number.toLocaleString('en')} ${number === 1 ? one : many || one + 's'}`;
}

function hostOf(thread) {
	const host = HOSTS[thread.host];
	return MANY_HOSTS && host ? ` on ${host.hostname || `host ${thread.host}`}` : '';
}

/* "Xorg (222)" */
function named(thread) {
	if (thread.tid === null || thread.tid === undefined) return thread.name || 'nobody';
	return `${thread.name ?? '?'} (${thread.tid})${hostOf(thread)}`;
}

/* What makes the page of a command: PAGES.delay(timeline, main); without a timeline that is null. */
const PAGES = {};

/* --- rows of the timeline ----------------------------------------------------- */

const rowsByThread = new Map();
for (const [index, row] of ROWS.entries()) {
	const key = `${row.host}:${row.tid}`;
	if (!rowsByThread.has(key)) rowsByThread.set(key, []);
	rowsByThread.get(key).push(index);
}

/* The row of a thread that the report names; TIDs are used again, so the time counts too. -1: none. */
function findRow(thread, time) {
	const found = rowsByThread.get(`${thread.host}:${thread.tid}`) || [];
	if (time === undefined) return found.length ? found[0] : -1;
	return found.find((at) => time >= ROWS[at].from && time < ROWS[at].to) ?? (found.length === 1 ? found[0] : -1);
}

/* A word as a shell takes it. */
function quoted(word) {
	return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/* "09:16:56.559" where the trace was analysed; with the date where it is not that of the trace's first event. */
function pasted(at, unit) {
	if (!TIMELINE.command.one_clock)
		return `${at / 1000000000n}.${String(at % 1000000000n).padStart(9, '0')}`;
	const local = (ns) => {
		const shift = BigInt(TIMELINE.utc_offset_s);
		return new Date(Number(floored(ns, 1000000000n) / 1000000000n + shift) * 1000).toISOString();
	};
	const digits = String(at - floored(at, 1000000000n)).padStart(9, '0'),
		text = local(at),
		sameDay = text.slice(0, 10) === local(BigInt(TIMELINE.command.from)).slice(0, 10);
	return `${text.slice(sameDay ? 11 : 0, 19)}.${digits.slice(0, unit === 1000000n ? 3 : unit === 1000n ? 6 : 9)}`;
}

const floored = (ns, unit) => ns - (((ns % unit) + unit) % unit);

/* "+33ms", "+3.108ms" */
function pastedLength(ns, unit) {
	if (unit === 1000000n && ns >= 10000000000n)
		return `+${ns / 1000000000n}.${String((ns / unit) % 1000n).padStart(3, '0')}s`;
	if (unit === 1000n && ns >= 1000000n)
		return `+${ns / 1000000n}.${String((ns / unit) % 1000n).padStart(3, '0')}ms`;
	return `+${ns / unit}${unit === 1000000n ? 'ms' : unit === 1000n ? 'us' : 'ns'}`;
}

/* The command that shows this part of a thread's time as text, as src/run/suggestion.c words it: rounded outwards, the
 * trace's own ends not said. null: the trace does not bear the answer. */
function commandFor(thread, begin, end) {
	const made = TIMELINE.command,
		host = HOSTS[thread.host],
		from = absolute(begin),
		to = absolute(end),
		unit = [1000000n, 1000n].find((size) => to - from >= 20n * size) || 1n;
	if (!made) return null;
	const words = [made.before];
	if (MANY_HOSTS && host && host.hostname) words.push(`--host ${quoted(host.hostname)}`);
	words.push(`--thread ${thread.tid}`);
	let base = BigInt(made.from);
	if (floored(from, unit) > base) {
		base = floored(from, unit);
		words.push(`--from ${pasted(base, unit)}`);
	}
	const last = floored(to + unit - 1n, unit);
	if (last < BigInt(made.to)) words.push(`--to ${pastedLength(floored(last - base + unit - 1n, unit), unit)}`);
	if (made.after) words.push(made.after);
	return words.join(' ');
}

/* --- words for the states -------------------------------------------------------- */

/* On the critical path every wait counts, also one by the thread's own timer. */
const HAS_PATH = Boolean(REPORT.critical_path?.length || KIND === 'diff');

const CLASSES = [
	{key: 'user', label: 'Ran user code, or as a kernel thread'},
	{key: 'syscall', label: 'Ran in a system call'},
	{key: 'interrupt', label: 'Interrupted'},
	{key: 'ready', label: 'Ready, without a CPU'},
	{key: 'blocked', label: HAS_PATH ? 'Waited for others, or on the critical path' : 'Waited for others'},
	{key: 'unknown', label: 'Unknown'},
	{key: 'idle', label: 'Waits that do not count: own timers, idle, the tracer'},
];
const [USER, SYSCALL, INTERRUPT, READY, BLOCKED, UNKNOWN, IDLE] = [0, 1, 2, 3, 4, 5, 6];
const isBlocked = (kind) => kind === BLOCKED || kind === IDLE;

/* The class of a leaf's key, as in the report. */
function classOfKey(key) {
	if (key.startsWith('blocked')) return BLOCKED;
	if (key.startsWith('working')) return /^working\/(?!softirq)\w+:/.test(key) ? SYSCALL : USER;
	if (key.startsWith('interrupted')) return /preempted|wait-cpu/.test(key) ? READY : INTERRUPT;
	return UNKNOWN;
}

function resourceText(resource) {
	if (!resource) return '';
	const plain =
		!resource.name || resource.name === resource.kind || (resource.kind === 'timer' && resource.name === 'sleep');
	const text = plain ? resource.name || resource.kind : `${resource.kind}:${resource.name}`;
	return resource.fd !== undefined ? `${text} (descriptor ${resource.fd})` : text;
}
