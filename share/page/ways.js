/* SPDX-License-Identifier: MIT */
/* The lattice of requests' ways: steps as boxes, the wider an arrow the more requests go there, and what it costs to go there rather than the
 * shortest way. From left to right; boxes of one column are told apart by their height.
 */
const WAY = {width: 156, gap: 88, row: 84, height: 66, channel: 17};

/* What time of a cause's kind is, by the palette. */
const FAMILIES = [
	{key: 'user', label: 'Ran on a CPU', kinds: ['cpu', 'call']},
	{key: 'interrupt', label: 'Interrupted', kinds: ['irq', 'softirq']},
	{key: 'ready', label: 'Ready, without a CPU', kinds: ['wait-cpu', 'throttled']},
	{
		key: 'device',
		label: 'Waited for a disk or the network',
		kinds: ['block-device', 'network', 'retransmission', 'delayed-ack', 'send-queue', 'file'],
	},
	{key: 'blocked', label: 'Waited for others, or a lock', kinds: []},
	{key: 'idle', label: 'Slept by its own timer', kinds: ['timer', 'timeout', 'retry']},
	{key: 'unknown', label: 'Unknown', kinds: ['unknown']},
];
const OTHERS = FAMILIES.find(({key}) => key === 'blocked');
const familyOf = (kind) => FAMILIES.find(({kinds}) => kinds.includes(kind)) || OTHERS;

/* "app, block-device: vda, preadv2" → the family of block-device */
function familyOfStep(label) {
	const kind = FAMILIES.flatMap(({kinds}) => kinds)
		.concat(['process', 'child', 'signal', 'lock-owner', 'other-request', 'stopped'])
		.find((one) => label.startsWith(`${one}: `) || label.includes(`, ${one}: `));
	return kind ? familyOf(kind) : null;
}

/* Lines of a text, broken at blanks, cut at the last. */
function broken(text, signs, most) {
	const lines = [''];
	for (const word of text.split(' ')) {
		const line = lines[lines.length - 1];
		if (!line || line.length + word.length < signs) lines[lines.length - 1] = line ? `${line} ${word}` : word;
		else lines.push(word);
	}
	const shown = lines.slice(0, most);
	return shown.map((line, i) =>
		line.length > signs || (i === most - 1 && lines.length > most) ? `${line.slice(0, signs - 1)}…` : line,
	);
}

function waysPicture({nodes, edges, merged}) {
	const numbers = nodes.map((_, i) => i),
		pairs = edges.map(([from, to]) => ({from, to})),
		{columns, place} = placeNodes(numbers, pairs, layersOf(numbers, pairs)),
		deep = Math.max(...columns.map((column) => column.length)),
		columnOf = new Map(columns.flatMap((column, i) => column.map((node) => [node, i])));
	const at = (node) => [
		8 + columnOf.get(node) * (WAY.width + WAY.gap),
		24 + (place.get(node) + (deep - columns[columnOf.get(node)].length) / 2) * WAY.row,
	];
	const isFar = ([from, to]) => columnOf.get(to) - columnOf.get(from) > 1,
		channels = channelsOf(edges.filter(isFar), ([from, to]) => [columnOf.get(from), columnOf.get(to)]),
		below = 40 + deep * WAY.row;
	const width = 16 + columns.length * WAY.width + (columns.length - 1) * WAY.gap,
		height = below + (1 + Math.max(-1, ...channels.values())) * WAY.channel;
	const picture = svg('svg', {
		viewBox: `0 0 ${width} ${height}`,
		width,
		height,
		class: 'graph ways',
		role: 'img',
		'aria-label': 'The ways of the requests; the table below it says the same',
	});
	const labels = [];
	for (const edge of edges) {
		const [from, to, requests, cost] = edge;
		const [x1, y1] = at(from),
			[x2, y2] = at(to),
			[a, b] = [y1 + WAY.height / 2, y2 + WAY.height / 2],
			bend = (x2 - x1 - WAY.width) / 2,
			far = isFar(edge),
			dip = far ? below + channels.get(edge) * WAY.channel : 0;
		const down = x1 + WAY.width;
		picture.append(
			svg(
				'path',
				{
					d: far
						? farWay([down, a], [x2, b], dip, WAY.gap)
						: `M${x1 + WAY.width} ${a} C${x1 + WAY.width + bend} ${a} ${x2 - bend} ${b} ${x2} ${b}`,
					class: cost ? 'way' : 'way short',
					'stroke-width': Math.max(1, (9 * requests) / merged),
				},
				svg(
					'title',
					{},
					`${count(requests, 'request')}${cost ? `, ${duration(cost)} longer than the shortest way from here` : ''}`,
				),
			),
		);
		if (cost || requests < merged) {
			const text = `${requests}${cost ? `, +${duration(cost)}` : ''}`,
				[x, y] = [(x1 + WAY.width + x2) / 2, far ? dip : (a + b) / 2];
			labels.push(
				svg('rect', {x: x - text.length * 3.1 - 3, y: y - 8, width: text.length * 6.2 + 6, height: 15, rx: 3, class: 'edge-plate'}),
				svg('text', {x, y: y + 4, class: 'edge-text', 'text-anchor': 'middle'}, text),
			);
		}
	}
	for (const node of numbers) {
		const [x, y] = at(node),
			[label, requests, ns] = nodes[node],
			family = familyOfStep(label),
			lines = broken(label, 22, 3);
		picture.append(
			svg(
				'g',
				{class: 'node'},
				svg('title', {}, `${label}: ${count(requests, 'request')}, ${duration(Math.round(ns / Math.max(requests, 1)))} in the mean`),
				svg('rect', {x, y, width: WAY.width, height: WAY.height, rx: 5}),
				svg('rect', {x, y, width: 5, height: WAY.height, class: `f-${family ? family.key : 'all'}`}),
				lines.map((line, i) => svg('text', {x: x + 11, y: y + 15 + i * 14, class: 'small strong'}, line)),
				svg(
					'text',
					{x: x + 11, y: y + WAY.height - 6, class: 'small'},
					`${requests} × ${duration(Math.round(ns / Math.max(requests, 1)))}`,
				),
			),
		);
	}
	picture.append(...labels);
	return el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Ways'}, picture);
}

function waysSection() {
	const {ways} = TIMELINE;
	if (!ways || ways.nodes.length < 3) return null;
	const nameOf = (node) => ways.nodes[node][0];
	return section(
		'ways',
		'Ways',
		`The ways of ${count(ways.merged, 'request')}, where they are the same as one: the costliest steps, others are counted in the step before. ` +
			'On an arrow: how many go there, and how much longer that is than the shortest way from there.',
		waysPicture(ways),
		el(
			'details',
			{},
			el('summary', {}, 'As a table'),
			table(
				[
					{title: 'From', of: ([from]) => nameOf(from)},
					{title: 'To', of: ([, to]) => nameOf(to)},
					{title: 'Requests', number: true, of: ([, , requests]) => requests.toLocaleString('en')},
					{title: 'Longer by', number: true, of: ([, , , cost]) => (cost ? duration(cost) : '')},
				],
				ways.edges,
				null,
			),
		),
	);
}
