/* SPDX-License-Identifier: MIT */
/* The delay report: the verdict first, then the critical path, the threads' trees, locks, who waited for whom. */

/* Of the bar: what would be saved of it, in % of the window. */
function worthShare(worth, share) {
	return Math.max(0, Math.min(100, (share * worth.saved_ns) / worth.ns));
}

/* A range where more than a twentieth of it is not sure, as in the text. */
function worthWords(worth) {
	const from = Math.max(worth.saved_from_ns, 0), to = Math.max(worth.saved_to_ns, 0);
	if (to <= 0) return 'Without it, no sooner: something else takes as long.';
	const only = to < 0.75 * worth.ns ? 'only ' : '';
	if (to - from <= 0.05 * worth.ns) return `Without it, ${only}${duration(Math.max(worth.saved_ns, 0))} sooner.`;
	if (from <= 0) return `Without it, up to ${duration(to)} sooner.`;
	return `Without it, ${duration(from)} to ${duration(to)} sooner.`;
}

/* What the steps of the critical path were that a sentence is of, by class: [{class, ns, label}], most first. */
function sentenceParts(i) {
	const pieces = ((TIMELINE.sentences || [])[i] || []).map(([row, begin, ns]) => [begin, begin + ns, row]),
		sums = new Float64Array(CLASSES.length);
	let at = 0;
	for (const step of REPORT.critical_path) {
		while (at < pieces.length && pieces[at][1] <= step.begin) at++;
		if (at === pieces.length) break;
		if (pieces[at][0] <= step.begin) sums[classOfKey(step.leaf)] += step.ns;
	}
	return CLASSES.map(({key, label}, kind) => ({class: key, label, ns: sums[kind]})).sort((a, b) => b.ns - a.ns);
}

function meter(i, share, worth) {
	const parts = sentenceParts(i).filter((part) => part.ns > 0),
		whole = parts.reduce((sum, part) => sum + part.ns, 0);
	const words = parts.map((part) => `${part.label} ${percent(part.ns, whole)}`).join(', ');
	return el(
		'span',
		{class: 'measure', 'aria-hidden': 'true', title: words},
		el(
			'span',
			{class: 'meter'},
			el(
				'span',
				{class: 'parts', 'width%': Math.min(100, share)},
				whole
					? parts.map((part) => el('span', {class: `c-${part.class}`, 'width%': (100 * part.ns) / whole}))
					: el('span', {class: 'c-all', 'width%': 100}),
			),
		),
		worth && worth.saved_ns > 0
			? el('span', {class: 'worth', title: 'Without it, so much sooner', 'width%': worthShare(worth, share)})
			: null,
	);
}

function verdictList(timeline) {
	const list = REPORT.verdict;
	if (!list.length) return null;
	return el(
		'ol',
		{class: 'verdict'},
		list.map((text, i) => {
			const share = /^(?:<\s*)?([\d.]+) %/.exec(text),
				worth = REPORT.worth.find((one) => one.sentence === i),
				[, head, rest] = /^([^)]*\)): (.*)$/s.exec(text) || [null, '', text],
				pieces = (TIMELINE.sentences || [])[i] || [];
			const words = [el('strong', {}, head), ' ', rest, worth ? ' ' + worthWords(worth) : null];
			return el(
				'li',
				{class: [i ? '' : 'first', share ? '' : 'plain'].join(' ').trim() || null, 'data-sentence': i},
				share ? meter(i, share[1], worth) : null,
				pieces.length
					? button(words, 'Show what this is of in the timeline', () => showSentence(timeline, i), {
							class: 'says text',
						})
					: el('span', {class: 'text'}, words),
			);
		}),
	);
}

function lineageList(timeline) {
	const list = REPORT.lineage;
	if (list.length < 2) return null;
	return section(
		'lineage',
		'How it came to be',
		'Each thread from when it mattered until it made the next one.',
		el(
			'ol',
			{class: 'lineage'},
			list.map((one) =>
				el(
					'li',
					{},
					button(named(one), 'Show it in the timeline', () => goTo(timeline, one, one.begin, one.end), {
						class: 'plain',
					}),
					` ${duration(one.end - one.begin)} `,
					bar([{class: 'all', ns: one.end - one.begin, label: 'of the window'}], LENGTH),
				),
			),
		),
	);
}

function pathSection(timeline) {
	const steps = REPORT.critical_path,
		totals = REPORT.critical_path_totals;
	if (!steps.length) return null;
	const longest = [...steps].sort((a, b) => b.ns - a.ns).slice(0, 15);
	return section(
		'path',
		'Critical path',
		`What the end of the window waited for, step by step: ${count(steps.length + (REPORT.critical_path_omitted || 0), 'step')} that fill ` +
			`all of its ${duration(LENGTH)}. Only what makes these shorter can make the whole shorter.` +
			(REPORT.critical_path_omitted ? ` This page has the ${steps.length.toLocaleString('en')} longest.` : ''),
		el(
			'div',
			{class: 'columns'},
			el(
				'div',
				{},
				el('h3', {}, 'By thread'),
				table(
					[
						{title: 'Thread', of: named},
						{title: 'Time', number: true, of: (one) => duration(one.ns)},
						{title: 'Of it', number: true, of: (one) => percent(one.ns, LENGTH)},
						{title: '', of: (one) => bar(wib(one), totals.by_thread[0].ns)},
					],
					totals.by_thread,
					null,
				),
			),
			el(
				'div',
				{},
				el('h3', {}, 'By kind'),
				table(
					[
						{title: 'State', of: (one) => one.leaf},
						{title: 'Because of', of: (one) => one.kind},
						{title: 'Time', number: true, of: (one) => duration(one.ns)},
						{title: 'Of it', number: true, of: (one) => percent(one.ns, LENGTH)},
					],
					totals.by_kind,
					null,
				),
				totals.by_resource.length
					? [
							el('h3', {}, 'By what was waited for'),
							table(
								[
									{title: 'Resource', of: (one) => resourceText(one.resource)},
									{title: 'Time', number: true, of: (one) => duration(one.ns)},
									{title: 'Times', number: true, of: (one) => one.count.toLocaleString('en')},
								],
								totals.by_resource,
								null,
							),
						]
					: null,
			),
		),
		el('h3', {}, 'Longest steps'),
		table(
			[
				{title: 'Thread', of: named},
				{title: 'State', of: (one) => one.leaf + (one.resource ? ` on ${resourceText(one.resource)}` : '')},
				{title: 'Time', number: true, of: (one) => duration(one.ns)},
				{title: 'From', number: true, of: (one) => clock(one.begin)},
				{title: 'Because of', of: (one) => (one.cause ? one.cause.label || one.cause.kind : '')},
			],
			longest,
			(one) => goTo(timeline, one, one.begin, one.end),
		),
	);
}

/* --- threads ------------------------------------------------------------------------ */

function threadTotals(thread) {
	const of = (name) => (thread.summary.children.find((node) => node.path[0] === name) || {ns: 0}).ns;
	const interrupted = thread.summary.children.find((node) => node.path[0] === 'interrupted');
	const ready = (interrupted ? interrupted.children : [])
		.filter((node) => /preempted|wait-cpu/.test(node.path[1]))
		.reduce((sum, node) => sum + node.ns, 0);
	return {
		working_ns: of('working'),
		interrupted_ns: of('interrupted'),
		blocked_ns: of('blocked'),
		unknown_ns: of('unknown'),
		ready_ns: ready,
	};
}

function threadSections(timeline) {
	const threads = REPORT.threads,
		left = el('div', {});
	if (!threads.length) return null;
	if (REPORT.threads_omitted)
		left.append(
			el(
				'span',
				{class: 'note'},
				` The ${threads.length} that did most, of ${threads.length + REPORT.threads_omitted}: a page has no room for all.`,
			),
		);
	const choice = el(
		'select',
		{id: 'thread', 'aria-label': 'Thread'},
		threads.map((thread, i) =>
			el('option', {value: i}, `${named(thread)}: ${duration(thread.end - thread.begin)}`),
		),
	);
	const tree = el('div', {class: 'wib'}),
		waits = el('div', {class: 'waits'});
	const weight = (one) => (REPORT.target ? one.end - one.begin : threadTotals(one).working_ns);
	const longest = threads.reduce((best, one, i) => (weight(one) > weight(threads[best]) ? i : best), 0);
	const show = (index) => {
		const thread = threads[index];
		if (choice.shown === index) return;
		choice.shown = index;
		choice.value = index;
		waitBranches.clear();
		tree.replaceChildren(wibNode(timeline, thread, thread.summary, 0));
		const [list, more] = waitList(timeline, thread.causality, thread.summary.ns, thread.causality_omitted);
		waits.replaceChildren(list, ...(more ? [more] : []));
		if (!thread.causality.length) waits.append(el('p', {class: 'note'}, 'It did not wait.'));
	};
	showThread = (thread) => show(threads.indexOf(thread));
	choice.addEventListener('change', () => show(Number(choice.value)));
	show(longest);
	return [
		el('div', {class: 'chooser'}, el('label', {for: 'thread'}, 'Thread '), choice, left),
		section(
			'causality',
			'What it waited for, and why that took so long',
			'Each wait, longest first. Open one: what the thread it was ' +
				'led to did meanwhile, and what that one waited for.',
			waits,
		),
		section(
			'summary',
			'Where its time went',
			'Working, interrupted, blocked; open a part for its instances.',
			tree,
		),
	];
}

const ALL_THREADS = (REPORT.threads || []).length + (REPORT.threads_omitted || 0);

function threadTable(timeline) {
	/* those that did nothing have nothing to say */
	const threads = REPORT.threads
		.map((thread) => ({...thread, ...threadTotals(thread)}))
		.sort((a, b) => b.working_ns - a.working_ns)
		.filter((one, i) => i < 5 || one.working_ns)
		.slice(0, 25);
	return table(
		[
			{title: 'Thread', of: named},
			{title: 'Working', number: true, of: (one) => duration(one.working_ns)},
			{title: 'Interrupted', number: true, of: (one) => duration(one.interrupted_ns)},
			{title: 'of it without CPU', number: true, of: (one) => duration(one.ready_ns)},
			{title: 'Blocked', number: true, of: (one) => duration(one.blocked_ns)},
			{title: '', of: (one) => bar(livedParts(one), one.end - one.begin)},
		],
		threads,
		(one) => goTo(timeline, one, one.begin, one.end),
		threads.length < ALL_THREADS
			? `The ${threads.length} that worked most, of ${ALL_THREADS} threads`
			: null,
	);
}

function lockSection(timeline) {
	const locks = REPORT.locks || [],
		deadlocks = REPORT.deadlocks || [];
	if (!locks.length && !deadlocks.length) return null;
	const held = (one) => `${named(one)} ${duration(one.ns)}${one.certainty === 'inferred' ? ' (inferred)' : ''}`;
	return section(
		'locks',
		'Locks',
		'Whole waits for each lock, and who held it meanwhile.',
		deadlocks.map((one) =>
			el(
				'p',
				{class: 'bad'},
				'Deadlock',
				one.certainty === 'inferred' ? ' (inferred): ' : ': ',
				one.threads
					.map(
						(thread) =>
							`${named(thread)} since ${clock(thread.since)}${thread.lock ? ` on ${thread.lock}` : ''}`,
					)
					.join('; '),
			),
		),
		locks.length
			? table(
					[
						{title: 'Lock', of: (one) => `${one.kind} ${one.name || ''}`},
						{title: 'Waited', number: true, of: (one) => duration(one.ns)},
						{title: 'Waits', number: true, of: (one) => one.waits.toLocaleString('en')},
						{title: 'Threads', number: true, of: (one) => one.waiters},
						{title: 'Held by', of: (one) => (one.holders || []).slice(0, 4).map(held).join(', ')},
						{
							title: 'Longest wait',
							of: (one) =>
								one.longest
									? `${duration(one.longest.end - one.longest.begin)} of ${named(one.longest)}`
									: '',
						},
					],
					locks,
					(one) => one.longest && goTo(timeline, one.longest, one.longest.begin, one.longest.end),
				)
			: null,
		omitted(REPORT.locks_omitted, 'locks'),
	);
}

/* Who waited for whom: the report's waits, each led to the thread whose share it was. */
function delayEdges() {
	const edges = new Map();
	const add = (waits) => {
		for (const wait of waits || []) {
			if (wait.share) {
				const from = findRow(wait, wait.begin),
					to = findRow(wait.share, wait.end - 1);
				const key = `${from} ${to}`;
				if (from >= 0 && to >= 0 && from !== to) {
					if (!edges.has(key)) edges.set(key, {from, to, ns: 0, count: 0, what: new Map()});
					const edge = edges.get(key),
						what = resourceText(wait.resource && {kind: wait.resource.kind, name: wait.resource.name});
					edge.ns += wait.ns;
					edge.count++;
					edge.what.set(what, (edge.what.get(what) || 0) + wait.ns);
				}
			}
			add(wait.children);
		}
	};
	/* waits below others are of threads that may be listed themselves: each wait counts once */
	const seen = new Set(),
		once = (waits) =>
			(waits || [])
				.filter((wait) => {
					const key = `${wait.host}:${wait.tid}:${wait.begin}`;
					return !seen.has(key) && seen.add(key);
				})
				.map((wait) => ({...wait, children: once(wait.children)}));
	for (const thread of REPORT.threads) add(once(thread.causality));
	return [...edges.values()]
		.map((edge) => ({...edge, label: [...edge.what].sort((a, b) => b[1] - a[1])[0][0]}))
		.sort((a, b) => b.ns - a.ns);
}

PAGES.delay = (timeline, main) => {
	const {target} = REPORT,
		verdict = verdictList(timeline);
	const subject = target
		? `${named(target)}: ${target.event}`
		: REPORT.threads.length === 1
			? named(REPORT.threads[0])
			: `${count(ALL_THREADS, 'thread')}`;
	main.append(
		section(
			'answer',
			target
				? `Why was ${target.name} not sooner?`
				: `Where the time of ${subject} went`,
			target
				? `${subject} at ${clock(target.time)}. The window before it, ${duration(LENGTH)}, went to:`
				: null,
			verdict || threadTable(timeline),
			coverageCard(),
		),
	);
	main.append(section('picture', 'Timeline', null, timeline.element));
	for (const part of [
		whatIfSection(timeline),
		pathSection(timeline),
		flameSection(timeline),
		lineageList(timeline),
		threadSections(timeline),
		graphSection(
			delayEdges(),
			timeline,
			'Who waited for whom',
			'The waits of the trees above, by the thread that each was led to.',
		),
		lockSection(timeline),
		verdict && REPORT.threads.length > 1 ? section('threads', 'Threads', null, threadTable(timeline)) : null,
	].flat())
		if (part) main.append(part);
};
