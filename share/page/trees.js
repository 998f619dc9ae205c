/* SPDX-License-Identifier: MIT */
/* The two trees of each thread: where its time went (Working, Interrupted, Blocked, with the instances of every
 * node), and what its waits were for and why they took so long (causality). Branches are made when they are opened.
 */

/* --- Working / Interrupted / Blocked --------------------------------------------- */

/* A branch that can be opened; `inside` makes what is in it. */
function branch(summary, inside, open) {
	const body = el('div', {class: 'inside'});
	const details = el('details', {}, el('summary', {}, summary), body);
	let made = false;
	const make = () => {
		if (made || !details.open) return;
		made = true;
		put(body, inside());
	};
	details.addEventListener('toggle', make);
	details.make = make;
	if (open) {
		details.open = true;
		make();
	}
	return details;
}

function nodeLine(node, whole) {
	const kind = node.path.length ? classOfKey(node.path.join('/')) : UNKNOWN;
	const gap = node.spans_gap ? ' *' : '';
	return [
		bar([{class: node.path.length ? CLASSES[kind].key : 'all', ns: node.ns, label: node.label}], whole),
		el('span', {class: 'label'}, node.label + gap),
		el('span', {class: 'number'}, duration(node.ns)),
		el('span', {class: 'note'}, `${percent(node.ns, whole)}, ${node.count.toLocaleString('en')}×`),
	];
}

function instanceList(timeline, thread, node) {
	const list = thread.instances[node.id] || [],
		left = thread.instances[`${node.id}_omitted`];
	if (!list.length) return null;
	return branch([el('span', {class: 'note'}, `${count(list.length, 'instance')}, longest first`)], () => [
		el(
			'div',
			{class: 'instances'},
			list
				.slice(0, 200)
				.map((one) =>
					button(
						duration(one.ns),
						`${exactly(one.ns)} from ${clock(one.begin)}${one.spans_gap ? ', events were lost in it' : ''}`,
						() => goTo(timeline, thread, one.begin, one.end),
						{class: 'chip', 'data-begin': one.begin},
					),
				),
		),
		omitted(left, 'instances'),
	]);
}

function wibNode(timeline, thread, node, depth) {
	const children = node.children,
		whole = thread.summary.ns;
	const inside = () => [
		instanceList(timeline, thread, node),
		children.map((child) => wibNode(timeline, thread, child, depth + 1)),
	];
	return branch(nodeLine(node, whole), inside, depth < 2 && node.ns >= whole * 0.02 && children.length > 0);
}

/* --- causality -------------------------------------------------------------------------- */

const waitIndex = new Map(); /* "host:tid:begin" → [thread, chain of waits down to it] */

function indexWaits() {
	const add = (thread, waits, above) => {
		for (const wait of waits || []) {
			const chain = [...above, wait],
				key = `${wait.host}:${wait.tid}:${wait.begin}`;
			if (!waitIndex.has(key)) waitIndex.set(key, [thread, chain]);
			add(thread, wait.children, chain);
		}
	};
	for (const thread of REPORT.threads || []) add(thread, thread.causality, []);
	waitIndex.ready = true;
}

/* The wait of the report's causality that begins there, NULL. */
function waitOf(row, begin) {
	if (KIND !== 'delay') return null;
	if (!waitIndex.ready) indexWaits();
	const found = waitIndex.get(`${row.host}:${row.tid}:${begin}`);
	return found ? found[1][found[1].length - 1] : null;
}

function causeText(wait) {
	const {cause} = wait,
		times = [];
	if (cause.queued_ns !== undefined) times.push(`queued ${duration(cause.queued_ns)}`);
	if (cause.served_ns !== undefined) times.push(`served ${duration(cause.served_ns)}`);
	return [
		el('span', {class: 'cause'}, cause.label || cause.kind),
		times.length ? `, ${times.join(', ')}` : '',
		cause.certainty === 'inferred'
			? el('span', {class: 'tag', title: 'Concluded, not shown by an event'}, 'inferred')
			: null,
		wait.spans_gap ? el('span', {class: 'tag', title: 'Events were lost meanwhile'}, 'events lost') : null,
	];
}

function waitLine(wait, whole) {
	return [
		bar([{class: 'blocked', ns: wait.ns, label: 'blocked'}], whole),
		el('span', {class: 'number'}, duration(wait.ns)),
		el(
			'span',
			{class: 'label'},
			`${named(wait)} `,
			el(
				'span',
				{class: 'note'},
				wait.leaf.replace(/^blocked\/(syscall:)?/, ''),
				wait.resource ? ` on ${resourceText(wait.resource)}` : '',
			),
		),
		el('span', {class: 'because'}, causeText(wait)),
	];
}

function viaText(via) {
	return el(
		'p',
		{class: 'note'},
		via.map((one) => `${one.kind} ${one.label}${one.name ? ` from ${named(one)}` : ''}`).join(', then '),
	);
}

function waitInside(timeline, wait, whole) {
	const {share} = wait;
	return [
		el(
			'p',
			{class: 'buttons'},
			button('Show in timeline', clock(wait.begin), () => goTo(timeline, wait, wait.begin, wait.end), {
				class: 'show',
			}),
			el('span', {class: 'note'}, ` from ${clock(wait.begin)}, ${exactly(wait.ns)}`),
		),
		wait.via ? viaText(wait.via) : null,
		wait.lock
			? el('p', {class: 'note'}, `${wait.lock.kind} ${wait.lock.name || ''}${lockHolders(wait.lock)}`)
			: null,
		share
			? el(
					'p',
					{},
					`Meanwhile ${named(share)} `,
					bar(wib(share), wait.ns),
					' ',
					el(
						'span',
						{class: 'note'},
						wib(share)
							.filter((part) => part.ns > 0)
							.map((part) => `${part.label} ${duration(part.ns)}`)
							.join(', '),
					),
				)
			: null,
		wait.cycle ? el('p', {class: 'note'}, 'That one waited for this one: explained above.') : null,
		waitList(timeline, wait.children || [], whole, wait.children_omitted),
	];
}

function lockHolders(lock) {
	return lock.holders && lock.holders.length
		? `, held by ${lock.holders
				.map(
					(one) =>
						`${named(one)} ${duration(one.ns)}` + `${one.certainty === 'inferred' ? ' (inferred)' : ''}`,
				)
				.join(', ')}`
		: '';
}

/* Longest first, many at a time. */
function waitList(timeline, waits, whole, left) {
	const sorted = [...waits].sort((a, b) => b.ns - a.ns),
		list = el('div', {});
	let shown = 0;
	const more = button('', '', () => grow(), {class: 'chip'});
	const grow = () => {
		for (const wait of sorted.slice(shown, shown + 30))
			list.insertBefore(waitBranch(timeline, wait, whole), more);
		shown = Math.min(shown + 30, sorted.length);
		more.textContent = `${sorted.length - shown} more`;
		more.hidden = shown === sorted.length;
	};
	list.append(more);
	list.growTo = (wait) => {
		while (shown < sorted.length && sorted.indexOf(wait) >= shown) grow();
	};
	grow();
	/* what took most of the time is open: that is what one came for */
	if (sorted.length && sorted[0].ns >= whole / 2 && whole) list.firstChild.open = true;
	return [list, omitted(left, 'shorter waits')];
}

const waitBranches = new Map(); /* wait → its <details> */

function waitBranch(timeline, wait, whole) {
	const details = branch(waitLine(wait, whole), () => waitInside(timeline, wait, whole));
	details.classList.add('wait');
	waitBranches.set(wait, details);
	return details;
}

/* From the timeline to the tree: opens what the wait is in, and goes there. */
let showThread = () => {};

function revealWait(row, begin) {
	const [thread, chain] = waitIndex.get(`${row.host}:${row.tid}:${begin}`);
	showThread(thread);
	let details = null;
	for (const wait of chain) {
		const list = details
			? details.querySelectorAll(':scope > .inside > div')
			: [document.querySelector('#causality .waits > div')];
		for (const one of list) one?.growTo?.(wait);
		details = waitBranches.get(wait);
		if (!details) return;
		details.open = true;
		details.make();
	}
	for (const old of document.querySelectorAll('.here')) old.classList.remove('here');
	details.classList.add('here');
	details.scrollIntoView({block: 'center'});
	details.firstChild.focus({preventScroll: true});
}
