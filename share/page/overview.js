/* SPDX-License-Identifier: MIT */
/* The overview: who and what others waited for first, then the picture, then all of the lists. */

const IMPOSED = [
	['working_ns', 'worked', 'user'],
	['wait_cpu_ns', 'waited for a CPU', 'ready'],
	['sleep_ns', 'slept', 'idle'],
	['device_ns', 'waited for a device', 'device'],
	['limit_ns', 'was kept back by a limit', 'device'],
	['network_ns', 'waited for the network', 'device'],
	['silence_ns', 'did not answer or end in time', 'blocked'],
	['ran_ns', 'kept them off the CPU', 'ready'],
	['in_way_ns', 'had its data in their way', 'interrupt'],
	['other_ns', 'was in an unknown state, or not followed', 'unknown'],
];

function imposerName(one) {
	return one.kind === 'resource' ? resourceText(one.resource) + hostOf(one) : named(one);
}

function imposerParts(one) {
	return IMPOSED.filter(([key]) => one[key])
		.map(([key, label, kind]) => ({ns: one[key], label, class: kind}))
		.sort((a, b) => b.ns - a.ns);
}

function imposerWords(one) {
	return imposerParts(one)
		.map((part) => `${part.label} ${duration(part.ns)}`)
		.join(', ');
}

function knotText(knot, sums) {
	const threads = knot.threads.map((thread) => named(thread)).join(', ') || resourceText(knot.resource) + hostOf(knot);
	const what = knot.threads.length && knot.resource ? `, mostly on ${resourceText(knot.resource)}${hostOf(knot)}` : '';
	return knot.kind === 'circle'
		? `${threads} wait for each other in a circle: ${duration(knot.ns)}, ${percent(knot.ns, sums.imposed_ns)} of all waiting${what}.`
		: `${threads}: ${percent(knot.ns, sums.imposed_ns)} of all waiting on others, ${duration(knot.ns)} of ` +
				`${count(knot.waiters, 'thread')}${what}.`;
}

/* The row of the table that a bottleneck is: what waited for it is shown as from there. */
function imposerOf(knot) {
	const [thread] = knot.threads;
	return REPORT.waiting.find((one) =>
		thread
			? one.kind === 'thread' && one.tid === thread.tid && one.host === thread.host
			: one.kind === 'resource' && one.host === knot.host && resourceText(one.resource) === resourceText(knot.resource),
	);
}

function knotLine(knot, sums, show) {
	const words = [el('strong', {}, knot.kind === 'circle' ? 'Circle: ' : 'Bottleneck: '), knotText(knot, sums)],
		one = imposerOf(knot);
	return el('p', {class: 'headline'}, one ? button(words, 'Show who waited for it', () => show(one), {class: 'says'}) : words);
}

function overviewAnswer(timeline) {
	const {waiting, waiting_sums: sums, knots, deadlocks} = REPORT,
		most = waiting.length ? waiting[0].ns : 1;
	const show = (one) =>
		one.kind === 'resource'
			? showResource(timeline, `${one.resource.kind}:${one.resource.name}`)
			: goTo(timeline, one.example, one.example.begin, one.example.end);
	return section(
		'answer',
		'Who and what others waited for',
		`In all ${duration(sums.imposed_ns)} of waiting on others, added up over the threads that waited, led down its chains.`,
		deadlocks.map((one) =>
			el(
				'p',
				{class: 'bad'},
				`Deadlock: ${one.threads.map(named).join(', ')} wait for each other`,
				one.certainty === 'inferred'
					? el('span', {class: 'tag', title: 'Concluded, not shown by events'}, 'inferred')
					: '.',
			),
		),
		knots.map((knot) => knotLine(knot, sums, show)),
		coverageCard(),
		waiting.length
			? table(
					[
						{title: 'Who or what', of: imposerName},
						{title: 'Imposed', number: true, of: (one) => duration(one.ns)},
						{title: 'On', number: true, of: (one) => count(one.waiters, 'thread')},
						{
							title: '',
							of: (one) =>
								one.kind === 'thread'
									? bar(imposerParts(one), most)
									: bar([{class: 'device', ns: one.ns, label: 'imposed'}], most),
						},
						{title: 'Meanwhile it', of: (one) => (one.kind === 'thread' ? imposerWords(one) : '–')},
						{
							title: 'Most in one wait',
							of: (one) => `${duration(one.example.ns)} of ${named(one.example)}`,
						},
					],
					waiting,
					show,
				)
			: el('p', {}, 'Nobody waited for anybody.'),
		omitted(REPORT.waiting_omitted, 'threads and resources'),
		el(
			'p',
			{class: 'note'},
			'Not counted: ',
			[
				['own_ns', 'slept by their own timers'],
				['idle_ns', 'waited for a next request'],
				['children_ns', 'waited, from before the trace, for programs to end'],
				['tracer_ns', 'of the tracer'],
				['open_ns', 'for what had not come at the end'],
				['unknown_ns', 'ended with unknown cause'],
				['left_out_ns', 'not followed'],
			]
				.filter(([key]) => sums[key])
				.map(([key, words]) => `${words} ${duration(sums[key])}`)
				.join(', ') || 'nothing',
			'.',
		),
	);
}

function standsOut(timeline) {
	const items = REPORT.stands_out;
	return section(
		'stands-out',
		'What stands out',
		REPORT.unexplained || (items.length ? 'Each is a button that shows its pieces in the timeline.' : 'Nothing: no thread lost much of its life to others.'),
		items.length
			? el(
					'ol',
					{class: 'verdict'},
					items.map((one, i) => {
						const pieces = (TIMELINE.sentences || [])[i] || [];
						return el(
							'li',
							{class: i ? 'plain' : 'first plain', 'data-sentence': i},
							pieces.length
								? button(one.sentence, 'Show what this is of in the timeline', () => showSentence(timeline, i), {
										class: 'says text',
									})
								: el('span', {class: 'text'}, one.sentence),
						);
					}),
				)
			: null,
	);
}

PAGES.overview = (timeline, main) => {
	const goThread = (one) => goTo(timeline, one, one.begin, one.end);
	main.append(standsOut(timeline), overviewAnswer(timeline), ...whatIfTables(), section('picture', 'Timeline', null, timeline.element));
	const edges = (TIMELINE.edges || []).map(([from, to, ns, number, label]) => ({
		from,
		to,
		ns,
		count: number,
		label: STRINGS[label],
	}));
	const graph = graphSection(
		edges.filter((edge) => edge.from !== edge.to),
		timeline,
		'Who waited for whom',
		'Of the waits above: each led to who ended it, directly.',
	);
	if (graph) main.append(graph);
	main.append(
		section(
			'threads',
			'Threads',
			'That were active, or that active ones waited for; most waiting first.',
			table(
				[
					{title: 'Thread', of: named},
					{title: 'Working', number: true, of: (one) => duration(one.working_ns)},
					{title: 'Interrupted', number: true, of: (one) => duration(one.interrupted_ns)},
					{title: 'of it without CPU', number: true, of: (one) => duration(one.ready_ns)},
					{title: 'Blocked', number: true, of: (one) => duration(one.blocked_ns)},
					{title: 'Unknown', number: true, of: (one) => duration(one.unknown_ns)},
					{title: '', of: (one) => bar(livedParts(one), one.end - one.begin)},
				],
				REPORT.threads,
				goThread,
			),
			omitted(REPORT.threads_omitted, 'threads'),
			el(
				'p',
				{class: 'note'},
				`Idle: ${count(REPORT.idle.threads, 'thread')} waited ${duration(REPORT.idle.blocked_ns)} in all and delayed ` +
					`nobody seen; ${count(REPORT.idle.kernel_threads, 'kernel thread')}.`,
			),
		),
	);
	main.append(
		section(
			'waits',
			'What they waited for',
			'Largest sum first.',
			table(
				[
					{title: 'Thread', of: named},
					{
						title: 'State',
						of: (one) => one.leaf + (one.resource ? ` on ${resourceText(one.resource)}` : ''),
					},
					{title: 'Time', number: true, of: (one) => duration(one.ns)},
					{title: 'Times', number: true, of: (one) => one.count.toLocaleString('en')},
					{title: 'Longest', number: true, of: (one) => duration(one.longest_ns)},
					{title: 'Ended by', of: causeText},
				],
				REPORT.waits,
				(one) => goTo(timeline, one, one.longest_begin, one.longest_begin + one.longest_ns),
			),
			omitted(REPORT.waits_omitted, 'waits'),
		),
	);
	main.append(
		section(
			'calls',
			'System calls',
			'Of the whole trace, by time spent in them.',
			table(
				[
					{title: 'Name', of: (one) => one.name},
					{title: 'Calls', number: true, of: (one) => one.count.toLocaleString('en')},
					{title: 'Total', number: true, of: (one) => duration(one.sum_ns)},
					{title: 'Mean', number: true, of: (one) => duration(Math.round(one.sum_ns / one.count))},
					{title: 'Longest', number: true, of: (one) => duration(one.max_ns)},
					{title: 'Peaks', number: true, of: (one) => one.modes},
				],
				REPORT.system_calls,
				null,
			),
			omitted(REPORT.system_calls_omitted, 'calls'),
		),
	);
	const locks = lockSection(timeline);
	if (locks) main.append(locks);
};
