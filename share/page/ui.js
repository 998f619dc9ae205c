/* SPDX-License-Identifier: MIT */
/* Small helpers that make elements; texts go in as text, never as markup, whatever they hold. */

/* el('div', {class: 'x', onclick: f, 'aria-label': '…'}, child, 'text', [more]) */
function el(tag, attributes, ...children) {
	return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
	return build(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function build(element, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
		else if (name === 'width%')
			element.style.width = `${value}%`; /* not an attribute: the policy forbids those */
		else if (value !== undefined && value !== null && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	}
	put(element, children);
	return element;
}

/* Children as they are written down: lists in lists, and nothing for what is not there. */
function put(element, ...children) {
	element.append(...children.flat(5).filter((child) => child !== undefined && child !== null && child !== false));
}

function fill(element, ...children) {
	element.replaceChildren();
	put(element, children);
}

function section(id, title, about, ...children) {
	return el(
		'section',
		{id, 'aria-labelledby': `${id}-title`},
		el('h2', {id: `${id}-title`}, title),
		about && el('p', {class: 'about'}, about),
		children,
	);
}

/* What a list leaves out is said. */
function omitted(number, what) {
	return number
		? el(
				'p',
				{class: 'note'},
				`${number.toLocaleString('en')} more ${what} left out of the report (--limit 0 keeps all).`,
			)
		: null;
}

function button(text, title, onclick, extra) {
	return el('button', {type: 'button', title, onclick, ...extra}, text);
}

/* columns: [{title, of(row) → text or element, number: bool}]. On narrow screens a row is a paragraph in which each value has its title
 * before it (report.css); the roles keep it a table to those who hear it. */
function table(columns, rows, onrow, caption) {
	const body = el('tbody', {role: 'rowgroup'});
	for (const row of rows) {
		const line = el(
			'tr',
			{class: onrow ? 'link' : null, role: 'row'},
			columns.map((column, i) => {
				const content = column.of(row);
				/* a row that leads somewhere does so from the keyboard too */
				return el(
					i ? 'td' : 'th',
					{
						class: column.number ? 'number' : null,
						scope: i ? null : 'row',
						role: i ? 'cell' : 'rowheader',
						'data-title': i && column.title ? column.title : null,
					},
					!i && onrow
						? button(
								content,
								'Show it in the timeline',
								(event) => {
									event.stopPropagation();
									onrow(row);
								},
								{class: 'plain'},
							)
						: content,
				);
			}),
		);
		if (onrow) line.addEventListener('click', () => onrow(row));
		body.append(line);
	}
	return el(
		'div',
		{class: 'scroll'},
		el(
			'table',
			{role: 'table'},
			caption && el('caption', {}, caption),
			el(
				'thead',
				{role: 'rowgroup'},
				el(
					'tr',
					{role: 'row'},
					columns.map((column) =>
						el(
							'th',
							{class: column.number ? 'number' : null, scope: 'col', role: 'columnheader'},
							column.title || el('span', {class: 'unseen'}, 'as a bar'),
						),
					),
				),
			),
			body,
		),
	);
}

/* A bar of parts: [{class, ns, label}]; the label tells it without colours. */
function bar(parts, whole, width) {
	const shown = parts.filter((part) => part.ns > 0);
	const text = shown.map((part) => `${part.label} ${duration(part.ns)} (${percent(part.ns, whole)})`).join(', ');
	const inner = el(
		'span',
		{class: 'bar', role: 'img', 'aria-label': text, title: text},
		shown.map((part) => el('span', {class: `c-${part.class}`, 'width%': (100 * part.ns) / whole})),
	);
	if (width !== undefined) inner.style.width = `${width}%`;
	return inner;
}

function wib(total) {
	/* where that is known, without a CPU by itself */
	const ready = total.ready_ns || 0,
		known = total.ready_ns !== undefined;
	return [
		{class: 'user', ns: total.working_ns, label: 'working'},
		{
			class: 'interrupt',
			ns: total.interrupted_ns - ready,
			label: known ? 'interrupted' : 'interrupted or waiting for a CPU',
		},
		{class: 'ready', ns: ready, label: 'preempted or waiting for a CPU'},
		{class: 'blocked', ns: total.blocked_ns, label: 'blocked'},
		{class: 'unknown', ns: total.unknown_ns, label: 'unknown'},
	];
}

function announce(text) {
	document.getElementById('live').textContent = text;
}

/* A line to be copied. */
function command(text) {
	if (!text) return null;
	const copy = button('Copy', 'Copy this command', async () => {
		try {
			await navigator.clipboard.writeText(text);
			announce('Copied');
			copy.textContent = 'Copied';
		} catch {
			getSelection().selectAllChildren(line);
		}
	});
	const line = el('code', {}, text);
	return el('p', {class: 'command'}, line, ' ', copy);
}

/* --- tooltips ---------------------------------------------------------------------- */

const tip = document.getElementById('tip');

function showTip(x, y, lines) {
	tip.replaceChildren(...lines.map((line, i) => el(i ? 'div' : 'strong', {}, line)));
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 6))}px`;
	tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 10) : y + 18}px`;
}

function hideTip() {
	tip.hidden = true;
}

/* --- light and dark -------------------------------------------------------------------- */

const themeListeners = [];

function themeSwitch() {
	const dark = () =>
		(document.documentElement.dataset.theme ||
			(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
	const text = () => (dark() ? '☀ Light' : '☾ Dark');
	const change = button(
		text(),
		'Light or dark colours',
		() => {
			document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
			update();
		},
		{id: 'theme'},
	);
	const update = () => {
		change.textContent = text();
		for (const listener of themeListeners) listener();
	};
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update);
	/* paper is white */
	let before;
	addEventListener('beforeprint', () => {
		before = document.documentElement.dataset.theme;
		document.documentElement.dataset.theme = 'light';
		update();
	});
	addEventListener('afterprint', () => {
		if (before) document.documentElement.dataset.theme = before;
		else delete document.documentElement.dataset.theme;
		update();
	});
	return change;
}
