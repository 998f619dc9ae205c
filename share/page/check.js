/* SPDX-License-Identifier: MIT */
/* The report of check: which questions the trace answers, and what to record for those that it does not. */
const ANSWERS = {yes: '✓ yes', degraded: '~ in part', no: '✗ no'};

function findingCard(finding) {
	const of = (title, list) => (list.length ? el('p', {class: 'note'}, `${title}: ${list.join(', ')}`) : null);
	return el(
		'li',
		{class: finding.impossible.length ? 'card grave' : 'card'},
		el('p', {}, el('strong', {}, finding.name), finding.means ? `: ${finding.means}.` : ''),
		of('Makes impossible', finding.impossible),
		of('Leaves gaps in', finding.degraded),
		of('Makes poorer', finding.poorer),
		command(finding.remedy),
	);
}

PAGES.check = (timeline, main) => {
	main.append(
		section(
			'answer',
			'What this trace can tell',
			null,
			el('div', {class: 'headline'}, REPORT.answer.map((text, i) => el('p', {class: i ? 'second' : null}, text))),
			coverageCard(),
			table(
				[
					{title: 'Question', of: (one) => one.command},
					{title: 'Answered', of: (one) => el('span', {class: one.answer === 'no' ? 'bad' : null}, ANSWERS[one.answer] || one.answer)},
				],
				REPORT.commands,
				null,
			),
		),
	);
	if (REPORT.record_with)
		main.append(section('record', 'What to record next time', 'What the answers lack most.', command(REPORT.record_with)));
	if (REPORT.findings.length)
		main.append(
			section(
				'findings',
				'What is missing',
				'The gravest first.',
				el(
					'ul',
					{class: 'cards'},
					[...REPORT.findings]
						.sort((a, b) => b.impossible.length - a.impossible.length || b.degraded.length - a.degraded.length)
						.map(findingCard),
				),
			),
		);
};
