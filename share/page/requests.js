/* SPDX-License-Identifier: MIT */
/* The report of requests: a sentence, latency over time with causes, the slowest ones with a bar each, and of the chosen
 * one the way over threads and hosts in the timeline.
 */
const KINDS = TIMELINE.kinds;
const POINTS = TIMELINE.points.map(([id, begin, ns, kinds]) => ({id, begin, ns, families: kinds && familySums(kinds)}));
const WATERFALLS = new Map(TIMELINE.waterfalls.map(([id, ...steps]) => [id, steps]));
const LATENCY = REPORT.metric === 'latency';

/* [kind, value, …] → value by family */
function familySums(kinds) {
	const sums = FAMILIES.map(() => 0);
	for (let i = 0; i < kinds.length; i += 2) sums[FAMILIES.indexOf(familyOf(KINDS[kinds[i]]))] += kinds[i + 1];
	return sums;
}

const unitOf = (cause) => ['ns', 'bytes', 'calls'].find((unit) => cause[unit] !== undefined);

function amount(value, unit) {
	if (unit === 'ns') return duration(Math.round(value));
	if (unit === 'calls') return Math.round(value).toLocaleString('en');
	for (const [name, scale] of [
		['GB', 1e9],
		['MB', 1e6],
		['kB', 1e3],
	])
		if (value >= scale) return `${(value / scale).toFixed(1)} ${name}`;
	return `${value} bytes`;
}

function familyLegend(families, plain) {
	return el(
		'ul',
		{class: plain ? 'legend solid' : 'legend'},
		families.map(({key, label}) => el('li', {}, el('span', {class: `swatch c-${key}`}), label)),
	);
}

/* --- latency over time ------------------------------------------------------------------ */

const PLOT = {left: 64, right: 12, top: 10, bottom: 26, height: 260};

class RequestPlot {
	constructor(choose) {
		this.choose = choose;
		this.chosen = null;
		this.columns = false;
		this.canvas = el('canvas', {
			class: 'plot',
			role: 'img',
			'aria-label': `Latency of ${count(POINTS.length, 'request')} over time; the slowest are in the table below`,
		});
		this.canvas.style.height = `${PLOT.height}px`;
		this.context = this.canvas.getContext('2d', {alpha: false});
		this.canvas.addEventListener('pointermove', (event) => this.hover(event));
		this.canvas.addEventListener('pointerleave', hideTip);
		this.canvas.addEventListener('click', (event) => {
			const point = this.near(event);
			if (point) this.choose(point.id);
		});
		addEventListener('resize', () => this.draw());
		themeListeners.push(() => this.draw());
	}

	color(name) {
		return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
	}

	x(time) {
		return PLOT.left + (time / LENGTH) * (this.width - PLOT.left - PLOT.right);
	}

	/* Points on a logarithmic axis, columns on a linear one. */
	y(ns) {
		const room = PLOT.height - PLOT.top - PLOT.bottom,
			part = this.columns
				? ns / this.most
				: (Math.log(Math.max(ns, this.least)) - Math.log(this.least)) / Math.max(Math.log(this.most / this.least), 1e-9);
		return PLOT.top + room * (1 - part);
	}

	draw() {
		const c = this.context,
			ratio = devicePixelRatio || 1;
		this.width = this.canvas.clientWidth;
		if (!this.width) return;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(PLOT.height * ratio);
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = this.color('panel');
		c.fillRect(0, 0, this.width, PLOT.height);
		const bins = this.columns ? this.bins() : [];
		this.most = this.columns ? Math.max(...bins.map(({mean}) => mean), 1) * 1.05 : Math.max(...POINTS.map(({ns}) => ns), 2) * 1.15;
		this.least = Math.max(1, Math.min(...POINTS.map(({ns}) => ns)) / 1.15);
		this.axes();
		if (this.columns) this.drawColumns(bins);
		else this.drawPoints();
	}

	axes() {
		const c = this.context,
			steps = [];
		if (this.columns) for (let ns = 0; ns <= this.most; ns += roundStep(this.most / 5)) steps.push(ns);
		else
			for (let ns = 10 ** Math.floor(Math.log10(this.least)); ns <= this.most; ns *= 10)
				for (const times of this.most / this.least < 50 ? [1, 2, 5] : [1])
					if (ns * times >= this.least && ns * times <= this.most) steps.push(ns * times);
		c.font = '11px system-ui, sans-serif';
		c.textBaseline = 'middle';
		for (const ns of steps) {
			c.fillStyle = this.color('line');
			c.fillRect(PLOT.left, this.y(ns), this.width - PLOT.left - PLOT.right, 1);
			c.fillStyle = this.color('faint');
			c.textAlign = 'right';
			c.fillText(shortDuration(Math.round(ns)), PLOT.left - 6, this.y(ns));
		}
		c.textAlign = 'left';
		const step = roundStep((LENGTH * 90) / Math.max(this.width - PLOT.left, 1));
		for (let time = 0; time < LENGTH; time += step) {
			const label = time ? `+${shortDuration(time)}` : '0';
			if (this.x(time) + c.measureText(label).width < this.width) c.fillText(label, this.x(time), PLOT.height - 12);
			c.fillRect(this.x(time), PLOT.height - PLOT.bottom, 1, 4);
		}
	}

	drawPoints() {
		const c = this.context,
			size = POINTS.length > 1500 ? 2 : POINTS.length > 200 ? 3 : 4.5;
		for (const point of POINTS) {
			c.fillStyle = this.color(point.families ? FAMILIES[point.families.indexOf(Math.max(...point.families))].key : 'line');
			c.beginPath();
			c.arc(this.x(point.begin), this.y(point.ns), size, 0, 7);
			c.fill();
			c.strokeStyle = this.color('panel');
			if (size > 2) c.stroke();
		}
		const chosen = POINTS.find(({id}) => id === this.chosen);
		if (!chosen) return;
		c.strokeStyle = this.color('text');
		c.lineWidth = 2;
		c.beginPath();
		c.arc(this.x(chosen.begin), this.y(chosen.ns), size + 4, 0, 7);
		c.stroke();
		c.lineWidth = 1;
		c.fillStyle = this.color('text');
		c.fillText(`#${chosen.id}`, Math.min(this.x(chosen.begin) + size + 7, this.width - 46), this.y(chosen.ns));
	}

	/* Means of the requests that began in each 7 pixels. */
	bins() {
		const wide = 7,
			number = Math.max(1, Math.floor((this.width - PLOT.left - PLOT.right) / wide)),
			bins = new Map();
		for (const point of POINTS.filter(({families}) => families)) {
			const at = Math.min(number - 1, Math.floor((point.begin / LENGTH) * number));
			if (!bins.has(at)) bins.set(at, {at, number, requests: 0, ns: 0, sums: FAMILIES.map(() => 0)});
			const bin = bins.get(at);
			bin.requests++;
			bin.ns += point.ns;
			point.families.forEach((value, i) => (bin.sums[i] += value));
		}
		return [...bins.values()].map((bin) => ({...bin, mean: bin.ns / bin.requests}));
	}

	drawColumns(bins) {
		const c = this.context;
		for (const bin of bins) {
			const x = PLOT.left + (bin.at / bin.number) * (this.width - PLOT.left - PLOT.right),
				whole = bin.sums.reduce((a, b) => a + b, 0) || 1;
			let ns = 0;
			bin.sums.forEach((sum, i) => {
				if (!sum) return;
				const part = (bin.mean * sum) / whole,
					y = this.y(ns + part);
				c.fillStyle = this.color(FAMILIES[i].key);
				c.fillRect(x, y, 6, Math.max(this.y(ns) - y, 0.5));
				ns += part;
			});
		}
		this.drawn = bins;
	}

	near(event) {
		const box = this.canvas.getBoundingClientRect(),
			x = event.clientX - box.left,
			y = event.clientY - box.top;
		let best = null,
			least = this.columns ? 12 : 18;
		for (const point of POINTS) {
			const far = this.columns ? Math.abs(this.x(point.begin) - x) : Math.hypot(this.x(point.begin) - x, this.y(point.ns) - y);
			if (far < least) [best, least] = [point, far];
		}
		return best;
	}

	hover(event) {
		const point = this.near(event);
		if (!point) return hideTip();
		showTip(event.clientX, event.clientY, [
			`Request ${point.id}: ${duration(point.ns)}`,
			`from ${clock(point.begin)}`,
			...(point.families && LATENCY
				? FAMILIES.map(({label}, i) => [label, point.families[i]])
						.filter(([, value]) => value)
						.sort((a, b) => b[1] - a[1])
						.map(([label, value]) => `${label} ${duration(value)}`)
				: []),
		]);
	}
}

/* --- the slowest ----------------------------------------------------------------------------- */

function causeParts(request) {
	const sums = FAMILIES.map(() => 0);
	for (const cause of request.causes) sums[FAMILIES.indexOf(familyOf(cause.kind))] += cause[unitOf(cause)];
	return FAMILIES.map(({key, label}, i) => ({class: key, label, ns: sums[i]}));
}

function slowestTable(choose) {
	const list = [...REPORT.requests].sort((a, b) => b.ns - a.ns),
		most = Math.max(...list.map((one) => one.ns));
	const rows = table(
		[
			{title: 'Request', of: (one) => `#${one.id}`},
			{title: 'Latency', number: true, of: (one) => duration(one.ns)},
			{
				title: 'Causes',
				of: (one) => {
					const parts = causeParts(one),
						whole = parts.reduce((sum, part) => sum + part.ns, 0);
					return LATENCY ? bar(parts, most) : bar(parts, whole || 1);
				},
			},
			{
				title: 'Most',
				of: (one) => {
					const [cause] = one.causes;
					return cause
						? `${amount(cause[unitOf(cause)], unitOf(cause))}, ${percent(cause.share, 1)}: ${cause.kind === 'cpu' ? '' : `${cause.kind}: `}${cause.label}`
						: '';
				},
			},
			{title: 'Who', of: (one) => one.label + (one.unfinished ? ' (not over)' : '') + (one.spans_gap ? ' (events lost in it)' : '')},
		],
		list,
		(one) => choose(one.id, true),
		REPORT.requests_omitted ? `The ${list.length} slowest, of ${REPORT.count.toLocaleString('en')}` : null,
	);
	rows.classList.add('wide-bars');
	rows.querySelectorAll('tbody tr').forEach((line, i) => {
		line.dataset.request = list[i].id;
	});
	return rows;
}

function summaryTable() {
	const list = REPORT.summary;
	if (!list.length) return null;
	const unit = unitOf(list[0]);
	return [
		table(
			[
				{title: 'Cause', of: (one) => `${one.kind}: ${one.label}${one.user_can_change ? ` [${one.user_can_change}]` : ''}`},
				{title: unit === 'ns' ? 'Time' : 'Sum', number: true, of: (one) => amount(one[unit], unit)},
				{title: 'Of it', number: true, of: (one) => percent(one.share, 1)},
				{title: 'Requests', number: true, of: (one) => one.requests.toLocaleString('en')},
				{title: '', of: (one) => bar([{class: familyOf(one.kind).key, ns: one[unit], label: one.label}], list[0][unit])},
			],
			list.slice(0, 15),
			null,
		),
		list.length > 15 ? el('p', {class: 'note'}, `${list.length - 15} more causes, smaller, in the data of this page.`) : null,
		omitted(REPORT.summary_omitted, 'causes'),
	];
}

/* What goes with being in a group of them: of those that have something to say. */
function groupsSection() {
	const told = (REPORT.groups || []).filter((group) => group.apart.length);
	const line = (group) => {
		const which = group.pick === null ? 'Slow ones' : `Peak ${group.pick.slice('peak:'.length)}`,
			times = `${duration(group.from_ns)} to ${duration(group.to_ns)}`;
		return el(
			'li',
			{},
			`${which}, ${group.count} of ${group.of} requests, ${times}: ${group.apart.map((trait) => trait.sentence).join('. ')}.`,
		);
	};
	return told.length
		? [section('apart', 'What sets some apart', 'What goes with being among them. It need not be the cause.', el('ul', {}, told.map(line)))]
		: [];
}

/* --- one request ------------------------------------------------------------------------------- */

function stepsTable(timeline, steps) {
	const longest = [...steps].sort((a, b) => b[2] - a[2]).slice(0, 15);
	return table(
		[
			{title: 'Thread', of: ([row]) => rowOrNobody(row)},
			{title: 'From', number: true, of: ([, begin]) => `+${duration(begin - steps[0][1])}`},
			{title: 'Time', number: true, of: ([, , ns]) => duration(ns)},
			{title: '', of: ([, , ns, kind]) => bar([{class: familyOf(KINDS[kind]).key, ns, label: KINDS[kind]}], longest[0][2])},
			{title: 'For', of: ([, , , kind, text]) => `${KINDS[kind]}: ${STRINGS[text]}`},
		],
		longest,
		([row, begin, ns]) => row >= 0 && goTo(timeline, ROWS[row], begin, begin + ns),
		`The longest of ${count(steps.length, 'step')}`,
	);
}

const rowOrNobody = (row) => (row >= 0 ? named(ROWS[row]) : 'a thread without a row');

function showRequest(timeline, place, below, id) {
	const steps = WATERFALLS.get(id),
		request = REPORT.requests.find((one) => one.id === id),
		point = POINTS.find((one) => one.id === id);
	if (!steps) {
		fill(
			place,
			el(
				'p',
				{},
				`Request ${id}: ${duration(point.ns)} from ${clock(point.begin)}. This page has the ways of the ${WATERFALLS.size} slowest; `,
				el('code', {}, `--pick ${id}`),
				' shows this one.',
			),
		);
		below.replaceChildren();
		timeline.setPath([], LENGTH);
		timeline.show(point.begin - point.ns * 0.05, point.begin + point.ns * 1.05);
		return;
	}
	timeline.setPath(
		steps.map(([row, begin, ns, kind, text]) => ({
			...(ROWS[row] || {}),
			row,
			begin,
			end: begin + ns,
			ns,
			leaf: `${KINDS[kind]}: ${STRINGS[text]}`,
			color: familyOf(KINDS[kind]).key,
		})),
		point.ns,
	);
	timeline.show(point.begin - point.ns * 0.03, point.begin + point.ns * 1.03);
	timeline.resize(); /* to the rows of who lived then */
	const hosts = new Set(steps.filter(([row]) => row >= 0).map(([row]) => ROWS[row].host));
	fill(
		place,
		el(
			'p',
			{},
			el('strong', {}, `Request ${id}`),
			`: ${duration(point.ns)} from ${clock(point.begin)}${request ? `, ${request.label}` : ''}, over ` +
				`${count(new Set(steps.map(([row]) => row)).size, 'thread')}${hosts.size > 1 ? ` on ${hosts.size} hosts` : ''}.`,
		),
	);
	fill(below, el('h3', {}, 'Its longest steps'), stepsTable(timeline, steps));
}

/* --- the page -------------------------------------------------------------------------------------- */

/* The tree of all ways, as an icicle. */
function treeOfWays(node, above) {
	const kind = above ? /^([\w-]+): /.exec(node.label) : null,
		made = newNode(node.label, kind ? familyOf(kind[1]).key : 'all');
	made.above = above;
	made.ns = node.ns;
	made.count = node.requests;
	for (const child of node.children || []) {
		const below = treeOfWays(child, made);
		made.children.set(`${below.kind} ${below.name}`, below);
	}
	return made;
}

function answerList() {
	return el(
		'div',
		{class: 'headline'},
		REPORT.answer.map((text, i) => el('p', {class: i ? 'second' : null}, text)),
		REPORT.remarks ? el('p', {class: 'note'}, REPORT.remarks) : null,
	);
}

PAGES.requests = (timeline, main) => {
	const place = el('div', {}),
		steps = el('div', {}),
		picture = section(
			'picture',
			'One request',
			'Its way over threads and hosts: the line above the rows has its steps in order, coloured by what they were for.',
			familyLegend(FAMILIES, true),
			place,
			timeline.element,
			steps,
		);
	const choose = (id, go) => {
		plot.chosen = id;
		plot.draw();
		for (const line of document.querySelectorAll('#slowest tr')) line.classList.toggle('chosen', line.dataset.request === String(id));
		showRequest(timeline, place, steps, id);
		if (go) picture.scrollIntoView({block: 'start'});
	};
	const plot = new RequestPlot((id) => choose(id, true));
	const modes = [
		['Each request', false],
		['Causes stacked', true],
	].map(([text, columns]) =>
		button(
			text,
			columns ? 'Mean latency of the requests that began there, by cause' : 'A point for each request, coloured by its largest cause',
			() => {
				plot.columns = columns;
				for (const mode of modes) mode.setAttribute('aria-pressed', mode.textContent === text);
				plot.draw();
			},
			{'aria-pressed': String(!columns)},
		),
	);
	main.append(section('answer', 'Requests', null, answerList(), coverageCard()), ...whatIfTables());
	if (!POINTS.length) {
		main.append(picture);
		return;
	}
	main.append(
		section(
			'scatter',
			'Latency over time',
			'Click a request to see its way.',
			el('div', {class: 'toolbar'}, LATENCY ? modes : null),
			familyLegend(FAMILIES, true),
			plot.canvas,
			TIMELINE.points_left
				? el('p', {class: 'note'}, `${count(TIMELINE.points_left, 'faster request')} left out of the picture, evenly: too many for a page.`)
				: null,
			POINTS.some(({families}) => !families)
				? el('p', {class: 'note'}, 'Pale points are requests whose causes this page does not have: it has those of the slowest.')
				: null,
		),
		section('slowest', 'The slowest', null, slowestTable(choose)),
		...groupsSection(),
		picture,
		section('summary', 'What they spent their time on', 'Over all requests, largest first.', summaryTable()),
	);
	if (REPORT.tree && REPORT.tree.ns) {
		const icicle = new Icicle('Time of all requests, by thread and cause', 'request');
		main.append(section('flame', 'Flame graph', 'The time of all requests, by thread and by what it went to.', icicle.element));
		placeFlame(timeline, 'ways', icicle);
		icicle.show(treeOfWays(REPORT.tree));
	}
	const ways = waysSection();
	if (ways) main.append(ways);
	plot.draw();
	choose([...WATERFALLS.keys()][0] ?? POINTS[0].id);
	requestAnimationFrame(() => plot.draw());
};
