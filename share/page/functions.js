/* SPDX-License-Identifier: MIT */
/* The report of functions: the walk down from the outermost calls as an icicle, calls over time as nested rectangles in the
 * timeline, calls that stand out, and the tables.
 */
const METRIC = {wall: 'ns', cpu: 'working_ns', blocked: 'blocked_ns', interrupted: 'interrupted_ns'}[REPORT.metric];
const METRIC_WORDS = {wall: 'time', cpu: 'time on a CPU', blocked: 'time blocked', interrupted: 'time interrupted'}[REPORT.metric];

function callClass(node) {
	if (node.kind === 'cause') return familyOf(/^[\w-]+/.exec(node.name)[0]).key;
	return {thread: 'all', function: 'user', user: 'user', 'waits-for': 'blocked'}[node.kind] || 'syscall';
}

/* A node of the report's tree, with all below it. */
function walkNode(node, above) {
	const made = newNode(node.kind === 'waits-for' ? `waits for ${node.name}` : node.name, callClass(node));
	made.above = above;
	made.ns = node.inclusive[METRIC];
	made.count = node.calls;
	if (node.children_omitted) made.note = `${count(node.children_omitted, 'shorter part')} left out: no room in a page`;
	for (const child of [...(node.children || []), ...(node.waits || [])]) {
		const below = walkNode(child, made);
		if (below.ns > 0) made.children.set(`${below.kind} ${below.name} ${made.children.size}`, below);
	}
	return made;
}

function walkTree() {
	const root = newNode('all threads', 'all');
	for (const thread of REPORT.threads) {
		const node = walkNode(thread.tree, root);
		if (thread.threads.length > 1) node.name = `${thread.name} (${count(thread.threads.length, 'thread')})`;
		root.ns += node.ns;
		root.children.set(`all ${node.name} ${root.children.size}`, node);
	}
	return root;
}

function sampledTree() {
	const root = newNode('on a CPU', 'all');
	const visit = (node, above) => {
		const made = newNode(node.inferred ? `${node.name} (inferred)` : node.name, node.kernel ? 'syscall' : 'user');
		Object.assign(made, {above, ns: node.ns, count: node.samples, note: node.file});
		for (const child of node.children || []) {
			const below = visit(child, made);
			made.children.set(`${below.kind} ${below.name} ${made.children.size}`, below);
		}
		return made;
	};
	for (const thread of REPORT.sampled) {
		const node = visit(thread, root);
		Object.assign(node, {name: named(thread), kind: 'all'});
		root.ns += node.ns;
		root.count += node.count;
		root.children.set(`all ${node.name}`, node);
	}
	return root;
}

function icicleSection(timeline, id, title, about, tree, counted) {
	const icicle = new Icicle(title, counted),
		element = section(id, title, about, icicle.element);
	placeFlame(timeline, id, icicle);
	icicle.show(tree);
	return element;
}

const timesOf = (one) => ({...one, ready_ns: 0});

function callTable(timeline) {
	return table(
		[
			{title: 'Function', of: (one) => one.name},
			{title: 'Calls', number: true, of: (one) => one.calls.toLocaleString('en')},
			{title: 'With what it calls', number: true, of: (one) => duration(one.inclusive.ns)},
			{title: 'Itself', number: true, of: (one) => duration(one.exclusive.ns)},
			{title: 'Itself', of: (one) => bar(wib(timesOf(one.exclusive)), Math.max(...REPORT.functions.map((f) => f.exclusive.ns), 1))},
		],
		REPORT.functions,
		null,
	);
}

function standOutTable(timeline) {
	return table(
		[
			{title: 'Call', of: (one) => one.call.name},
			{title: 'By', of: named},
			{title: 'Took', number: true, of: (one) => duration(one.call.ns)},
			{title: 'Median', number: true, of: (one) => duration(one.median_ns)},
			{title: 'Of calls', number: true, of: (one) => one.calls.toLocaleString('en')},
			{
				title: 'More of',
				of: (one) =>
					one.differences
						.filter(({kind}) => kind === 'time')
						.slice(0, 3)
						.map(({what, ns}) => `${what} ${duration(ns)}`)
						.join(', '),
			},
		],
		REPORT.stand_outs,
		(one) => goTo(timeline, one, one.call.begin, one.call.end),
	);
}

function bottleneckTable() {
	return table(
		[
			{title: 'Way', of: (one) => one.path.join(' › ')},
			{title: 'Time', number: true, of: (one) => duration(one.ns)},
			{title: 'Of its thread', number: true, of: (one) => percent(one.share, 1)},
			{title: '', of: (one) => bar([{class: 'user', ns: one.share, label: 'of its thread'}], 1)},
			{title: 'Calls', number: true, of: (one) => (one.calls ? one.calls.toLocaleString('en') : '')},
		],
		REPORT.bottlenecks.slice(0, 20),
		null,
		REPORT.bottlenecks.length > 20 ? `The first 20 of ${REPORT.bottlenecks.length}` : null,
	);
}

PAGES.functions = (timeline, main) => {
	main.append(
		section(
			'answer',
			'Where time goes along the calls',
			null,
			el('div', {class: 'headline'}, REPORT.answer.map((text, i) => el('p', {class: i ? 'second' : null}, text))),
			coverageCard(),
		),
		icicleSection(
			timeline,
			'walk',
			'The walk',
			`From the outermost calls down into the kernel and to what was waited for: ${METRIC_WORDS}, by thread.`,
			walkTree(),
			'call',
		),
	);
	if (REPORT.sampled && REPORT.sampled.length)
		main.append(
			icicleSection(timeline, 'flame', 'Samples', 'What ran on CPUs, by the call stacks of samples.', sampledTree(), 'sample'),
		);
	if (REPORT.stand_outs.length)
		main.append(
			section(
				'stand-outs',
				'Calls that stand out from their function’s others',
				null,
				standOutTable(timeline),
				omitted(REPORT.stand_outs_omitted, 'calls'),
			),
		);
	main.append(
		section(
			'picture',
			'Calls over time',
			'Below each thread its calls, nested: what a call called lies below it.',
			TIMELINE.calls_left
				? el('p', {class: 'note'}, `The ${TIMELINE.calls.length.toLocaleString('en')} longest; ${count(TIMELINE.calls_left, 'shorter call')} left out.`)
				: null,
			timeline.element,
		),
		section('bottlenecks', 'Bottlenecks', `Ways that took ${REPORT.threshold} % of their thread’s time or more.`, bottleneckTable()),
		section('functions', 'Functions and system calls', 'By the time in them, without what they called.', callTable(timeline), omitted(REPORT.functions_omitted, 'functions')),
	);
	/* those that call most are open */
	for (const row of [...CALLS.keys()].slice(0, 4)) timeline.open.add(row);
};
