/* SPDX-License-Identifier: MIT */
/* Where one is in the timeline is in the page's address, so that it can be sent, and Back goes back:
 *
 *   #from=25000000&to=900000000&row=3&at=42942687&sentence=0     ns since the window's begin
 *   #flame=waits&in=app (235)&in=futex&find=vda                   the box of a flame graph, and what is searched in it
 *
 * Whole steps (a click, a jump) make an entry of the history; zooming and moving replace the last one.
 */
const FLAME_PLACES = new Map(); /* id → {icicle(): null if it is not the one that is shown, show()} */
let placeTimer = null,
	placing = false;

function placeText(timeline) {
	const words = [];
	if (timeline.from > 0 || timeline.to < LENGTH)
		words.push(`from=${Math.round(timeline.from)}`, `to=${Math.round(timeline.to)}`);
	if (timeline.selected) words.push(`row=${timeline.selected.row}`, `at=${timeline.selected.begin}`);
	const chosen = document.querySelector('.verdict li.chosen');
	if (chosen) words.push(`sentence=${chosen.dataset.sentence}`);
	words.push(...flameWords());
	return words.length ? `#${words.join('&')}` : '';
}

/* Of the flame graph that is zoomed or searched. */
function flameWords() {
	for (const [id, {icicle}] of FLAME_PLACES) {
		const shown = icicle();
		if (!shown || !(shown.way.length || shown.word)) continue;
		return [
			`flame=${id}`,
			...shown.way.map((name) => `in=${encodeURIComponent(name)}`),
			...(shown.word ? [`find=${encodeURIComponent(shown.word)}`] : []),
		];
	}
	return [];
}

/* A flame graph whose place is in the address from now on. */
function placeFlame(timeline, id, icicle) {
	FLAME_PLACES.set(id, {icicle: () => icicle, show: () => {}});
	icicle.onplace = (step) => rememberPlace(timeline, step);
}

function goToFlame(place) {
	const id = place.get('flame');
	for (const [other, {icicle}] of FLAME_PLACES) if (other !== id && icicle()) icicle().place([], '');
	const wanted = FLAME_PLACES.get(id);
	if (!wanted) return;
	wanted.show();
	wanted.icicle().place(place.getAll('in'), place.get('find') || '');
	if (!place.has('row') && !place.has('sentence')) wanted.icicle().element.scrollIntoView({block: 'center'});
}

function rememberPlace(timeline, step) {
	if (placing) return;
	clearTimeout(placeTimer);
	const put = (how) => {
		const text = placeText(timeline);
		if (text === location.hash || (!text && !/^#(from|row|sentence|flame)=/.test(location.hash))) return;
		history[how](null, '', text || '#');
	};
	if (step) put('pushState');
	else placeTimer = setTimeout(() => put('replaceState'), 250);
}

function goToPlace(timeline) {
	const place = new URLSearchParams(location.hash.slice(1)),
		number = (key) => (/^\d+$/.test(place.get(key) || '') ? Number(place.get(key)) : null);
	const [from, to, row, at, sentence] = ['from', 'to', 'row', 'at', 'sentence'].map(number);
	if (location.hash && from === null && row === null && sentence === null && !place.has('flame')) return; /* a part of the page */
	placing = true;
	timeline.marked = [];
	for (const line of document.querySelectorAll('.verdict li.chosen')) line.classList.remove('chosen');
	if (sentence !== null) showSentence(timeline, sentence);
	if (row !== null && row < ROWS.length && at !== null)
		select(timeline, cellAt(row, at, from === null ? LENGTH / 1000 : (to - from) / 1000));
	else if (timeline.selected) select(timeline, null);
	if (from !== null && to !== null && from < to) timeline.show(from, to);
	else if (sentence === null && !(place.has('flame') && KIND === 'requests')) timeline.show(0, LENGTH);
	goToFlame(place);
	placing = false;
}
