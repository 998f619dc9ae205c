/* SPDX-License-Identifier: MIT */
/* The wait-for graph: an arrow from who waited to whom it was led to, as wide as the time. Laid out in layers:
 * who only waits on the left, who others wait for on the right; in a circle one arrow goes back.
 * The same as a table below it, for those who do not see it.
 */
const GRAPH_EDGES = 24;

/* Layers by longest way from those that nobody waits for; arrows that would close a circle are left out of it. */
function layersOf(nodes, edges) {
	const layer = new Map(nodes.map((node) => [node, 0])),
		out = new Map(nodes.map((node) => [node, []]));
	const reaches = (from, to) => from === to || out.get(from).some((next) => reaches(next, to));
	for (const edge of edges) if (!reaches(edge.to, edge.from)) out.get(edge.from).push(edge.to);
	for (let round = 0; round < nodes.length; round++)
		for (const node of nodes)
			for (const next of out.get(node)) layer.set(next, Math.max(layer.get(next), layer.get(node) + 1));
	return layer;
}

function placeNodes(nodes, edges, layer) {
	const columns = [],
		place = new Map();
	for (const node of nodes) (columns[layer.get(node)] ??= []).push(node);
	columns.forEach((column) => column.forEach((node, i) => place.set(node, i)));
	/* each by the middle of its neighbours, a few times: fewer arrows cross */
	for (let round = 0; round < 6; round++)
		for (const column of round % 2 ? columns : [...columns].reverse()) {
			const middle = new Map(
				column.map((node) => {
					const near = edges.flatMap((edge) =>
						edge.from === node ? [edge.to] : edge.to === node ? [edge.from] : [],
					);
					return [
						node,
						near.length
							? near.reduce((sum, one) => sum + place.get(one), 0) / near.length
							: place.get(node),
					];
				}),
			);
			column.sort((a, b) => middle.get(a) - middle.get(b));
			column.forEach((node, i) => place.set(node, i));
		}
	return {columns, place};
}

const NODE = {width: 170, height: 46, gap: 150, row: 72};

/* Arrows over columns between run below all boxes, each in a channel in which it is alone: edge → channel, the shortest at the top.
 * columnsOf(edge): [column it leaves, column it goes to] */
function channelsOf(edges, columnsOf) {
	const channels = new Map(),
		taken = [];
	const span = (edge) => columnsOf(edge).sort((a, b) => a - b),
		long = (edge) => span(edge)[1] - span(edge)[0];
	for (const edge of [...edges].sort((a, b) => long(a) - long(b))) {
		const [first, last] = span(edge);
		let channel = taken.findIndex((others) => others.every(([a, b]) => b <= first || a >= last));
		if (channel < 0) channel = taken.push([]) - 1;
		taken[channel].push([first, last]);
		channels.set(edge, channel);
	}
	return channels;
}

/* From a box's side to another's by the channel at `dip`: down and up between two columns, where no box is. Back: from right to left. */
function farWay([x1, y1], [x2, y2], dip, gap) {
	const on = x2 > x1 ? gap : -gap;
	return (
		`M${x1} ${y1} C${x1 + on * 0.7} ${y1} ${x1 + on * 0.3} ${dip} ${x1 + on} ${dip} ` +
		`H${x2 - on} C${x2 - on * 0.3} ${dip} ${x2 - on * 0.7} ${y2} ${x2} ${y2}`
	);
}

const CHANNEL = 20;

/* Where each node stands, and the channels of far arrows below them. */
function graphPlaces(nodes, edges) {
	const {columns, place} = placeNodes(nodes, edges, layersOf(nodes, edges)),
		deep = Math.max(...columns.map((column) => column.length)),
		columnOf = new Map(columns.flatMap((column, i) => column.map((node) => [node, i]))),
		span = ({from, to}) => columnOf.get(to) - columnOf.get(from),
		channels = channelsOf(
			edges.filter((edge) => Math.abs(span(edge)) > 1),
			({from, to}) => [columnOf.get(from), columnOf.get(to)],
		);
	const at = (node) => [
		10 + columnOf.get(node) * (NODE.width + NODE.gap),
		12 + (place.get(node) + (deep - columns[columnOf.get(node)].length) / 2) * NODE.row,
	];
	const bottom = 12 + (deep - 1) * NODE.row + NODE.height;
	return {
		at,
		span,
		dip: (edge) => bottom + CHANNEL * (1 + channels.get(edge)),
		width: 20 + (edges.some((edge) => !span(edge)) ? 90 : 0) + columns.length * NODE.width + (columns.length - 1) * NODE.gap,
		height: bottom + CHANNEL * (1.5 + Math.max(-1, ...channels.values())),
	};
}

/* An arrow's way, and where its text stands: straight to the next column, in a channel below all boxes to a farther one, around the right
 * side within a column. */
function edgeWay(edge, places) {
	const [x1, y1] = places.at(edge.from),
		[x2, y2] = places.at(edge.to),
		span = places.span(edge),
		middle = NODE.height / 2;
	if (!span) {
		const right = x1 + NODE.width;
		return {
			d: `M${right} ${y1 + middle} C${right + 60} ${y1 + middle} ${right + 60} ${y2 + middle} ${right + 2} ${y2 + middle}`,
			label: [right + 48, (y1 + y2) / 2 + middle + 4],
		};
	}
	const back = span < 0,
		shift = middle + (back ? 10 : -6),
		from = [back ? x1 : x1 + NODE.width, y1 + shift],
		to = [back ? x2 + NODE.width : x2, y2 + shift];
	if (Math.abs(span) > 1) {
		const dip = places.dip(edge);
		return {d: farWay(from, to, dip, NODE.gap), label: [(from[0] + to[0]) / 2 - 20, dip + 4]};
	}
	const bend = (back ? -1 : 1) * (NODE.gap / 2);
	return {
		d: `M${from[0]} ${from[1]} C${from[0] + bend} ${from[1]} ${to[0] - bend} ${to[1]} ${to[0]} ${to[1]}`,
		label: [(from[0] + to[0]) / 2 - 20, (from[1] + to[1]) / 2 + (back ? 14 : -5)],
	};
}

function graphPicture(edges) {
	const nodes = [...new Set(edges.flatMap((edge) => [edge.from, edge.to]))],
		most = edges[0].ns,
		places = graphPlaces(nodes, edges),
		{at} = places,
		{width, height} = NODE;
	const picture = svg(
		'svg',
		{
			viewBox: `0 0 ${places.width} ${places.height}`,
			width: places.width,
			height: places.height,
			role: 'img',
			'aria-label': 'Who waited for whom; the table below says the same',
			class: 'graph',
		},
		svg(
			'defs',
			{},
			svg(
				'marker',
				{
					id: 'head-mark',
					viewBox: '0 0 8 8',
					refX: 7,
					refY: 4,
					markerWidth: 8,
					markerHeight: 8,
					markerUnits: 'userSpaceOnUse',
					orient: 'auto-start-reverse',
				},
				svg('path', {d: 'M0 0 L8 4 L0 8 z', class: 'arrow-head'}),
			),
		),
	);
	const labels = [];
	for (const edge of edges) {
		const {d, label: mid} = edgeWay(edge, places);
		const line = svg(
			'path',
			{d, class: 'edge', 'stroke-width': Math.max(1, (7 * edge.ns) / most), 'marker-end': 'url(#head-mark)'},
			svg(
				'title',
				{},
				`${named(ROWS[edge.from])} waited ${duration(edge.ns)} for ${named(ROWS[edge.to])}, ` +
					`${count(edge.count, 'time')}${edge.label ? `, most on ${edge.label}` : ''}`,
			),
		);
		picture.append(line);
		const text = duration(edge.ns);
		labels.push(
			svg('rect', {
				x: mid[0] - 3,
				y: mid[1] - 11,
				width: text.length * 6.2 + 6,
				height: 14,
				rx: 3,
				class: 'edge-plate',
			}),
			svg('text', {x: mid[0], y: mid[1], class: 'edge-text'}, text),
		);
	}
	for (const node of nodes) {
		const [x, y] = at(node),
			waited = edges.filter((edge) => edge.to === node).reduce((sum, edge) => sum + edge.ns, 0);
		picture.append(
			svg(
				'g',
				{class: 'node'},
				svg('rect', {x, y, width, height, rx: 6}),
				svg('text', {x: x + 10, y: y + 19}, fitted(named(ROWS[node]), width - 22) || named(ROWS[node])),
				svg(
					'text',
					{x: x + 10, y: y + 36, class: 'small'},
					waited ? `waited for: ${duration(waited)}` : 'only waited',
				),
			),
		);
	}
	picture.append(...labels);
	return el('div', {class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Graph'}, picture);
}

/* edges: [{from: row, to: row, ns, count, label}], most time first */
function graphSection(edges, timeline, title, about) {
	if (!edges.length) return null;
	const merged = new Map();
	for (const edge of edges) {
		const key = `${edge.from} ${edge.to}`,
			one = merged.get(key);
		if (one) {
			one.ns += edge.ns;
			one.count += edge.count;
		} else {
			merged.set(key, {...edge});
		}
	}
	const shown = [...merged.values()].sort((a, b) => b.ns - a.ns).slice(0, GRAPH_EDGES);
	return section(
		'graph',
		title,
		about,
		graphPicture(shown),
		el(
			'details',
			{},
			el('summary', {}, 'As a table'),
			table(
				[
					{title: 'Who waited', of: (edge) => named(ROWS[edge.from])},
					{title: 'For whom', of: (edge) => named(ROWS[edge.to])},
					{title: 'On what', of: (edge) => edge.label},
					{title: 'Time', number: true, of: (edge) => duration(edge.ns)},
					{title: 'Waits', number: true, of: (edge) => edge.count.toLocaleString('en')},
				],
				edges.slice(0, 100),
				null,
			),
		),
		merged.size > shown.length
			? el('p', {class: 'note'}, `The ${shown.length} with the most time, of ${merged.size}.`)
			: null,
	);
}
