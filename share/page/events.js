/* SPDX-License-Identifier: MIT */
/* Mouse, touch and keys of the timeline, its toolbar, and what is shown of the selected cell. */

function makeTimeline() {
	const canvas = el('canvas', {
		id: 'canvas',
		tabindex: 0,
		role: 'application',
		'aria-label':
			'Timeline. Plus and minus zoom, A and D or Shift with arrows move, arrows go to the next state or thread, ' +
			'Enter zooms to the selected state, F opens the frames, 0 shows all.',
	});
	const timeline = new Timeline(canvas);
	const details = el('div', {id: 'details', class: 'card'});
	const search = el('input', {
		type: 'search',
		id: 'search',
		placeholder: 'Thread, call, file, device, lock, cause …',
		'aria-label': 'Search in the timeline',
	});
	const found = el('span', {id: 'found', class: 'note', role: 'status'}),
		hits = el('div', {id: 'hits', hidden: true}),
		other = el('div', {class: 'note', role: 'status', hidden: true});
	timeline.search = {text: '', hits: [], at: -1, found, list: hits, other};
	const frames = button(
		'Frames',
		'Nested control-flow frames below every row',
		() => {
			timeline.openAll = !timeline.openAll;
			frames.setAttribute('aria-pressed', timeline.openAll);
			timeline.resize();
		},
		{'aria-pressed': 'false', id: 'frames'},
	);
	const arrows = button(
		'Wake-ups',
		'Arrows from who ended a wait',
		() => {
			timeline.arrows = !timeline.arrows;
			arrows.setAttribute('aria-pressed', timeline.arrows);
			timeline.draw();
		},
		{'aria-pressed': 'true', id: 'arrows'},
	);
	const toolbar = el(
		'div',
		{class: 'toolbar', role: 'toolbar', 'aria-label': 'Timeline'},
		button('−', 'Zoom out (-)', () => timeline.zoom(2), {id: 'zoom-out', 'aria-label': 'Zoom out'}),
		button('+', 'Zoom in (+)', () => timeline.zoom(0.5), {id: 'zoom-in', 'aria-label': 'Zoom in'}),
		button('◀', 'Earlier (A)', () => timeline.pan(-0.3), {'aria-label': 'Earlier'}),
		button('▶', 'Later (D)', () => timeline.pan(0.3), {'aria-label': 'Later'}),
		button('All', 'The whole window (0)', () => timeline.show(0, LENGTH), {id: 'zoom-all'}),
		frames,
		arrows,
		search,
		button('Next', 'Next place found (Enter)', () => seek(timeline, search.value), {id: 'next'}),
		found,
	);
	timeline.onselect = (cell) => showDetails(timeline, details, cell);
	search.addEventListener('input', () => mark(timeline, search.value));
	search.addEventListener('keydown', (event) => {
		if (event.key === 'Enter') seek(timeline, search.value, event.shiftKey);
	});
	timeline.minimap = new Minimap(timeline);
	mouse(timeline, canvas);
	keys(timeline, canvas, search);
	details.append(el('p', {class: 'note'}, 'Click a state, or choose one with the keys, and it is explained here.'));
	timeline.element = el(
		'div',
		{class: 'timeline'},
		toolbar,
		legend(),
		hits,
		other,
		timeline.minimap.canvas,
		canvas,
		el(
			'p',
			{class: 'note hint'},
			'Drag to move, Ctrl and wheel (or + and −) to zoom, drag on the axis to zoom to a stretch, ' +
				'click a state to explain it, click a name for its frames.',
		),
		notes(),
		away(timeline),
		statistics(timeline),
		details,
	);
	addEventListener('resize', () => timeline.resize());
	return timeline;
}

function legend() {
	return el(
		'ul',
		{class: 'legend'},
		CLASSES.map(({key, label}) => el('li', {}, el('span', {class: `swatch c-${key}`}), label)),
		LANES.some((lane) => lane.depth) ? el('li', {}, el('span', {class: 'swatch c-device'}), 'Requests at a device') : null,
		LANES.some((lane) => lane.held) ? el('li', {}, el('span', {class: 'swatch c-all'}), 'Lock held') : null,
		(REPORT.coverage.gaps || []).length ? el('li', {}, el('span', {class: 'swatch c-gap'}), 'Events lost') : null,
	);
}

/* What the timeline does not have. */
function notes() {
	const finest = LEVELS[LEVELS.length - 1],
		list = [];
	if (LANES.length)
		list.push(
			`Lanes are means over ${duration(Math.round(LENGTH / (LANES[0].waiting || LANES[0].busy).length))}; threads that wait are those ` +
				'with a row here, and only waits that count.',
		);
	if (served.is)
		list.push('What is narrower than a pixel is merged to columns of its shares; zoom in, and the server sends it whole.');
	else if (!finest.exact)
		list.push(
			`States shorter than ${duration(finest.tolerance)} are merged to columns of their shares, except where the report ` +
				'speaks of a wait or an example: the whole would be too much for a page. A page of a shorter --from and --to has all.',
		);
	if (TIMELINE.rows_omitted)
		list.push(`${count(TIMELINE.rows_omitted, 'thread')} that the report names have no row here.`);
	return list.map((text) => el('p', {class: 'note'}, text));
}

/* How many rows are not there, as nobody would see anything in them. */
function away(timeline) {
	const line = el('p', {class: 'note', id: 'away'}),
		tell = () => {
			const number = timeline.lines.filter((row) => timeline.isAway(row) && !timeline.still.has(row)).length;
			line.textContent = number ? `${count(number, 'thread')} that did not live in the part shown ${number === 1 ? 'has' : 'have'} no row.` : '';
			line.hidden = !number;
		};
	timeline.listeners.push(tell);
	tell();
	return timeline.showStill ? line : [line, still(timeline)];
}

/* Those that slept all the time, and woke for nobody. */
function still(timeline) {
	const number = timeline.still.size,
		words = () => `${timeline.showStill ? 'Hide' : 'Show'} the ${count(number, 'thread')} that slept all the time`;
	const change = button(
		words(),
		'Kernel threads without work, and threads whose wait began before the trace',
		() => {
			timeline.showStill = !timeline.showStill;
			change.textContent = words();
			timeline.resize();
		},
		{id: 'still'},
	);
	return el('p', {class: 'note'}, change);
}

/* --- details ------------------------------------------------------------------------ */

function select(timeline, cell, zoom) {
	timeline.selected = cell;
	if (cell) {
		timeline.reveal(cell.row);
		if (zoom) timeline.show(cell.begin - cell.ns * 0.35, cell.end + cell.ns * 0.35);
		announce(linesAbout(cell).join('. '));
	}
	timeline.onselect(cell);
	timeline.draw();
	rememberPlace(timeline, true);
}

/* From anywhere on the page: to this part of a thread's time. */
function goTo(timeline, thread, begin, end) {
	const row = findRow(thread, begin);
	timeline.element.scrollIntoView({
		block: 'start',
		behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
	});
	const ns = Math.max(end - begin, 1);
	timeline.marked = [];
	timeline.show(begin - ns * 0.35, end + ns * 0.35);
	if (row < 0) {
		announce(`${named(thread)} has no row in the timeline`);
		return;
	}
	const cell = cellAt(row, begin, timeline.nsPerPixel);
	if (cell && cell.begin === begin && cell.end === end) select(timeline, cell);
	else select(timeline, {row, begin, end, ns: end - begin, label: 'this stretch', kind: UNKNOWN, stretch: true});
	timeline.canvas.focus({preventScroll: true});
}

function showDetails(timeline, details, cell) {
	if (!cell) {
		fill(details, el('p', {class: 'note'}, 'Nothing is selected.'));
		return;
	}
	const row = ROWS[cell.row],
		[head, ...lines] = cell.stretch
			? [
					`${named(row)}`,
					`${duration(cell.ns)} (${exactly(cell.ns)})`,
					`from ${clock(cell.begin)} to ${clock(cell.end)}`,
				]
			: linesAbout(cell);
	const wait = waitOf(row, cell.begin);
	fill(
		details,
		el('p', {}, el('strong', {}, head)),
		el('p', {}, lines.join(' · ')),
		wait && el('p', {}, 'Cause: ', causeText(wait)),
		el(
			'p',
			{class: 'buttons'},
			button('Zoom to it', 'Enter', () =>
				timeline.show(cell.begin - cell.ns * 0.35, cell.end + cell.ns * 0.35),
			),
			cell.lead >= 0 &&
				cell.lead !== cell.row &&
				button(`To ${named(ROWS[cell.lead])}`, 'What it did then', () => {
					const acted = cellAt(cell.lead, Math.max(cell.acted - 1, 0), timeline.nsPerPixel);
					if (acted) select(timeline, acted);
				}),
			wait &&
				button('In the causality tree', 'The same wait there', () => revealWait(row, cell.begin), {
					id: 'to-tree',
				}),
		),
		command(commandFor(row, cell.begin, cell.end)),
		served.link(row, cell.begin, cell.end),
	);
}

/* --- mouse and keys -------------------------------------------------------------------------- */

function pick(timeline, x, y) {
	const at = timeline.lineAt(y);
	if (!at || x < timeline.left) return null;
	const time = timeline.time(x);
	if (at.row < -1) return {lane: laneOf(at.row), time};
	if (at.row >= 0) return cellAt(at.row, Math.floor(time), timeline.nsPerPixel);
	const piece = timeline.path.find((one) => one.begin <= time && one.end > time);
	if (!piece) return null;
	return {piece, row: findRow(piece, piece.begin), begin: piece.begin, end: piece.end, ns: piece.ns};
}

function pieceLines({piece}) {
	return [
		`${PATH_NAME}: ${named(piece)}`,
		piece.leaf + (piece.resource ? ` on ${resourceText(piece.resource)}` : ''),
		`${duration(piece.ns)} (${exactly(piece.ns)})`,
		`from ${clock(piece.begin)} to ${clock(piece.end)}`,
		...(piece.cause ? [piece.cause.label] : []),
	];
}

function mouse(timeline, canvas) {
	let drag = null,
		pinch = null;
	const fingers = new Map(); /* pointer → x, of those that touch */
	const spread = () => {
		const [one, other] = [...fingers.values()];
		return {middle: (one + other) / 2, width: Math.max(20, Math.abs(one - other))};
	};
	const place = (event) => {
		const box = canvas.getBoundingClientRect();
		return [event.clientX - box.left, event.clientY - box.top];
	};
	canvas.addEventListener('pointerdown', (event) => {
		const [x, y] = place(event);
		if (event.pointerType === 'touch') fingers.set(event.pointerId, x);
		if (fingers.size === 2) {
			const {middle, width} = spread();
			pinch = {time: timeline.time(middle), ns: timeline.nsPerPixel * width};
			drag = null;
			return;
		}
		drag = {
			x,
			y,
			from: timeline.from,
			to: timeline.to,
			scroll: timeline.scroll,
			moved: false,
			axis: y < AXIS && x > timeline.left,
		};
		canvas.setPointerCapture(event.pointerId);
		canvas.focus({preventScroll: true});
	});
	canvas.addEventListener('pointermove', (event) => {
		const [x, y] = place(event);
		if (pinch && fingers.has(event.pointerId)) {
			fingers.set(event.pointerId, x);
			/* what was between the fingers stays there */
			const {middle, width} = spread(),
				scale = pinch.ns / width;
			timeline.show(
				pinch.time - (middle - timeline.left) * scale,
				pinch.time + (timeline.width - middle) * scale,
			);
			return;
		}
		if (drag) {
			drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
			if (!drag.moved) return;
			hideTip();
			if (drag.axis) return;
			const ns = ((drag.x - x) * (drag.to - drag.from)) / (timeline.width - timeline.left);
			timeline.scrollBy(drag.scroll + drag.y - y - timeline.scroll);
			timeline.show(drag.from + ns, drag.to + ns);
			return;
		}
		const cell = pick(timeline, x, y);
		if (cell)
			showTip(
				event.clientX,
				event.clientY,
				cell.lane ? laneLines(cell.lane, cell.time, timeline) : cell.piece ? pieceLines(cell) : linesAbout(cell),
			);
		else hideTip();
	});
	const lift = (event) => {
		fingers.delete(event.pointerId);
		if (fingers.size < 2) pinch = null;
	};
	canvas.addEventListener('pointerup', (event) => {
		lift(event);
		const [x, y] = place(event);
		if (drag && drag.axis && drag.moved)
			timeline.show(...[timeline.time(drag.x), timeline.time(x)].sort((a, b) => a - b));
		else if (drag && !drag.moved) clicked(timeline, x, y);
		drag = null;
	});
	canvas.addEventListener('pointercancel', (event) => {
		lift(event);
		drag = null;
	});
	canvas.addEventListener('pointerleave', hideTip);
	canvas.addEventListener('dblclick', (event) => timeline.zoom(0.4, timeline.time(place(event)[0])));
	canvas.addEventListener(
		'wheel',
		(event) => {
			if (event.ctrlKey || event.metaKey || event.altKey) {
				timeline.zoom(1.0015 ** event.deltaY, timeline.time(place(event)[0]));
			} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
				timeline.pan((event.deltaX || event.deltaY) / 1000);
			} else if (!timeline.scrollBy(event.deltaY)) {
				return; /* the page scrolls */
			}
			event.preventDefault();
		},
		{passive: false},
	);
}

function clicked(timeline, x, y) {
	const at = timeline.lineAt(y);
	if (!at) return;
	timeline.line = at.line;
	if (x < timeline.left) {
		toggleFrames(timeline, at.row);
		return;
	}
	const cell = pick(timeline, x, y);
	if (cell && cell.piece && cell.row >= 0) select(timeline, cellAt(cell.row, cell.begin, timeline.nsPerPixel));
	else if (cell && cell.lane) clickedLane(timeline, cell.lane, cell.time);
	else if (cell && !cell.piece) select(timeline, cell);
}

function toggleFrames(timeline, row) {
	if (row < 0) return;
	if (!timeline.open.delete(row)) timeline.open.add(row);
	timeline.resize();
	announce(`${named(ROWS[row])}: frames ${timeline.open.has(row) ? 'shown' : 'hidden'}`);
}

/* The state before or after the selected one, in its row. */
function step(timeline, by) {
	const row = timeline.lines[timeline.line] >= 0 ? timeline.lines[timeline.line] : timeline.lines.find((one) => one >= 0),
		cell = timeline.selected;
	let next;
	if (!cell || cell.row !== row) next = cellAt(row, Math.max(timeline.from, ROWS[row].from), timeline.nsPerPixel);
	else next = cellAt(row, by > 0 ? cell.end : cell.begin - 1, timeline.nsPerPixel);
	if (!next) return;
	select(timeline, next);
	if (next.begin < timeline.from || next.end > timeline.to)
		timeline.show(
			next.begin - (timeline.to - timeline.from) * 0.4,
			next.begin + (timeline.to - timeline.from) * 0.6,
		);
}

function keys(timeline, canvas, search) {
	const move = (by) => {
		let line = timeline.line + by;
		while (line >= 0 && line < timeline.lines.length && timeline.isAway(timeline.lines[line])) line += by;
		if (line >= 0 && line < timeline.lines.length) timeline.line = line;
		const row = timeline.lines[timeline.line];
		timeline.reveal(row);
		timeline.draw();
		announce(row < -1 ? laneLines(laneOf(row), timeline.from, timeline).join(', ') : row < 0 ? PATH_NAME : named(ROWS[row]));
	};
	const actions = {
		'+': () => timeline.zoom(0.5),
		'=': () => timeline.zoom(0.5),
		'-': () => timeline.zoom(2),
		w: () => timeline.zoom(0.5),
		s: () => timeline.zoom(2),
		a: () => timeline.pan(-0.15),
		d: () => timeline.pan(0.15),
		0: () => timeline.show(0, LENGTH),
		Home: () => timeline.show(0, LENGTH),
		ArrowLeft: (event) => (event.shiftKey ? timeline.pan(-0.15) : step(timeline, -1)),
		ArrowRight: (event) => (event.shiftKey ? timeline.pan(0.15) : step(timeline, 1)),
		ArrowUp: () => move(-1),
		ArrowDown: () => move(1),
		Enter: () =>
			timeline.selected &&
			timeline.show(
				timeline.selected.begin - timeline.selected.ns * 0.35,
				timeline.selected.end + timeline.selected.ns * 0.35,
			),
		f: () => toggleFrames(timeline, timeline.lines[timeline.line]),
		Escape: () => {
			timeline.marked = [];
			for (const line of document.querySelectorAll('.verdict li.chosen')) line.classList.remove('chosen');
			select(timeline, null);
		},
	};
	canvas.addEventListener('keydown', (event) => {
		const action = !event.ctrlKey && !event.metaKey && !event.altKey && actions[event.key];
		if (!action) return;
		action(event);
		event.preventDefault();
	});
	canvas.addEventListener('focus', () => timeline.draw());
	canvas.addEventListener('blur', () => timeline.draw());
	document.addEventListener('keydown', (event) => {
		if (event.key === '/' && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
			search.focus();
			event.preventDefault();
		}
	});
}
