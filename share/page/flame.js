/* SPDX-License-Identifier: MIT */
/* The flame graph of the part of time that the timeline shows, three ways:
 *
 *   critical path   who waited in what › for whom › what that one did: the waits that the path went through, nested
 *   on a CPU        thread › the functions of its call stacks, where samples were recorded; else its states
 *   off the CPU     thread › its functions › what it waited in › the kernel's functions › on what › who ended it;
 *                   functions where call stacks were recorded as it fell asleep
 */
const HAS_SAMPLES = Boolean(TIMELINE.samples && (TIMELINE.samples.of.length || TIMELINE.samples.omitted));
const SLEPT = new Map((TIMELINE.samples?.waits || []).map(([row, begin, node]) => [`${row} ${begin}`, node]));

const rowName = (row) => (row >= 0 ? named(ROWS[row]) : 'a thread without a row');
const callOf = (key) => key.replace(/^\w+\/(syscall:)?/, '');
const MERGED = 'short states, merged here';

/* What the path did in a thread, for a step or a state. */
function deedFrame(key, label, kind, resource) {
	if (isBlocked(kind)) return [`${callOf(key)}${resource ? ` on ${resource}` : ''}`, 'blocked'];
	return [kind === USER ? label || 'user code' : callOf(key), CLASSES[kind].key];
}

/* The waits around a time, outermost first, as frames: who waited, in what. `waits` by begin, outer before inner. */
function waitsAround(waits, time, state) {
	while (state.next < waits.length && waits[state.next].begin <= time) state.open.push(waits[state.next++]);
	state.open = state.open.filter((wait) => wait.end > time);
	return state.open.flatMap((wait) => [
		[rowName(wait.row), 'all'],
		[`waited in ${callOf(wait.key)}${wait.resource ? ` on ${wait.resource}` : ''}`, 'blocked'],
	]);
}

function throughWaits() {
	return (TIMELINE.through || [])
		.map(([row, begin, ns, leaf, resource, around]) => ({
			row,
			begin,
			end: begin + ns,
			key: LEAVES[leaf].key,
			resource: STRINGS[resource],
			around,
		}))
		.map((wait, i, all) => {
			let depth = 0;
			for (let at = wait.around; at >= 0 && depth < 100; at = all[at].around) depth++;
			return {...wait, depth};
		})
		.sort((a, b) => a.begin - b.begin || a.depth - b.depth);
}

function pathTree(timeline, from, to) {
	const root = newNode('critical path', 'all'),
		waits = throughWaits(),
		state = {next: 0, open: []};
	const add = (begin, row, frame, ns) => {
		const around = waitsAround(waits, begin, state).map(([name, kind]) => [name, kind]);
		addWay(root, [...around, [rowName(row), 'all'], frame], ns);
	};
	if (!REPORT.critical_path_omitted) {
		for (const step of timeline.path) {
			const ns = Math.min(step.end, to) - Math.max(step.begin, from);
			if (ns <= 0) continue;
			const kind = classOfKey(step.leaf),
				words = step.cause && (step.cause.label || step.cause.kind);
			const frame = deedFrame(step.leaf, null, kind, step.resource && resourceText(step.resource));
			add(
				Math.max(step.begin, from),
				findRow(step, step.begin),
				[words && isBlocked(kind) ? `${frame[0]}: ${words}` : frame[0], frame[1]],
				ns,
			);
		}
		return root;
	}
	for (const hop of timeline.hops) {
		const begin = Math.max(hop.begin, from),
			end = Math.min(hop.end, to);
		if (begin >= end || hop.row < 0) continue;
		eachState(hop.row, begin, end, (leaf, kind, ns, extra) =>
			add(
				begin,
				hop.row,
				leaf
					? deedFrame(leaf.key, leaf.label, kind, extra && STRINGS[extra[0]])
					: [MERGED, CLASSES[kind].key],
				ns,
			),
		);
	}
	return root;
}

/* Samples whose part of the window begins in [from, to), by row. */
function samplesByRow(from, to) {
	const rows = new Map();
	for (const one of TIMELINE.samples?.of || [])
		if (one[1] >= from && one[1] <= to) {
			if (!rows.has(one[0])) rows.set(one[0], []);
			rows.get(one[0]).push(one);
		}
	return rows;
}

function stackFrames(node) {
	const {nodes, functions} = TIMELINE.samples,
		frames = [];
	for (let at = node; at >= 0; at = nodes[at][0]) {
		const [name, kernel] = functions[nodes[at][1]];
		frames.unshift([nodes[at][2] ? `${name} (inferred)` : name, kernel ? 'syscall' : 'user']);
	}
	return frames;
}

function cpuTree(timeline, from, to) {
	const root = newNode('on a CPU', 'all');
	if (HAS_SAMPLES) {
		for (const [row, list] of samplesByRow(from, to))
			for (const [, , node, samples, ns] of list) addWay(root, [[rowName(row), 'all'], ...stackFrames(node)], ns, samples);
		return root;
	}
	for (const row of ROWS.keys())
		eachState(row, from, to, (leaf, kind, ns) => {
			if (kind > INTERRUPT) return;
			addWay(root, [[rowName(row), 'all'], leaf ? deedFrame(leaf.key, leaf.label, kind) : [MERGED, CLASSES[kind].key]], ns);
		});
	return root;
}

function waitTree(timeline, from, to) {
	const root = newNode('off the CPU', 'all');
	for (const row of ROWS.keys())
		eachState(row, from, to, (leaf, kind, ns, extra, begin) => {
			if (kind !== BLOCKED && kind !== READY) return;
			const key = CLASSES[kind].key,
				node = leaf ? SLEPT.get(`${row} ${begin}`) : undefined,
				frames = node === undefined ? [] : stackFrames(node),
				of = (wanted) => frames.filter(([, one]) => one === wanted),
				way = [[rowName(row), 'all'], ...of('user'), [leaf ? callOf(leaf.key) : MERGED, key], ...of('syscall')];
			if (extra && extra[0]) way.push([`on ${STRINGS[extra[0]]}`, key]);
			if (extra && extra[1]) way.push([STRINGS[extra[1]], 'all']);
			addWay(root, way, ns);
		});
	return root;
}

const FLAMES = [
	{
		id: 'path',
		title: 'Critical path',
		tree: pathTree,
		about: 'Who waited for whom, and what the last of them did. All of it adds up to the critical path.',
	},
	{
		id: 'cpu',
		title: 'On a CPU',
		tree: cpuTree,
		about: HAS_SAMPLES
			? 'Call stacks of samples, outermost function first; dark blue is the program, light blue the kernel.'
			: 'No samples with call stacks were recorded, so these are states: what ran, by thread.',
	},
	{
		id: 'waits',
		title: 'Off the CPU',
		tree: waitTree,
		about:
			'What threads waited in, on what, and who ended it; only waits for others, and for a CPU.' +
			(SLEPT.size ? ' Functions are those in which they fell asleep, as recorded there; dark blue is the program, light blue the kernel.' : ''),
	},
];

/* What the flame graph leaves out. */
function flameNotes(flame) {
	const {samples} = TIMELINE,
		notes = [];
	if (flame.id === 'cpu' && HAS_SAMPLES) {
		if (samples.part_ns)
			notes.push(`There are many samples, so each is placed to within ${duration(samples.part_ns)}.`);
		if (samples.omitted) notes.push(`${count(samples.omitted, 'sample')} left out: too many for a page.`);
	}
	if (!LEVELS[LEVELS.length - 1].exact && !(flame.id === 'cpu' && HAS_SAMPLES) && (flame.id !== 'path' || REPORT.critical_path_omitted))
		notes.push('Short states are merged in this page: their shares are within a 255th.');
	if (TIMELINE.rows_omitted && flame.id !== 'path') notes.push('Only of threads that have a row in the timeline.');
	return notes.join(' ');
}

function flameSection(timeline) {
	const flames = FLAMES.filter(({id}) => id !== 'path' || timeline.path.length),
		about = el('p', {class: 'about'}),
		note = el('p', {class: 'note'}),
		place = el('div', {});
	let chosen = flames[0],
		icicle = null,
		timer = null,
		seen = false,
		stale = true;
	const draw = () => {
		stale = false;
		const {from, to} = timeline;
		icicle.show(chosen.tree(timeline, from, to));
		about.textContent = chosen.about;
		note.textContent =
			`Of ${duration(Math.round(to - from))} from ${clock(from)} to ${clock(to)}${to - from < LENGTH ? ', which the timeline shows' : ''}. ` +
			flameNotes(chosen);
	};
	const choose = (flame) => {
		chosen = flame;
		icicle = new Icicle(`Flame graph: ${flame.title}`, flame.id === 'cpu' && HAS_SAMPLES ? 'sample' : null);
		icicle.onplace = (step) => rememberPlace(timeline, step);
		place.replaceChildren(icicle.element);
		for (const tab of tabs) tab.setAttribute('aria-pressed', tab.dataset.flame === flame.id);
		draw();
	};
	const tabs = flames.map((flame) =>
		button(flame.title, flame.about, () => choose(flame), {'data-flame': flame.id, 'aria-pressed': 'false'}),
	);
	for (const flame of flames)
		FLAME_PLACES.set(flame.id, {icicle: () => (chosen === flame ? icicle : null), show: () => (chosen !== flame || !icicle ? choose(flame) : draw())});
	const element = section('flame', 'Flame graph', null, el('div', {class: 'toolbar'}, tabs), about, place, note);
	/* drawn when it comes into view, and again when another part of time is shown */
	const renew = () => {
		clearTimeout(timer);
		if (!icicle) choose(chosen);
		else if (stale) draw();
	};
	new IntersectionObserver((list) => {
		seen = list.some((one) => one.isIntersecting);
		if (seen) renew();
	}, {rootMargin: '300px'}).observe(element);
	timeline.listeners.push(() => {
		stale = true;
		clearTimeout(timer);
		if (seen) timer = setTimeout(renew, 120);
	});
	addEventListener('beforeprint', renew);
	return element;
}
