/* SPDX-License-Identifier: MIT */
/* --what-if: the recorded critical path and the re-timed one, one above the other on one scale, each from its own begin on. Of each the
 * threads are told above, their states below, by the palette of the timeline; what is saved is dashed.
 *
 *   Recorded    |xinit |Xorg                   |x-session      |
 *               |▒▒▒▒▒▒|▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓|▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒|
 *   Re-timed    |xinit |Xo|x-session      |┄┄┄┄┄ 811 ms sooner ┄|
 *               |▒▒▒▒▒▒|▓▓|▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒|
 */
const TOLD = 4; /* %: as wide as a part must be to have its name in it */

const pathThread = (row) => (row >= 0 ? named(ROWS[row]) : 'a thread without a row');

function stateWords(leaf, resource) {
	const {key, label} = LEAVES[leaf],
		on = resource && STRINGS[resource] !== 'sleep' ? ` on ${STRINGS[resource]}` : '';
	return `${key.startsWith('blocked') ? 'Waited: ' : ''}${label}${on}`;
}

/* Parts of one thread in a row, as one. */
function threadParts(tiles) {
	const parts = [];
	for (const [row, , , begin, ns] of tiles) {
		const last = parts[parts.length - 1];
		if (last && last.row === row) last.ns += ns;
		else parts.push({row, begin, ns});
	}
	return parts;
}

/* `path`: {title, tiles, begin, ns, goes(tile)}; `whole`: what is as wide as the picture; `rest`: words for what is left of that. */
function pathTrack(path, whole, rest) {
	const share = (ns) => (100 * ns) / whole,
		chosen = el('p', {class: 'note', role: 'status'}),
		bars = path.tiles.map(([, leaf, , , ns]) => el('span', {class: `c-${CLASSES[LEAVES[leaf].kind].key}`, 'width%': share(ns)})),
		space = whole - path.ns;
	let at = -1;
	const lines = ([row, leaf, resource, begin, ns]) => [
		pathThread(row),
		stateWords(leaf, resource),
		`${duration(ns)} (${percent(ns, path.ns)}), ${duration(begin)} after the begin`,
	];
	const choose = (next) => {
		if (at >= 0) bars[at].classList.remove('chosen');
		at = Math.max(0, Math.min(path.tiles.length - 1, next));
		bars[at].classList.add('chosen');
		chosen.textContent = lines(path.tiles[at]).join(' · ');
	};
	const tileAt = (event) => {
		const box = track.getBoundingClientRect(),
			time = ((event.clientX - box.left) / box.width) * whole;
		return path.tiles.findIndex(([, , , begin, ns]) => time >= begin && time < begin + ns);
	};
	const keys = {ArrowRight: () => at + 1, ArrowLeft: () => at - 1, Home: () => 0, End: () => path.tiles.length - 1};
	const track = el(
		'div',
		{
			class: 'track',
			tabindex: '0',
			role: 'group',
			'aria-label': `${path.title}, ${duration(path.ns)}: ${count(path.tiles.length, 'part')}. Arrow keys go from part to part.`,
			onkeydown: (event) => {
				if (event.key === 'Enter' && at >= 0 && path.goes) path.goes(path.tiles[at]);
				else if (keys[event.key]) choose(keys[event.key]());
				else return;
				event.preventDefault();
			},
			onmousemove: (event) => {
				const tile = path.tiles[tileAt(event)];
				if (tile) showTip(event.clientX, event.clientY, lines(tile));
				else hideTip();
			},
			onmouseleave: hideTip,
			onclick: (event) => {
				const found = tileAt(event);
				if (found < 0) return;
				choose(found);
				if (path.goes) path.goes(path.tiles[found]);
			},
		},
		el(
			'div',
			{class: 'names', 'aria-hidden': 'true'},
			threadParts(path.tiles).map(({row, ns}) =>
				el('span', {'width%': share(ns)}, share(ns) >= TOLD ? pathThread(row) : null),
			),
		),
		el(
			'div',
			{class: 'states', 'aria-hidden': 'true'},
			bars,
			space > 0 ? el('span', {class: 'c-saved', 'width%': share(space)}, rest) : null,
		),
	);
	return el('div', {class: 'retimed'}, el('h3', {}, `${path.title}: ${duration(path.ns)}`), track, chosen);
}

function pathAxis(whole) {
	const step = roundStep(whole / 5),
		marks = [];
	for (let time = 0; time < whole * 0.97; time += step) marks.push(time);
	return el(
		'div',
		{class: 'scale', 'aria-hidden': 'true'},
		marks.map((time, i) => el('span', {'width%': (100 * (Math.min(whole, marks[i + 1] ?? whole) - time)) / whole}, shortDuration(time))),
	);
}

function pathLegend(tiles) {
	const kinds = new Set(tiles.map(([, leaf]) => LEAVES[leaf].kind));
	return el(
		'ul',
		{class: 'legend'},
		CLASSES.map(({key, label}, kind) => kinds.has(kind) && el('li', {}, el('span', {class: `swatch c-${key}`}), label)),
	);
}

/* What either path was spent on; what is not told is the rest. */
function pathSums(sums, recorded, retimed) {
	const rows = sums.map(([row, leaf, resource, before, after]) => ({
		thread: pathThread(row),
		state: stateWords(leaf, resource),
		before,
		after,
	}));
	const left = rows.reduce((rest, {before, after}) => ({before: rest.before - before, after: rest.after - after}), {
		before: recorded,
		after: retimed,
	});
	if (left.before || left.after) rows.push({thread: 'all others', state: '', ...left});
	return wideTable(
		'What the critical path is spent on',
		[
			{title: 'Thread', of: (one) => one.thread},
			{title: 'State', of: (one) => one.state},
			{title: 'Recorded', number: true, of: (one) => duration(one.before)},
			{title: 'Re-timed', number: true, of: (one) => duration(one.after)},
			{title: 'Change', number: true, of: (one) => changeWords(one.after - one.before)},
		],
		rows,
		null,
		'What the critical path is spent on, as recorded and re-timed',
	);
}

function whatIfSection(timeline) {
	const answer = REPORT.what_if,
		paths = TIMELINE.what_if;
	if (!answer || !paths) return null;
	const recorded = answer.recorded_end - answer.recorded_begin,
		retimed = answer.time - answer.begin,
		whole = Math.max(recorded, retimed, 1),
		change = `${duration(Math.abs(answer.saved_ns))} ${answer.saved_ns < 0 ? 'later' : 'sooner'}`;
	const goes = ([row, , , begin, ns]) =>
		row >= 0 && goTo(timeline, ROWS[row], answer.recorded_begin + begin, answer.recorded_begin + begin + ns);
	return section(
		'what-if',
		`What if: ${answer.saved_ns ? change : 'no sooner'}`,
		pickedWords(answer),
		bestTable(answer.best),
		el(
			'ul',
			{class: 'what-if'},
			answer.verdict.map((text) => el('li', {}, text)),
		),
		pathTrack({title: 'Recorded', tiles: paths.recorded, ns: recorded, goes}, whole, change),
		pathTrack({title: 'Re-timed', tiles: paths.retimed, ns: retimed}, whole, change),
		pathAxis(whole),
		pathLegend([...paths.recorded, ...paths.retimed]),
		pathSums(paths.sums, recorded, retimed),
	);
}
