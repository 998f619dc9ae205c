/* SPDX-License-Identifier: MIT */
/* The timeline's cells, unpacked: src/report/page_timeline.c says how they are packed.
 *
 * Each row has cells in several levels of detail. A level is unpacked row by row, when it is first
 * drawn. Of a row:
 *
 *   begin[i], begin[i+1]   of cell i, ns since the window's begin
 *   what[i]                exact: its leaf, merged: -1 - its place in `shares`
 *   extra.get(i)           of an exact blocked cell: [resource, waker's text, row or -1, ns before its end]
 */
function bytesOf(base64) {
	const text = atob(base64),
		bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	return bytes;
}

const LEAVES = TIMELINE.leaves.map(([key, label, kind]) => ({key, label, kind}));
const LEVELS = TIMELINE.levels.map((level) => ({
	tolerance: level.tolerance_ns,
	exact: level.exact,
	starts: level.rows,
	bytes: null,
	base64: level.data,
	rows: [],
}));
const PARTS = TIMELINE.exact
	? TIMELINE.exact.parts.map(([row, begin, end, start], i, all) => ({
			row,
			begin,
			end,
			start,
			stop: i + 1 < all.length ? all[i + 1][3] : undefined,
			cells: null,
		}))
	: [];

/* What a served page has besides: served.js, which is in no other page, puts it here. */
const served = {
	is: false,
	detailOf: () => null, /* of a row's part, finer than a level */
	link: () => null, /* to the report of a part */
	search: () => null, /* for a word: what the server finds, once it answers */
	begin: () => {},
};

/* The numbers of a page's own cells are those of its lists; cells that came later have `numbers` of theirs. */
const OWN = {leaf: (n) => n, text: (n) => n, row: (n) => n};

function unpack(bytes, start, stop, from, numbers = OWN) {
	const begin = [from],
		what = [],
		shares = [],
		counts = [],
		extra = new Map(),
		packed = new Numbers(bytes, start);
	let t = from;
	while (packed.at < stop) {
		const head = packed.next(),
			merged = head % 2;
		t += (head - merged) / 2;
		if (merged) {
			what.push(-1 - counts.length);
			counts.push(packed.next());
			const present = packed.byte();
			let rest = 255;
			for (let kind = 0; kind < CLASSES.length; kind++) {
				let share = 0;
				if ((present >> kind) & 1) share = present >> (kind + 1) ? Math.min(packed.byte(), rest) : rest;
				rest -= share;
				shares.push(share);
			}
		} else {
			const leaf = numbers.leaf(packed.next());
			if (isBlocked(LEAVES[leaf].kind)) {
				const resource = numbers.text(packed.next()),
					waker = numbers.text(packed.next()),
					row = packed.next();
				extra.set(what.length, [resource, waker, numbers.row(row) - 1, row ? packed.next() : 0]);
			}
			what.push(leaf);
		}
		begin.push(t);
	}
	return {
		length: what.length,
		begin: Float64Array.from(begin),
		what: Int32Array.from(what),
		shares: Uint8Array.from(shares),
		counts,
		extra,
	};
}

function cellsOf(level, row) {
	if (!level.rows[row]) {
		level.bytes ??= bytesOf(level.base64);
		level.rows[row] = unpack(
			level.bytes,
			level.starts[row],
			level.starts[row + 1] ?? level.bytes.length,
			ROWS[row].from,
		);
	}
	return level.rows[row];
}

let exactBytes = null;
function cellsOfPart(part) {
	if (!part.cells) {
		exactBytes ??= bytesOf(TIMELINE.exact.data);
		part.cells = unpack(exactBytes, part.start, part.stop ?? exactBytes.length, part.begin);
	}
	return part.cells;
}

/* The coarsest level whose merged cells are no wider than about a pixel; else the finest there is. */
function levelFor(nsPerPixel) {
	return LEVELS.find((level) => level.exact || level.tolerance <= nsPerPixel * 1.5) || LEVELS[LEVELS.length - 1];
}

/* A level is too coarse for a pixel of so many ns. */
const isCoarse = (level, nsPerPixel) => !level.exact && level.tolerance > nsPerPixel * 1.5;

/* Calls that are told of, by row: nested, so that they are the frames below it. [[depth, begin, end, class, name]] by begin */
const CALLS = new Map();
for (const [row, depth, begin, ns, kind, text] of TIMELINE.calls || []) {
	if (!CALLS.has(row)) CALLS.set(row, []);
	CALLS.get(row).push([depth, begin, begin + ns, [USER, SYSCALL, INTERRUPT][kind], STRINGS[text]]);
}
const CALLS_DEEP = 14;
const framesOf = (row) =>
	CALLS.has(row) ? Math.min(CALLS_DEEP, Math.max(...CALLS.get(row).map(([depth]) => depth)) + 1) : FRAMES_MAX;

/* The first cell that ends after `time`. */
function firstCell(cells, time) {
	let low = 0,
		high = cells.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (cells.begin[middle + 1] > time) high = middle;
		else low = middle + 1;
	}
	return low;
}

/* The cells to draw of a row over a stretch: a level's, and exact parts over them where the finest level is
 * not fine enough. visit(cells, index, end of what is drawn) */
const partsByRow = new Map();
for (const part of PARTS) {
	if (!partsByRow.has(part.row)) partsByRow.set(part.row, []);
	partsByRow.get(part.row).push(part);
}

function sourcesFor(row, from, to, nsPerPixel) {
	const level = levelFor(nsPerPixel),
		fine = isCoarse(level, nsPerPixel) && served.detailOf(row, from, to, level);
	if (fine && fine.from <= from && fine.to >= to) return [{cells: fine.cells, from, to}];
	const sources = [{cells: cellsOf(level, row), from, to}];
	if (!level.exact && nsPerPixel < level.tolerance)
		for (const part of partsByRow.get(row) || [])
			if (part.begin < to && part.end > from)
				sources.push({
					cells: cellsOfPart(part),
					from: Math.max(from, part.begin),
					to: Math.min(to, part.end),
				});
	if (fine) sources.push({cells: fine.cells, from: Math.max(from, fine.from), to: Math.min(to, fine.to)});
	return sources;
}

/* visit(leaf or null for what is merged, its class, ns, extra) of what a row did in [from, to). */
function eachState(row, from, to, visit) {
	const sources = sourcesFor(row, from, to, 0),
		parts = sources.slice(1).sort((a, b) => a.from - b.from),
		pieces = [];
	let at = from;
	for (const part of parts) {
		if (part.to <= at) continue;
		if (part.from > at) pieces.push({...sources[0], from: at, to: part.from});
		pieces.push({...part, from: Math.max(at, part.from)});
		at = part.to;
	}
	if (at < to) pieces.push({...sources[0], from: at, to});
	for (const {cells, from: begin, to: end} of pieces)
		for (let i = firstCell(cells, begin); i < cells.length && cells.begin[i] < end; i++) {
			const ns = Math.min(cells.begin[i + 1], end) - Math.max(cells.begin[i], begin),
				what = cells.what[i];
			if (what >= 0) {
				visit(LEAVES[what], LEAVES[what].kind, ns, cells.extra.get(i), cells.begin[i]);
				continue;
			}
			const first = (-1 - what) * CLASSES.length;
			for (let kind = 0; kind < CLASSES.length; kind++)
				if (cells.shares[first + kind]) visit(null, kind, (cells.shares[first + kind] / 255) * ns);
		}
}

/* Of a thread's life: as wib(), but of the blocked time what does not count is pale, as far as the thread has a row. */
function livedParts(thread) {
	const row = findRow(thread, thread.begin),
		parts = wib(thread),
		sums = new Float64Array(CLASSES.length);
	if (row < 0) return parts;
	const cells = cellsOf(LEVELS[0], row);
	for (let i = 0; i < cells.length; i++) {
		const ns = cells.begin[i + 1] - cells.begin[i],
			what = cells.what[i];
		if (what >= 0) sums[LEAVES[what].kind] += ns;
		else
			for (const kind of [BLOCKED, IDLE])
				sums[kind] += (cells.shares[(-1 - what) * CLASSES.length + kind] / 255) * ns;
	}
	const whole = sums[BLOCKED] + sums[IDLE],
		idle = whole ? Math.round((thread.blocked_ns * sums[IDLE]) / whole) : 0;
	return parts.flatMap((part) =>
		part.class === 'blocked'
			? [
					{class: 'blocked', ns: part.ns - idle, label: CLASSES[BLOCKED].label},
					{class: 'idle', ns: idle, label: CLASSES[IDLE].label},
				]
			: [part],
	);
}

/* What is known of one cell: for people, and for links. */
function describe(row, cells, index) {
	const begin = cells.begin[index],
		end = cells.begin[index + 1],
		what = cells.what[index];
	const cell = {row, cells, index, begin, end, ns: end - begin, merged: what < 0};
	if (cell.merged) {
		const at = (-1 - what) * CLASSES.length;
		cell.count = cells.counts[-1 - what];
		cell.shares = [...cells.shares.subarray(at, at + CLASSES.length)];
		cell.label = `${count(cell.count, 'interval')} in ${duration(cell.ns)}`;
		cell.kind = cell.shares.indexOf(Math.max(...cell.shares));
		return cell;
	}
	const leaf = LEAVES[what],
		extra = cells.extra.get(index);
	cell.label = leaf.label;
	cell.key = leaf.key;
	cell.kind = leaf.kind;
	if (extra) {
		cell.resource = STRINGS[extra[0]];
		cell.waker = STRINGS[extra[1]];
		cell.lead = extra[2];
		cell.acted = end - extra[3];
		cell.handedOver = extra[3] > 0;
	}
	return cell;
}

/* The finest cell at a time. */
function cellAt(row, time, nsPerPixel) {
	const sources = sourcesFor(row, time, time + 1, nsPerPixel);
	const {cells} = sources[sources.length - 1];
	const index = firstCell(cells, time);
	return index < cells.length && cells.begin[index] <= time ? describe(row, cells, index) : null;
}

/* Lines for people about a cell. */
function linesAbout(cell) {
	const row = ROWS[cell.row];
	const state = cell.merged ? cell.label : `${isBlocked(cell.kind) ? 'Blocked: ' : ''}${cell.label}`;
	const lines = [`${named(row)}: ${state}`];
	if (cell.kind === IDLE && !cell.merged) lines.push('nobody else imposed this wait: it does not count');
	if (cell.resource) lines.push(`on ${cell.resource}`);
	lines.push(`${duration(cell.ns)} (${exactly(cell.ns)})`, `from ${clock(cell.begin)} to ${clock(cell.end)}`);
	if (cell.merged)
		lines.push(
			cell.shares
				.map((share, i) => [share, CLASSES[i].label])
				.filter(([share]) => share)
				.map(([share, label]) => `${label} ${percent(share, 255)}`)
				.join(', '),
		);
	if (cell.waker) lines.push(cell.waker);
	if (cell.lead >= 0 && cell.handedOver)
		lines.push(`led to ${named(ROWS[cell.lead])}, ${duration(cell.end - cell.acted)} before`);
	return lines;
}
