/* SPDX-License-Identifier: MIT */
/* What the shown part of time went to, of all rows: states, what waits were for, who ended them. Worked out when it is
 * asked for, and again when another part is shown.
 */
function statisticsOf(from, to) {
	const threads = [],
		waits = new Map(),
		wakers = new Map();
	let merged = false;
	const addTo = (map, key, ns) => {
		const sum = map.get(key) || {key, ns: 0, count: 0};
		sum.ns += ns;
		sum.count++;
		map.set(key, sum);
	};
	for (const row of ROWS.keys()) {
		const by = new Float64Array(CLASSES.length);
		eachState(row, from, to, (leaf, kind, ns, extra) => {
			by[kind] += ns;
			if (!leaf) merged = true;
			if (kind !== BLOCKED || !leaf) return;
			addTo(waits, extra && extra[0] ? STRINGS[extra[0]] : leaf.key.replace(/^blocked\/(syscall:)?/, ''), ns);
			if (extra && extra[1]) addTo(wakers, STRINGS[extra[1]], ns);
		});
		const active = by[USER] + by[SYSCALL] + by[INTERRUPT] + by[READY] + by[BLOCKED];
		if (active) threads.push({row, by, active});
	}
	const most = (map) => [...map.values()].sort((a, b) => b.ns - a.ns).slice(0, 10);
	return {threads: threads.sort((a, b) => b.active - a.active), waits: most(waits), wakers: most(wakers), merged};
}

function statisticsTables(timeline) {
	const {from, to} = timeline,
		{threads, waits, wakers, merged} = statisticsOf(from, to);
	const sums = (title, list) =>
		list.length
			? el(
					'div',
					{},
					table(
						[
							{title, of: (one) => one.key},
							{title: 'Time', number: true, of: (one) => duration(Math.round(one.ns))},
							{title: 'Waits', number: true, of: (one) => one.count.toLocaleString('en')},
						],
						list,
						null,
					),
				)
			: null;
	return [
		el('p', {class: 'note'}, `${duration(to - from)} from ${clock(from)} to ${clock(to)}.`),
		merged
			? el('p', {class: 'note'}, 'Some states are merged here: their shares are within a 255th, and waits in them are not listed.')
			: null,
		table(
			[
				{title: 'Thread', of: (one) => named(ROWS[one.row])},
				...[USER, SYSCALL, INTERRUPT, READY, BLOCKED].map((kind) => ({
					title: CLASSES[kind].label,
					number: true,
					of: (one) => duration(Math.round(one.by[kind])),
				})),
				{
					title: '',
					of: (one) =>
						bar(
							CLASSES.map(({key, label}, kind) => ({class: key, label, ns: Math.round(one.by[kind])})),
							to - from,
						),
				},
			],
			threads.slice(0, 15),
			null,
			threads.length > 15 ? `The 15 that did or waited most, of ${threads.length}` : null,
		),
		el('div', {class: 'columns'}, sums('Waited for', waits), sums('Ended by', wakers)),
	];
}

function statistics(timeline) {
	const body = el('div', {class: 'inside'}),
		details = el('details', {id: 'statistics'}, el('summary', {}, 'Statistics of what is shown'), body);
	let timer = null;
	const update = () => {
		if (details.open) fill(body, statisticsTables(timeline));
	};
	details.addEventListener('toggle', update);
	timeline.listeners.push(() => {
		clearTimeout(timer);
		if (details.open) timer = setTimeout(update, 200);
	});
	return details;
}
