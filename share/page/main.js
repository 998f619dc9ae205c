/* SPDX-License-Identifier: MIT */
/* Puts the page together. */

function coverageCard() {
	const {coverage} = REPORT,
		lost = coverage.discarded_events,
		gaps = (coverage.gaps || []).length,
		damage = (coverage.damage || []).length;
	const good = !coverage.caution && !lost && !gaps && !damage && !coverage.discarded_packets;
	const unknown = coverage.unknown_blocked_share;
	const head = good
		? `Nothing was lost: ${count(coverage.events, 'event')} read`
		: [
				lost ? `${count(lost, 'event')} lost by the tracer` : '',
				coverage.discarded_packets ? `${count(coverage.discarded_packets, 'packet')} lost` : '',
				gaps ? count(gaps, 'gap') : '',
				damage ? `${count(damage, 'damaged file')}` : '',
			]
				.filter(Boolean)
				.join(', ');
	return el(
		'details',
		{class: good ? 'coverage good' : 'coverage lossy', open: !good && gaps + damage < 6},
		el(
			'summary',
			{},
			good ? '✓ ' : '⚠ ',
			coverage.caution ? `Caution: ${coverage.caution}. ` : '',
			head,
			unknown ? ` · ${percent(unknown, 1)} of the blocked time ended with unknown cause` : '',
			coverage.missing.length ? ` · ${count(coverage.missing.length, 'kind')} of events not recorded` : '',
		),
		el(
			'ul',
			{},
			el(
				'li',
				{},
				`Not seen: ${count(coverage.entries_unseen, 'entry', 'entries')} and ${count(coverage.exits_unseen, 'exit')} of system calls and ` +
					`interrupts, ${count(coverage.wakeups_unseen, 'wake-up')}`,
			),
			(coverage.damage || []).map((one) =>
				el('li', {}, `Damaged: ${one.file}${one.what ? `: ${one.what}` : ''}`),
			),
			(coverage.gaps || [])
				.slice(0, 20)
				.map((gap) =>
					el(
						'li',
						{},
						`Events lost on CPU ${gap.cpu} from ${clock(gap.begin)} for ${duration(gap.end - gap.begin)}` +
							`${gap.events === null ? '' : `: ${gap.events.toLocaleString('en')}`}`,
					),
				),
			gaps > 20 ? el('li', {}, `and ${gaps - 20} more gaps`) : null,
			coverage.missing.map((text) => el('li', {}, `Missing: ${text}`)),
		),
	);
}

/* Of several hosts: whose clock was put on whose, and how far that may be off. */
function clockText(host) {
	if (!MANY_HOSTS || host.clock_from === 'own') return null;
	const error = host.clock_error === null ? 'error not known' : `±${duration(host.clock_error)}`,
		by = {packets: ', by packets', vcpus: ', by when its virtual CPUs ran'}[host.clock_from] || ', as given';
	return `clock moved by ${duration(host.clock_offset)} (${error}${by})`;
}

/* Of a guest: which process of which other host runs it. */
function guestText(host) {
	if (!host.guest || !host.guest.machine) return null;
	const {machine} = host.guest,
		outside = HOSTS[machine.host];
	return `guest of ${(outside && outside.hostname) || `host ${machine.host}`}: ${machine.name} (${machine.pid})`;
}

function header() {
	const hosts = HOSTS.map(
		(host) =>
			`${host.hostname || 'unknown host'}: ${[
				host.kernel && `Linux ${host.kernel}`,
				host.tracer,
				host.cpus && count(host.cpus, 'CPU'),
				clockText(host),
				guestText(host),
			]
				.filter(Boolean)
				.join(', ')}`,
	);
	document.getElementById('head').append(
		el(
			'div',
			{class: 'title'},
			el('h1', {}, `whylate ${KIND}`),
			el(
				'p',
				{},
				[...new Set(hosts)].map((text) => el('span', {class: 'host'}, text)),
				el(
					'span',
					{class: 'host'},
					`${duration(LENGTH)} from ${clock(0, true)} to ${clock(LENGTH, clock(0, true).slice(0, 10) !== clock(LENGTH, true).slice(0, 10))}`,
				),
			),
		),
		el('nav', {'aria-label': 'Parts of the page', id: 'nav'}),
		themeSwitch(),
	);
}

function navigation() {
	const names = {
		'stands-out': 'What stands out',
		answer: KIND === 'overview' ? 'Waited for' : 'Answer',
		picture: KIND === 'requests' ? 'One request' : 'Timeline',
		comparison: 'Comparison',
		latencies: 'Latencies',
		scatter: 'Over time',
		slowest: 'The slowest',
		'what-if': 'What if',
		path: 'Critical path',
		ways: 'Ways',
		flame: KIND === 'functions' ? 'Samples' : 'Flame graph',
		lineage: 'Lineage',
		causality: 'Causes',
		summary: KIND === 'requests' ? 'Causes' : 'States',
		graph: 'Graph',
		locks: 'Locks',
		walk: 'Walk',
		'stand-outs': 'Stand out',
		bottlenecks: 'Bottlenecks',
		functions: 'Functions',
		histograms: 'Latencies',
		'two-ways': 'Ways',
		causes: 'Causes',
		parts: 'Parts',
		record: 'To record',
		findings: 'Missing',
		threads: 'Threads',
		waits: 'Waits',
		calls: 'Calls',
	};
	for (const {id} of document.querySelectorAll('main > section'))
		if (names[id]) document.getElementById('nav').append(el('a', {href: `#${id}`}, names[id]));
}

function start() {
	const main = document.getElementById('main'),
		timeline = TIMELINE.levels ? makeTimeline() : null;
	header();
	PAGES[KIND](timeline, main);
	main.append(
		el(
			'footer',
			{},
			`Made by whylate ${REPORT.tool.version}. The data of this page is the report as JSON (${REPORT.schema}), in the element “report”.`,
		),
	);
	navigation();
	globalThis.whylate = {report: REPORT, rows: ROWS, length_ns: LENGTH, data: TIMELINE, commandFor}; /* for tests, and for the curious */
	if (timeline) {
		if (!ROWS.length) document.getElementById('picture').hidden = true;
		timeline.resize();
		if (location.hash) goToPlace(timeline);
		addEventListener('popstate', () => goToPlace(timeline));
		Object.assign(globalThis.whylate, {timeline, lanes: LANES, cellAt, linesAbout, flames: typeof FLAMES === 'undefined' ? [] : FLAMES});
		served.begin(timeline);
	}
	document.documentElement.dataset.ready = 'yes';
}

start();
