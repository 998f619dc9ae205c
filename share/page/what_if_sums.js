/* SPDX-License-Identifier: MIT */
/* --what-if, as tables: recorded beside re-timed. Of threads and bottlenecks (overview), operations (profile), latencies (requests). */

/* rows: anything; before(row), after(row) in ns, null where there is none */
function beforeAfter(before, after, of) {
	const words = (ns) => (ns === null || ns === undefined ? 'none' : duration(ns));
	return [
		{title: `Recorded${of}`, number: true, of: (one) => words(before(one))},
		{title: `Re-timed${of}`, number: true, of: (one) => words(after(one))},
	];
}

function changeColumn(before, after) {
	return {title: 'Change', number: true, of: (one) => changeWords(after(one) - before(one))};
}

function rangeWords(one) {
	return one.saved_from_ns === one.saved_to_ns ? '' : `${duration(one.saved_from_ns)} to ${duration(one.saved_to_ns)}`;
}

function threadsThen(answer) {
	const before = (one) => one.recorded_ns,
		after = (one) => one.recorded_ns - one.saved_ns;
	return [
		wideTable(
			'Threads, recorded and re-timed',
			[{title: 'Thread', of: named}, ...beforeAfter(before, after, ''), changeColumn(before, after)],
			answer.threads,
			null,
			'From begin to end of each thread',
		),
		omitted(answer.threads_omitted, 'threads'),
		answer.stands_out.length
			? wideTable(
					'What would stand out then',
					[{title: 'What would stand out then', of: (one) => one.then.sentence}, ...beforeAfter(before, (one) => one.then.ns, '')],
					answer.stands_out,
					null,
				)
			: null,
	];
}

function operationsThen(answer) {
	const before = (one) => one.recorded.sum_ns,
		after = (one) => one.changed.sum_ns;
	return [
		wideTable(
			'Operations, recorded and re-timed',
			[
				{title: 'Operation', of: scopeText},
				{title: 'Count', number: true, of: (one) => one.count.toLocaleString('en')},
				...beforeAfter(before, after, ', total'),
				changeColumn(before, after),
				{title: 'Of it not sure', number: true, of: rangeWords},
				...beforeAfter(
					(one) => one.recorded.p99_ns,
					(one) => one.changed.p99_ns,
					', 99 % up to',
				),
			],
			answer.operations,
			null,
		),
		omitted(answer.operations_omitted, 'operations'),
		answer.alike ? el('p', {class: 'note'}, `${answer.alike.toLocaleString('en')} others would take as long as recorded.`) : null,
	];
}

function latenciesThen(answer) {
	const rows = [
			['Mean', 'mean_ns'],
			['Half up to', 'p50_ns'],
			['90 % up to', 'p90_ns'],
			['99 % up to', 'p99_ns'],
			['Longest', 'max_ns'],
		],
		before = ([, key]) => answer.recorded[key],
		after = ([, key]) => answer.changed[key],
		{within} = answer;
	return [
		el(
			'p',
			{},
			`Of ${count(answer.requests, 'request')} ${answer.sooner.toLocaleString('en')} would be shorter, ${answer.later.toLocaleString('en')} longer.`,
			within &&
				` Within ${duration(within.ns)}: ${percent(within.recorded, 1)} as recorded, ${percent(within.changed, 1)} re-timed.`,
		),
		wideTable('Latencies, recorded and re-timed', [{title: 'Latency', of: ([title]) => title}, ...beforeAfter(before, after, ''), changeColumn(before, after)], rows, null),
	];
}

function whatIfTables() {
	const answer = REPORT.what_if;
	if (!answer) return [];
	return [
		section(
			'what-if',
			'What if',
			pickedWords(answer),
			bestTable(answer.best),
			{overview: threadsThen, profile: operationsThen, requests: latenciesThen}[KIND](answer),
			(answer.orders || []).length
				? el('p', {class: 'note'}, `The order is kept of ${answer.orders.join(', ')}, where others would now come first.`)
				: null,
			el(
				'p',
				{class: 'note'},
				"Every thread does the same in the same order as recorded; caches, memory, the CPU's frequency and queues served in another order are left out.",
			),
		),
	];
}
