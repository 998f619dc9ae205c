/* SPDX-License-Identifier: MIT */
/* --what-if, as tables, with a bar for each: recorded beside re-timed. Of threads and bottlenecks (overview), operations (profile), latencies (requests), what differs (diff). */

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

/* Recorded above, re-timed below it, on one scale for all rows. */
function figureColumn(before, after, rows) {
	const most = Math.max(1, ...rows.flatMap((one) => [before(one), after(one)])),
		line = (kind, label, ns) => el('span', {class: `c-${kind}`, 'width%': (100 * Math.max(0, ns)) / most, title: `${label}: ${duration(ns)}`});
	return {
		of: (one) =>
			el(
				'span',
				{class: 'pair', role: 'img', 'aria-label': `${duration(before(one))} recorded, ${duration(after(one))} re-timed`},
				line('all', 'Recorded', before(one)),
				line('then', 'Re-timed', after(one)),
			),
	};
}

/* Which bar of figureColumn() is which, and what both are of. */
function figureLegend(of) {
	const entry = (kind, text) => el('li', {}, el('span', {class: `swatch c-${kind}`}), text);
	return el('ul', {class: 'legend solid'}, entry('all', `above: recorded${of}`), entry('then', `below: re-timed${of}`));
}

function rangeWords(one) {
	return one.saved_from_ns === one.saved_to_ns ? '' : `${duration(one.saved_from_ns)} to ${duration(one.saved_to_ns)}`;
}

function threadsThen(answer) {
	const before = (one) => one.recorded_ns,
		after = (one) => one.recorded_ns - one.saved_ns;
	return [
		answer.threads.length ? figureLegend('') : null,
		wideTable(
			'Threads, recorded and re-timed',
			[{title: 'Thread', of: named}, ...beforeAfter(before, after, ''), changeColumn(before, after), figureColumn(before, after, answer.threads)],
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
		answer.operations.length ? figureLegend(', total') : null,
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
				figureColumn(before, after, answer.operations),
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
		figureLegend(''),
		wideTable('Latencies, recorded and re-timed', [{title: 'Latency', of: ([title]) => title}, ...beforeAfter(before, after, ''), changeColumn(before, after), figureColumn(before, after, rows)], rows, null),
	];
}

const meansOf = (a, b, one) => (a === b ? count(a, one) : `${a.toLocaleString('en')} and of ${count(b, one)}`);

/* Here A is as recorded, B re-timed; what either was spent on is below, as of any two sides. */
function sidesThen() {
	const target = REPORT.target || REPORT.changed_most,
		{a, b} = REPORT,
		ns = REPORT.unit === 'ns',
		rows = [];
	if (target) rows.push({what: `From ${target.begin} to ${target.end}`, before: target.a_ns, after: target.b_ns});
	if (ns && (a.requests || []).length && (b.requests || []).length)
		rows.push({what: `A request, the mean of ${meansOf(a.requests.length, b.requests.length, 'request')}`, before: Math.round(a.mean), after: Math.round(b.mean)});
	const calls = REPORT.calls.filter((call) => call.a_count && call.b_count),
		changed = calls.filter((call) => Math.round(call.a_mean) !== Math.round(call.b_mean));
	for (const call of changed)
		rows.push({what: `${call.name}, the mean of ${meansOf(call.a_count, call.b_count, 'call')}`, before: Math.round(call.a_mean), after: Math.round(call.b_mean)});
	if (!rows.length) return el('p', {}, 'Nothing that this report compares would take another time.');
	const before = (one) => one.before,
		after = (one) => one.after;
	return [
		el('p', {class: 'note'}, 'A is what was recorded, B the same re-timed.'),
		wideTable('Recorded and re-timed', [{title: 'What', of: (one) => one.what}, ...beforeAfter(before, after, ''), changeColumn(before, after)], rows, null),
		calls.length > changed.length ? el('p', {class: 'note'}, `${count(calls.length - changed.length, 'other system call takes', 'other system calls take')} as long.`) : null,
		omitted(REPORT.calls_omitted, 'calls'),
	];
}

/* What --what-if leaves out, as the text says it (replay_limits()). */
function limitsThen(answer) {
	const words = [];
	if (answer.all_busy_ns >= LENGTH * 0.05)
		words.push(
			`All CPUs were busy for ${duration(answer.all_busy_ns)} (${percent(answer.all_busy_ns, LENGTH)}) of the window: who waits for one no longer may do so elsewhere.`,
		);
	if ((answer.orders || []).length) words.push(`The order is kept of ${answer.orders.join(', ')}, where others would now come first.`);
	if (answer.cycles)
		words.push(
			`${count(answer.cycles, 'wait was', 'waits were')} for who was waiting, too: what ${answer.cycles === 1 ? 'that one' : 'these'} waited by then is taken as recorded.`,
		);
	words.push("Every thread does the same in the same order as recorded; caches, memory, the CPU's frequency and queues served in another order are left out.");
	return words.map((text) => el('p', {class: 'note'}, text));
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
			{overview: threadsThen, profile: operationsThen, requests: latenciesThen, diff: sidesThen}[KIND](answer),
			limitsThen(answer),
		),
	];
}
