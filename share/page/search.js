/* SPDX-License-Identifier: MIT */
/* Search: in threads, states, what waits were for, who ended them, and in all that the report says of a stretch of
 * time (causes, devices, locks, files). A list of what was found, and marks on a map of the whole window, which also
 * shows the part that is in view.
 */
const HITS_MAX = 100000,
	HITS_LISTED = 40;
const ROWS_LEFT_OUT = TIMELINE.rows_omitted || 0;

/* All stretches that the report speaks of, each with the words it has for it: [{thread, begin, end, text}] */
let spoken = null;

function wordsOf(value) {
	if (typeof value === 'string') return value;
	if (!value || typeof value !== 'object' || Array.isArray(value)) return '';
	if (value.kind !== undefined && value.name !== undefined)
		return `${value.kind}:${value.name ?? ''} ${value.label ?? ''}`;
	return value.label || value.kind || '';
}

function stretchesSpokenOf() {
	if (spoken) return spoken;
	spoken = [];
	const visit = (one, above) => {
		if (!one || typeof one !== 'object') return;
		if (Array.isArray(one)) {
			for (const item of one) visit(item, above);
			return;
		}
		const words = [one.resource, one.cause, one.lock, one.label, one.sentence, one.operation, one.object]
			.map(wordsOf)
			.filter(Boolean)
			.join(' ');
		if (one.tid !== undefined && one.begin !== undefined && one.end !== undefined && (words || above))
			spoken.push({thread: one, begin: one.begin, end: one.end, text: words || above});
		for (const [key, value] of Object.entries(one))
			if (value && typeof value === 'object' && key !== 'coverage' && key !== 'instances') visit(value, words);
	};
	for (const [key, value] of Object.entries(REPORT))
		if (!['hosts', 'coverage', 'window', 'tool'].includes(key)) visit(value, '');
	return spoken;
}

/* [{row, begin, end, text}] by time, each place once. `served`: the states that a server found, [{row, begin, end, leaf, text}]; of a
 * thread without a row also who it is: {thread}. */
function hitsOf(word, served = null) {
	const hits = new Map();
	const add = (row, begin, end, text, thread) => {
		const key = `${thread ? named(thread) : row} ${begin}`;
		if (hits.size < HITS_MAX && !hits.has(key)) hits.set(key, {row, begin, end, text, thread});
	};
	const leaves = new Set(
			LEAVES.map((leaf, i) => (`${leaf.key} ${leaf.label}`.toLowerCase().includes(word) ? i : -1)),
		),
		strings = new Set(STRINGS.map((text, i) => (i && text.toLowerCase().includes(word) ? i : -1)));
	const look = (row, cells) => {
		for (let i = 0; i < cells.length; i++) {
			if (cells.what[i] < 0) continue;
			const extra = cells.extra.get(i),
				string = extra && extra.slice(0, 2).find((one) => strings.has(one));
			if (string || leaves.has(cells.what[i]))
				add(
					row,
					cells.begin[i],
					cells.begin[i + 1],
					`${LEAVES[cells.what[i]].key}${string ? `: ${STRINGS[string]}` : ''}`,
				);
		}
	};
	for (const row of ROWS.keys()) {
		const cells = cellsOf(LEVELS[LEVELS.length - 1], row);
		if (cells.length && named(ROWS[row]).toLowerCase().includes(word))
			add(row, cells.begin[0], cells.begin[1], 'the thread');
		if (!served) look(row, cells);
	}
	if (!served) for (const part of PARTS) look(part.row, cellsOfPart(part));
	for (const {row, begin, end, leaf, text, thread} of served || [])
		if (row >= 0 || thread) add(row, begin, end, `${LEAVES[leaf].key}${text ? `: ${STRINGS[text]}` : ''}`, thread);
	for (const {thread, begin, end, text} of stretchesSpokenOf())
		if (text.toLowerCase().includes(word)) {
			const row = findRow(thread, begin);
			if (row >= 0) add(row, begin, end, text);
		}
	return [...hits.values()].sort((a, b) => a.begin - b.begin || a.row - b.row);
}

function mark(timeline, text) {
	const word = text.trim().toLowerCase(),
		{search} = timeline;
	timeline.matches = new Set(
		word ? [...ROWS.keys()].filter((row) => named(ROWS[row]).toLowerCase().includes(word)) : [],
	);
	search.text = '';
	search.hits = [];
	search.list.hidden = true;
	search.other.hidden = true;
	search.found.textContent = word ? `${count(timeline.matches.size, 'thread')}; Enter finds all places` : '';
	timeline.draw();
}

function listHits(timeline) {
	const {hits, list} = timeline.search,
		longest = [...hits].sort((a, b) => b.end - b.begin - (a.end - a.begin)).slice(0, HITS_LISTED);
	fill(
		list,
		el(
			'ol',
			{'aria-label': 'What was found, longest first'},
			longest.map((hit) =>
				el(
					'li',
					{},
					button(
						`${named(hit.thread || ROWS[hit.row])} ${duration(hit.end - hit.begin)}`,
						`from ${clock(hit.begin)}`,
						() => goToHit(timeline, hits.indexOf(hit)),
						{class: 'plain'},
					),
					el('span', {class: 'note'}, ` ${hit.text}`),
				),
			),
		),
		hits.length > longest.length
			? el('p', {class: 'note'}, `The ${longest.length} longest; Next goes through all ${hits.length.toLocaleString('en')}.`)
			: null,
		ROWS_LEFT_OUT && !served.is
			? el('p', {class: 'note'}, `Only threads with a row in this page were searched: ${count(ROWS_LEFT_OUT, 'thread')} more ${ROWS_LEFT_OUT === 1 ? 'has' : 'have'} none.`)
			: null,
	);
	list.hidden = !hits.length;
}

function goToHit(timeline, at) {
	const {search} = timeline,
		hit = search.hits[at],
		width = timeline.to - timeline.from;
	search.at = at;
	search.found.textContent =
		`${at + 1} of ${search.hits.length.toLocaleString('en')}` + (search.left ? `; ${search.left.toLocaleString('en')} shorter ones left out` : '');
	if (hit.row < 0) {
		timeline.show(hit.begin - (hit.end - hit.begin) * 0.35, hit.end + (hit.end - hit.begin) * 0.35);
		fill(search.other, `${named(hit.thread)} has no row in this picture. `, served.link(hit.thread, hit.begin, hit.end));
		search.other.hidden = false;
		return;
	}
	search.other.hidden = true;
	const cell = cellAt(hit.row, hit.begin, 0);
	const found =
		cell && cell.begin === hit.begin
			? cell
			: {row: hit.row, begin: hit.begin, end: hit.end, ns: hit.end - hit.begin, kind: UNKNOWN, stretch: true};
	select(timeline, found, found.ns < timeline.nsPerPixel * 4);
	if (hit.end < timeline.from || hit.begin > timeline.to) timeline.show(hit.begin - width / 2, hit.begin + width / 2);
}

/* The next place found, or the one before. */
function seek(timeline, text, back) {
	const word = text.trim().toLowerCase(),
		{search} = timeline;
	if (!word) return;
	if (search.text === word) {
		if (!search.pending) goOn(timeline, back);
		return;
	}
	mark(timeline, text);
	search.text = word;
	search.at = -1;
	search.pending = true;
	const take = (found) => {
		if (search.text !== word) return; /* something else is searched by now */
		search.hits = hitsOf(word, found && found.list);
		search.left = found ? found.left : 0;
		search.pending = false;
		listHits(timeline);
		timeline.draw();
		goOn(timeline, back);
	};
	const asked = served.search(word);
	if (!asked) {
		take(null);
		return;
	}
	search.found.textContent = 'searching …';
	asked.then(take, (error) => {
		search.text = '';
		search.found.textContent = `the server did not answer: ${error.message}`;
	});
}

function goOn(timeline, back) {
	const {search} = timeline;
	const {length} = search.hits;
	if (length) {
		goToHit(timeline, (search.at + (back ? length - (search.at < 0 ? 0 : 1) : 1)) % length);
	} else {
		const where = ROWS_LEFT_OUT && !served.is ? ` in the ${count(ROWS.length, 'thread')} of this page; ${ROWS_LEFT_OUT.toLocaleString('en')} more have no row` : '';
		search.found.textContent = `not found${where}`;
		announce(search.found.textContent);
	}
}

/* The whole window, small: the path, what was found, and what is in view. A click or a drag goes there. */
class Minimap {
	constructor(timeline) {
		this.timeline = timeline;
		this.canvas = el('canvas', {id: 'minimap', role: 'img', 'aria-label': 'The whole window, and which part is shown'});
		this.context = this.canvas.getContext('2d', {alpha: false});
		const go = (event) => {
			const box = this.canvas.getBoundingClientRect(),
				at = ((event.clientX - box.left - timeline.left) / (box.width - timeline.left)) * LENGTH,
				half = (timeline.to - timeline.from) / 2;
			timeline.show(at - half, at + half);
		};
		this.canvas.addEventListener('pointerdown', (event) => {
			this.canvas.setPointerCapture(event.pointerId);
			go(event);
		});
		this.canvas.addEventListener('pointermove', (event) => {
			if (event.buttons) go(event);
		});
	}

	paint() {
		const {timeline, context: c} = this,
			ratio = devicePixelRatio || 1,
			height = 20,
			width = this.canvas.clientWidth,
			x = (time) => timeline.left + (time / LENGTH) * (width - timeline.left);
		if (this.canvas.width !== Math.round(width * ratio)) {
			this.canvas.width = Math.round(width * ratio);
			this.canvas.height = Math.round(height * ratio);
		}
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = timeline.color.back;
		c.fillRect(0, 0, width, height);
		c.fillStyle = timeline.color.faint;
		c.font = '11px system-ui, sans-serif';
		c.textBaseline = 'middle';
		const {hits} = timeline.search;
		c.fillText(hits.length ? `${hits.length.toLocaleString('en')} found` : timeline.left < 120 ? 'Window' : 'Whole window', 8, height / 2);
		c.fillStyle = timeline.color.line;
		c.fillRect(timeline.left, height / 2, width, 1);
		timeline.hops.forEach((hop, i) => {
			c.fillStyle = i % 2 ? timeline.color.gap : timeline.color.line;
			c.fillRect(x(hop.begin), 6, Math.max(x(hop.end) - x(hop.begin), 0.5), 8);
		});
		c.fillStyle = timeline.color.hit;
		let drawn = -9;
		for (const hit of hits) {
			if (x(hit.begin) < drawn + 1) continue;
			drawn = x(hit.begin);
			c.fillRect(drawn, 2, 2, height - 4);
		}
		c.strokeStyle = timeline.color.accent;
		c.lineWidth = 2;
		c.strokeRect(x(timeline.from) + 1, 1, Math.max(x(timeline.to) - x(timeline.from) - 2, 3), height - 2);
	}
}
