/* SPDX-License-Identifier: MIT */
/* The first page of a served trace: the picture of all that was recorded, at once, and what stands out in it when that has
 * been worked out.
 */
async function overviewSentences(box) {
	try {
		const response = await fetch(`${SERVED}report/overview?format=json`),
			report = await response.json();
		if (!response.ok) throw new Error(report.detail || report.title);
		fill(
			box,
			el('ol', {}, (report.stands_out || []).map((one) => el('li', {}, one.sentence))),
			el('p', {}, el('a', {href: `${SERVED}report/overview?format=html`}, 'All of it')),
		);
	} catch (error) {
		fill(box, el('p', {class: 'bad'}, `The overview did not come: ${error.message}`));
	}
}

PAGES.trace = (timeline, main) => {
	const found = el('div', {}, el('p', {class: 'note'}, 'Being worked out …'));
	main.append(
		section('picture', 'All that was recorded', null, timeline.element),
		section('answer', 'What stands out', null, found, coverageCard()),
	);
	overviewSentences(found);
};
