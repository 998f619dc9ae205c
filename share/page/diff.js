/* SPDX-License-Identifier: MIT */
/* The report of diff: the sentences, latencies of both sides on one axis, the two ways beside each other with what is
 * the same in both joined, and what the difference is made of.
 */
const SIDES = TIMELINE.sides;
const LETTERS = ['A', 'B'];
const UNIT = REPORT.unit;

function valueOf(value) {
	if (UNIT === 'ns') return duration(Math.round(value));
	return `${Math.round(value).toLocaleString('en')} ${UNIT}`;
}

const signed = (value) => (value > 0 ? `+${valueOf(value)}` : valueOf(value));

/* --- two histograms ------------------------------------------------------------------------- */

const STEP = 4; /* columns an octave */

function bucketsOf(latencies) {
	const counts = new Map();
	for (const ns of latencies) {
		const at = Math.floor(Math.log2(Math.max(ns, 1)) * STEP);
		counts.set(at, (counts.get(at) || 0) + 1);
	}
	return counts;
}

/* A above the axis, B below it. */
function twoHistograms() {
	const all = SIDES.map(({latencies}) => latencies);
	if (all.some((list) => list.length < 2)) return null;
	const counts = all.map(bucketsOf),
		keys = counts.flatMap((map) => [...map.keys()]),
		first = Math.min(...keys),
		last = Math.max(...keys),
		left = 70,
		width = 1100,
		high = 110,
		top = 18,
		wide = Math.min(34, (width - left - 10) / (last - first + 1));
	const most = counts.map((map) => Math.max(...map.values())),
		x = (bucket) => left + (bucket - first) * wide,
		at = (ns) => left + (Math.log2(Math.max(ns, 1)) * STEP - first) * wide,
		middle = top + high,
		labels = 22;
	const picture = svg('svg', {
		viewBox: `0 0 ${width} ${2 * high + labels + 2 * top}`,
		width,
		height: 2 * high + labels + 2 * top,
		class: 'two-histograms',
		role: 'img',
		'aria-label': `Latencies: A ${count(all[0].length, 'request')}, B ${count(all[1].length, 'request')}; means and medians are in the table below`,
	});
	for (const side of [0, 1]) {
		for (const [bucket, number] of counts[side]) {
			const height = Math.max(2, (high * number) / most[side]);
			picture.append(
				svg(
					'rect',
					{
						x: x(bucket) + 0.5,
						y: side ? middle + labels : middle - height,
						width: Math.max(wide - 1, 1),
						height,
						class: side ? 'side-b' : 'side-a',
					},
					svg('title', {}, `${LETTERS[side]}: ${count(number * SIDES[side].latencies_step, 'request')} of ${shortDuration(Math.round(2 ** (bucket / STEP)))} to ${shortDuration(Math.round(2 ** ((bucket + 1) / STEP)))}`),
				),
			);
		}
		const y = side ? middle + labels + high / 2 : middle - high / 2,
			mean = REPORT[side ? 'b' : 'a'].mean;
		picture.append(
			svg('text', {x: 4, y, class: 'strong'}, LETTERS[side]),
			svg('text', {x: 22, y, class: 'small'}, (REPORT[side ? 'b' : 'a'].requests || all[side]).length.toLocaleString('en')),
		);
		if (UNIT === 'ns')
			picture.append(
				svg('line', {
					x1: at(mean),
					x2: at(mean),
					y1: side ? middle + labels : top,
					y2: side ? middle + labels + high : middle,
					class: 'occasion',
				}),
				svg('text', {x: at(mean) + 4, y: side ? middle + labels + high + 10 : top - 4, class: 'small'}, `mean ${duration(Math.round(mean))}`),
			);
	}
	picture.append(svg('line', {x1: left, x2: width, y1: middle, y2: middle, class: 'grid'}));
	const every = Math.max(1, Math.ceil(64 / wide));
	for (let bucket = first; bucket <= last; bucket += every)
		picture.append(svg('text', {x: x(bucket), y: middle + 15, class: 'small'}, shortDuration(Math.round(2 ** (bucket / STEP)))));
	return el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Latencies of both sides'}, picture);
}

/* --- two ways -------------------------------------------------------------------------------- */

const familyOfDrawn = (kind) =>
	kind.startsWith('state:') ? {key: kind.slice(6), label: CLASSES.find(({key}) => key === kind.slice(6)).label} : familyOf(kind);

/* Steps of both sides in their order; between the same steps of both a band. */
function twoWays() {
	const ways = SIDES.map(({steps}) => steps.map(([begin, ns, kind, text, thread, divergence]) => ({begin, ns, kind, text: STRINGS[text], thread: STRINGS[thread], divergence})));
	if (ways.some((list) => !list.length)) return null;
	const most = Math.max(...ways.map((list) => list[list.length - 1].begin + list[list.length - 1].ns)),
		left = 30,
		width = 1230,
		lane = 44,
		gap = 74,
		top = 16,
		x = (ns) => left + (ns / most) * (width - left - 8),
		y = [top, top + lane + gap];
	const picture = svg('svg', {
		viewBox: `0 0 ${width} ${top + 2 * lane + gap + 24}`,
		width,
		height: top + 2 * lane + gap + 24,
		class: 'two-ways',
		role: 'img',
		'aria-label': 'The two ways beside each other; the lists below say where they part',
	});
	/* what is the same in both */
	if (REPORT.alignment) {
		const same = ways.map((list) => list.filter(({divergence}) => divergence < 0)),
			wide = (width * 0.0012 * most) / width;
		for (let i = 0; i < Math.min(same[0].length, same[1].length); i++) {
			const [a, b] = [same[0][i], same[1][i]];
			if (a.ns < wide && b.ns < wide) continue;
			picture.append(
				svg('path', {
					d: `M${x(a.begin)} ${y[0] + lane} L${x(a.begin + a.ns)} ${y[0] + lane} L${x(b.begin + b.ns)} ${y[1]} L${x(b.begin)} ${y[1]} Z`,
					class: 'same',
				}),
			);
		}
	}
	for (const side of [0, 1]) {
		picture.append(svg('text', {x: 6, y: y[side] + lane / 2 + 5, class: 'strong'}, LETTERS[side]));
		for (const step of ways[side]) {
			const size = x(step.begin + step.ns) - x(step.begin);
			if (size < 0.3) continue;
			const words = `${step.thread}: ${step.kind.startsWith('state:') ? '' : `${step.kind}: `}${step.text}`;
			picture.append(
				svg(
					'rect',
					{
						x: x(step.begin),
						y: y[side],
						width: Math.max(size - 0.5, 0.6),
						height: lane,
						class: `f-${familyOfDrawn(step.kind).key}${step.divergence >= 0 && size > 6 ? ' apart' : ''}`,
					},
					svg('title', {}, `${words}, ${duration(step.ns)} from +${duration(step.begin)}${step.divergence >= 0 ? '; the ways part here' : ''}`),
				),
			);
			if (size > 60)
				picture.append(
					svg('rect', {x: x(step.begin) + 3, y: y[side] + 4, width: size - 7, height: lane - 9, rx: 2, class: 'edge-plate'}),
					...[step.thread, duration(step.ns)].map((text, i) =>
						svg('text', {x: x(step.begin) + 7, y: y[side] + 18 + i * 15, class: i ? 'small' : 'small strong'}, fitted(text, size - 14)),
					),
				);
		}
	}
	const step = roundStep(most / 8);
	/* a label that would be cut says nothing */
	for (let ns = 0; ns <= most && x(ns) + 56 <= width; ns += step)
		picture.append(svg('text', {x: x(ns), y: top + 2 * lane + gap + 18, class: 'small'}, ns ? `+${shortDuration(ns)}` : '0'));
	const left_out = SIDES.reduce((sum, side) => sum + side.steps_left, 0);
	return [
		el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Two ways'}, picture),
		left_out ? el('p', {class: 'note'}, `${count(left_out, 'short step')} left blank: too many for a page.`) : null,
	];
}

// Which request of each side is drawn; one of one needs no word.
function whichTwo() {
	if (REPORT.a.requests.length < 2 && REPORT.b.requests.length < 2) return '';
	return REPORT.what_if ? 'The request that changes most, as recorded and re-timed. ' : 'The medians of both sides. ';
}

function waysHere() {
	const ways = twoWays();
	if (!ways) return null;
	const {alignment} = REPORT,
		target = REPORT.target || REPORT.changed_most,
		states = !alignment;
	const used = new Set(SIDES.flatMap(({steps}) => steps.map((step) => familyOfDrawn(step[2]).key)));
	const legend = states ? CLASSES.map(({key, label}) => ({key, label})) : FAMILIES;
	return section(
		'two-ways',
		alignment ? `Request ${alignment.a} of A beside request ${alignment.b} of B` : 'The two ways',
		alignment
			? `${whichTwo()}${count(alignment.matched, 'step')} are the same in both, joined by bands; framed steps are in one only, or longer there.`
			: `From ${target.begin} to ${target.end}: the critical path of each.`,
		el(
			'ul',
			{class: 'legend solid'},
			legend.filter(({key}) => used.has(key)).map(({key, label}) => el('li', {}, el('span', {class: `swatch c-${key}`}), label)),
		),
		ways,
		alignment && alignment.divergences.length
			? [
					el('h3', {}, 'Where they part'),
					table(
						[
							{title: 'Difference', number: true, of: (one) => signed(one.difference)},
							{title: 'A', of: (one) => stepWords(one.a_steps)},
							{title: 'B', of: (one) => stepWords(one.b_steps)},
						],
						alignment.divergences.slice(0, 12),
						null,
					),
					omitted(alignment.divergences_omitted, 'places'),
				]
			: null,
	);
}

const stepWords = (steps) =>
	[...steps]
		.sort((a, b) => b.ns - a.ns)
		.slice(0, 3)
		.map((one) => `${duration(one.ns)} ${one.kind}: ${one.label}`)
		.join('; ') || '–';

/* --- tables ----------------------------------------------------------------------------------- */

/* How much longer (right) or shorter (left) B is, in the colour of what that is. */
function differenceBar(value, most, kind) {
	const share = Math.min(1, Math.abs(value) / Math.max(most, 1)) * 50;
	const part = el('span', {class: `c-${kind}`, 'width%': share}),
		box = el('span', {class: 'bar', role: 'img', 'aria-label': signed(value), title: signed(value)}, part);
	part.style.marginLeft = `${value > 0 ? 50 : 50 - share}%`;
	return box;
}

function causeTable() {
	const list = REPORT.causes.filter((one) => one.difference).slice(0, 15),
		most = Math.max(...list.map((one) => Math.abs(one.difference)), 1);
	if (!list.length) return null;
	return section(
		'causes',
		'What the difference is made of',
		'In the mean of a request. “?”: requests of one side differ as much among themselves, so this may be chance.',
		table(
			[
				{title: 'Cause', of: (one) => `${one.kind}: ${one.label}`},
				{title: 'B less A', number: true, of: (one) => signed(one.difference)},
				{title: '', of: (one) => differenceBar(one.difference, most, familyOf(one.kind).key)},
				{title: 'A', number: true, of: (one) => valueOf(one.a)},
				{title: 'B', number: true, of: (one) => valueOf(one.b)},
				{title: 'In requests of A, B', number: true, of: (one) => `${one.a_requests}, ${one.b_requests}`},
				{title: 'Chance', of: (one) => (one.significant ? '' : '?')},
			],
			list,
			null,
			REPORT.causes.length > list.length ? `The ${list.length} largest of ${REPORT.causes.length}` : null,
		),
	);
}

function partTable() {
	const target = REPORT.target || REPORT.changed_most;
	if (!target || !target.parts.length) return null;
	const most = Math.max(...target.parts.map((one) => Math.abs(one.difference_ns)), 1);
	return section(
		'parts',
		'What took longer, and what did not',
		null,
		table(
			[
				{title: 'Who', of: (one) => one.thread},
				{title: 'State', of: (one) => one.leaf + (one.resource ? ` on ${one.resource}` : '')},
				{title: 'B less A', number: true, of: (one) => (one.difference_ns > 0 ? '+' : '') + duration(one.difference_ns)},
				{title: '', of: (one) => differenceBar(one.difference_ns, most, CLASSES[classOfKey(one.leaf)].key)},
				{title: 'A', number: true, of: (one) => duration(one.a_ns)},
				{title: 'B', number: true, of: (one) => duration(one.b_ns)},
			],
			target.parts,
			null,
		),
		omitted(target.parts_omitted, 'parts'),
	);
}

function callSection() {
	if (!REPORT.calls.length) return null;
	return section(
		'calls',
		'System calls whose latencies differ',
		null,
		table(
			[
				{title: 'Call', of: (one) => one.name},
				{title: 'Calls of A, B', number: true, of: (one) => `${one.a_count.toLocaleString('en')}, ${one.b_count.toLocaleString('en')}`},
				{title: 'Mean A', number: true, of: (one) => (one.a_count ? duration(Math.round(one.a_mean)) : '')},
				{title: 'Mean B', number: true, of: (one) => (one.b_count ? duration(Math.round(one.b_mean)) : '')},
				{title: 'B less A, in all', number: true, of: (one) => (one.contribution > 0 ? '+' : '') + duration(Math.round(one.contribution))},
				{title: 'Chance', of: (one) => (one.significant ? '' : '?')},
			],
			REPORT.calls,
			null,
		),
		omitted(REPORT.calls_omitted, 'calls'),
	);
}

PAGES.diff = (timeline, main) => {
	const target = REPORT.target || REPORT.changed_most,
		histograms = twoHistograms();
	main.append(
		section(
			'answer',
			'What differs',
			null,
			el(
				'div',
				{class: 'headline'},
				REPORT.answer.map((text, i) => el('p', {class: i ? 'second' : null}, text)),
				target && target.caution ? el('p', {class: 'bad'}, target.caution) : null,
			),
			el(
				'ul',
				{},
				LETTERS.map((letter) => {
					const side = REPORT[letter.toLowerCase()];
					return el('li', {}, el('strong', {}, `${letter}: `), side.label, side.requests && side.requests.length ? `: ${count(side.requests.length, 'request')}, ${valueOf(side.mean)} each in the mean` : '');
				}),
			),
			coverageCard(),
		),
	);
	main.append(...whatIfTables());
	if (histograms)
		main.append(
			section(
				'histograms',
				'Latencies',
				`Requests by latency on a logarithmic axis, A above and B below it.${SIDES.some((side) => side.latencies_step > 1) ? ' Of many requests some are drawn, evenly.' : ''}`,
				histograms,
			),
		);
	for (const part of [waysHere(), causeTable(), partTable(), callSection()]) if (part) main.append(part);
};
