/* SPDX-License-Identifier: MIT */
/* The profile report: operations by time with their peaks' causes, and of the chosen one the latencies over
 * logarithmic axes, its peaks shaded. A peak that is clicked shows what its operations spent their time on, and an
 * example in the timeline. With --time-lapse: the same over time.
 */

function scopeText(profile) {
	const words = Object.entries(profile.scope || {}).map(([key, value]) => `${key} ${value}`);
	return `${profile.operation}${profile.label ? ` [${profile.label}]` : ''}${words.length ? `, ${words.join(', ')}` : ''}`;
}

/* "blocked/child › by:forker › interrupted/wait-cpu": below the operation itself. */
function rootPath(path) {
	return path
		.map((node, i) => (i && node === `working/${path[i - 1]}` ? 'its own work' : node))
		.slice(path.length > 1 ? 1 : 0)
		.join(' › ');
}

function peakRange(profile, peak) {
	const of = (bucket) => profile.buckets.find((one) => one.bucket === bucket);
	const first = of(peak.first_bucket) || of(peak.mode_bucket),
		last = of(peak.last_bucket) || of(peak.mode_bucket);
	return [first.from_ns, last.to_ns];
}

function rangeText(profile, peak) {
	const [from, to] = peakRange(profile, peak);
	return `${duration(from)} to ${to > 9e18 ? 'more' : duration(to)}`;
}

/* What took a peak's time, most first: the parts of a 20th or more. `root`: the root cause, which may be the first
 * of them. */
function partsOfTime(peak, root) {
	const parts = (peak.tree.children || [])
		.filter((part) => part.ns >= peak.sum_ns / 20)
		.sort((a, b) => b.ns - a.ns)
		.slice(0, 4);
	return parts.map((part, i) => [
		i ? ', ' : ', which went to ',
		el('span', {class: i ? null : 'cause'}, partName(part, peak.tree)),
		` ${percent(part.ns, peak.sum_ns)}`,
		root && root.path.length === 2 && root.path[1] === part.node
			? ` (the largest part of ${ofCount(root, peak)})`
			: '',
	]);
}

function ofCount(root, peak) {
	return `${root.maxcount.toLocaleString('en')} of ${peak.count.toLocaleString('en')}`;
}

function partName(part, above) {
	if (above && part.node === `working/${above.node}`) return 'its own work';
	/* a label is words, or only a device or handler beside the number */
	return !part.label
		? part.node
		: /^(IRQ |[A-Z][a-z])/.test(part.label)
			? part.label
			: `${part.node} [${part.label}]`;
}

function peakWords(profile, peak) {
	if (!peak.roots)
		return [
			`peak ${peak.peak}: ${count(peak.count, 'operation')}, ${rangeText(profile, peak)}; its causes were not asked for`,
		];
	const [root] = peak.roots,
		most = peak.most_time;
	return [
		el('strong', {}, `Peak ${peak.peak}: ${rangeText(profile, peak)}`),
		` ${count(peak.count, 'operation')} (${percent(peak.count, profile.count)}), `,
		`${percent(peak.sum_ns, profile.sum_ns)} of the time`,
		partsOfTime(peak, root),
		root &&
		!(
			root.path.length === 2 &&
			(peak.tree.children || []).some((part) => part.node === root.path[1] && part.ns >= peak.sum_ns / 20)
		)
			? [
					`. Root cause in ${ofCount(root, peak)}: `,
					el('span', {class: 'cause'}, rootPath(root.path)),
					` (${percent(root.ns, peak.sum_ns)})`,
				]
			: '',
		most
			? [
					'; most time on one way: ',
					el('span', {class: 'cause'}, rootPath(most.path)),
					` (${percent(most.ns, peak.sum_ns)})`,
				]
			: '',
		peak.status === 'root cause found' ? '' : el('span', {class: 'tag'}, peak.status),
		peak.spans_gap ? el('span', {class: 'tag'}, `events lost in ${peak.spans_gap}`) : '',
	];
}

/* --- a peak ---------------------------------------------------------------------------- */

function partBranch(node, whole, depth, above) {
	const name = partName(node, above);
	const line = [
		bar([{class: classOfPart(node.node), ns: node.ns, label: name}], whole),
		el('span', {class: 'label', title: node.node}, depth && node.root ? el('strong', {}, name) : name),
		node.root
			? el('span', {class: 'tag root', title: 'Its maxcount is near the highest among its siblings'}, 'root')
			: null,
		el('span', {class: 'number'}, `${percent(node.ns, whole)}, ${duration(node.ns)}`),
		el(
			'span',
			{class: 'note'},
			`largest part of ${node.maxcount.toLocaleString('en')}, in ${node.operations.toLocaleString('en')}`,
		),
		node.spans_gap ? el('span', {class: 'tag'}, 'events lost') : null,
	];
	const inside = () => [
		node.functions ? el('p', {class: 'note'}, `called by ${node.functions.join(', ')}`) : null,
		node.resources
			? el(
					'p',
					{class: 'note'},
					node.resources
						.map((one) => `${one.resource} ${duration(one.ns)}, ${count(one.waits, 'wait')}`)
						.join('; '),
				)
			: null,
		node.children && node.own_ns ? el('p', {class: 'note'}, `its own part ${duration(node.own_ns)}`) : null,
		(node.children || []).map((child) => partBranch(child, whole, depth + 1, node)),
		node.cut ? el('p', {class: 'note'}, 'cut here (--depth)') : null,
		omitted(node.children_omitted, 'parts'),
	];
	return branch(line, inside, depth < 4 && node.root && (node.children || []).length > 0);
}

function classOfPart(name) {
	return /^blocked.*(device|disk)|^block-device/.test(name)
		? 'device'
		: name.startsWith('blocked')
		? 'blocked'
		: /preempted|wait-cpu/.test(name)
			? 'ready'
			: name.startsWith('interrupted')
				? 'interrupt'
				: name.startsWith('working/user')
					? 'user'
					: 'syscall';
}

function peakPanel(profile, peak, timeline) {
	const examples = (peak.roots || [])
		.filter((root) => root.example)
		.map((root) =>
			el(
				'p',
				{},
				button(
					'Show an example in the timeline',
					'An operation of this peak',
					() => goTo(timeline, root.example, root.example.begin, root.example.end),
					{class: 'example'},
				),
				` ${rootPath(root.path)}: ${named(root.example)}, ${duration(root.example.end - root.example.begin)} from ${clock(root.example.begin)}`,
				command(commandFor(root.example, root.example.begin, root.example.end)),
			),
		);
	return [
		el('p', {}, peakWords(profile, peak)),
		peak.apart && peak.apart.length
			? el(
					'p',
					{},
					`What goes with it: ${peak.apart.map((trait) => trait.sentence).join('. ')}.`,
				)
			: null,
		examples[0],
		peak.tree
			? [el('h4', {}, 'What its operations spent their time on'), partBranch(peak.tree, peak.sum_ns, 0)]
			: null,
		examples.length > 1
			? el(
					'details',
					{class: 'more'},
					el('summary', {}, count(examples.length - 1, 'more example')),
					examples.slice(1),
				)
			: null,
	];
}

/* `first`: the number of the peak that is shown first. */
function operationPanel(profile, timeline, first) {
	const panel = el('div', {id: 'peak', class: 'card'}),
		box = el('div', {});
	const choose = (peak, quiet) => {
		for (const shade of box.querySelectorAll('.peak'))
			shade.classList.toggle('chosen', shade.dataset.peak === String(peak.peak));
		fill(panel, peakPanel(profile, peak, timeline));
		const root = (peak.roots || []).find((one) => one.example);
		if (root) {
			const row = findRow(root.example, root.example.begin),
				{begin, end} = root.example;
			timeline.show(begin - (end - begin) * 0.35, end + (end - begin) * 0.35);
			if (row >= 0) {
				timeline.selected = {
					row,
					begin,
					end,
					ns: end - begin,
					label: 'this operation',
					kind: SYSCALL,
					stretch: true,
				};
				timeline.reveal(row);
				timeline.onselect(timeline.selected);
			}
		}
		if (!quiet) announce(panel.firstChild.textContent);
	};
	const percentiles = [
		['p50_ns', 'half up to'],
		['p90_ns', '90 % up to'],
		['p99_ns', '99 % up to'],
	]
		.filter(([key]) => profile[key] !== null)
		.map(([key, words]) => `${words} ${duration(profile[key])}`)
		.join(', ');
	box.append(
		el('h3', {}, scopeText(profile)),
		el(
			'p',
			{},
			`${count(profile.count, 'operation')}, ${duration(profile.sum_ns)} in all, from ${duration(profile.min_ns)} to ` +
				`${duration(profile.max_ns)}${percentiles ? `; ${percentiles}` : ''}`,
		),
		causeLegend(profile),
		...histogram(profile, choose),
		el(
			'p',
			{class: 'note'},
			profile.peaks.length ? 'Click a peak for its causes and an example.' : 'It has no peaks.',
		),
		panel,
	);
	for (const one of profile.correlations || [])
		box.append(
			el('p', {}, `Latency by ${one.sentence} (${count(one.operations, 'operation')}):`),
			scatter(one),
		);
	put(box, heatMap(profile, timeline));
	/* the slowest one that can be judged */
	const slowest =
		profile.peaks.find(({peak}) => peak === first) ||
		profile.peaks.findLast((peak) => peak.roots && peak.status !== 'too few operations') || profile.peaks.at(-1);
	if (slowest) choose(slowest, true);
	else panel.remove();
	return box;
}

function comparisonSection() {
	const {comparison} = REPORT;
	if (!comparison) return null;
	return section(
		'comparison',
		`Compared with ${comparison.file}`,
		`${count(comparison.changed, 'operation')} changed by ` + `${comparison.threshold} octaves or more.`,
		table(
			[
				{title: 'Operation', of: scopeText},
				{
					title: 'Distance',
					number: true,
					of: (one) => (one.distance === null ? '' : one.distance.toFixed(2)),
				},
				{title: 'Slower', number: true, of: (one) => (one.slower === null ? '' : one.slower.toFixed(2))},
				{title: 'Changed', of: (one) => (one.changed ? 'changed' : '')},
				{title: 'Count', number: true, of: (one) => one.count.toLocaleString('en')},
				{title: 'Saved count', number: true, of: (one) => one.saved_count.toLocaleString('en')},
			],
			comparison.operations,
			null,
		),
	);
}

/* What took the time, a sentence a peak; each shows that peak. */
function sentenceList(sentences, profiles, choose) {
	return el(
		'ul',
		{class: 'headline'},
		sentences.map((one) =>
			el(
				'li',
				{},
				profiles[one.profile]
					? button(one.sentence, 'Show this peak', () => choose(profiles[one.profile], true, one.peak), {class: 'says'})
					: one.sentence,
			),
		),
	);
}

PAGES.profile = (timeline, main) => {
	const profiles = REPORT.profiles,
		place = el('div', {id: 'operation'});
	const choose = (profile, scroll, peak) => {
		place.replaceChildren(operationPanel(profile, timeline, peak));
		for (const line of document.querySelectorAll('#answer tr'))
			line.classList.toggle('chosen', line.dataset.place === String(profiles.indexOf(profile)));
		if (scroll) document.getElementById('latencies').scrollIntoView({block: 'start'});
	};
	const answer = table(
		[
			{title: 'Operation', of: scopeText},
			{title: 'Count', number: true, of: (one) => one.count.toLocaleString('en')},
			{title: 'Total', number: true, of: (one) => duration(one.sum_ns)},
			{title: 'Half up to', number: true, of: (one) => (one.p50_ns === null ? '' : duration(one.p50_ns))},
			{title: '99 % up to', number: true, of: (one) => (one.p99_ns === null ? '' : duration(one.p99_ns))},
			{title: 'Longest', number: true, of: (one) => duration(one.max_ns)},
			{title: 'Latencies', of: spark},
			{title: 'Peaks', number: true, of: (one) => one.peaks.length},
		],
		profiles,
		(profile) => choose(profile, true),
	);
	answer.querySelectorAll('tbody tr').forEach((line, i) => {
		line.dataset.place = i;
	});
	const sentences = REPORT.answer || [],
		/* what is said first is shown first: the most time may be that of who had nothing to do */
		top = sentences.find((one) => profiles[one.profile]),
		first = top ? profiles[top.profile] : profiles[0];
	main.append(
		section(
			'answer',
			'Where operations spent their time',
			REPORT.filters ? `Only: ${REPORT.filters}` : null,
			sentences.length
				? sentenceList(sentences, profiles, choose)
				: first
				? el(
						'div',
						{class: 'headline'},
						el(
							'p',
							{},
							el('strong', {}, scopeText(first)),
							` took most: ${duration(first.sum_ns)} in ` +
								`${count(first.count, 'operation')}, in ${count(first.peaks.length, 'peak')}.`,
						),
						el(
							'ul',
							{},
							first.peaks.map((peak) => el('li', {}, peakWords(first, peak))),
						),
					)
				: el('p', {}, 'There are no such operations.'),
			coverageCard(),
			first ? answer : null,
			omitted(REPORT.profiles_omitted, 'operations'),
		),
	);
	main.append(...whatIfTables());
	const comparison = comparisonSection();
	if (comparison) main.append(comparison);
	if (first) main.append(section('latencies', 'Latencies and what their peaks are made of', null, place));
	main.append(
		section(
			'picture',
			'Timeline',
			'The threads of the examples, and who their waits were led to.',
			timeline.element,
		),
	);
	if (first) choose(first, false, top?.peak);
};
