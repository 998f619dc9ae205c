/* SPDX-License-Identifier: MIT */
/* What all pages with --what-if have of it: the rules and what they pick, the best that was tried, changes in words. */

function changeWords(ns) {
	return ns ? `${duration(Math.abs(ns))} ${ns < 0 ? 'less' : 'more'}` : 'the same';
}

/* A table without anything to be focused in it, wide enough to be scrolled: by keys, too. */
function wideTable(label, ...of) {
	const scroll = table(...of);
	for (const [name, value] of Object.entries({tabindex: 0, role: 'group', 'aria-label': label})) scroll.setAttribute(name, value);
	return scroll;
}

/* What --what-if best tried. */
function bestTable(best) {
	if (!best || !best.length) return null;
	return wideTable(
		'What would save most',
		[
			{title: 'What would save most, of what was tried', of: (one) => one.rules.join(' and ')},
			{title: 'Sooner', number: true, of: (one) => duration(one.saved_ns)},
		],
		best,
		null,
	);
}

function pickedWords({rules, picked}) {
	return `${rules.join(' and ')}: ${count(picked.count, 'stretch', 'stretches')}, ${duration(picked.ns)} as recorded.`;
}
