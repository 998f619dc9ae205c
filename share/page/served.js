/* SPDX-License-Identifier: MIT */
/* A page that is served (whylate serve) asks for what it shows and has no detail of: the states of the rows in view, the
 * lanes over the part in view, all steps of the critical path; and what is searched is searched there. Until the answer is there, what the page has itself is
 * drawn.
 *
 * Part of no page but those. More than is in view is asked for, so that moving on needs no wait. One question is open at a time; when it is
 * answered the picture is drawn, and what it lacks by then is asked for.
 */
const SERVED = TIMELINE.served,
	AROUND = 0.25, /* of what is in view, on both sides */
	LANES_DO = 0.075, /* of the window: of more the page's own lanes are fine enough, LANE_PARTS_SERVED */
	LOOK_MS = 30,
	AGAIN_MS = 3000; /* after an answer failed to come */
const rowOfThread = new Map((TIMELINE.threads || []).map((thread, row) => [thread, row]));
const fineRows = new Map(); /* row → {from, to, tolerance, cells: null if it has none there} */

async function askServer(what, parameters) {
	const response = await fetch(`${SERVED}shown/${what}`, {
		method: 'POST',
		headers: {'Content-Type': 'application/json'},
		body: JSON.stringify({parameters: {base: String(BASE), end: String(absolute(LENGTH)), ...parameters}}),
	});
	if (!response.ok) throw new Error((await response.json()).title);
	return response.json();
}

/* The answer's numbers of leaves, texts and threads are others than the page's. */
const textNumbers = new Map(STRINGS.map((text, i) => [text, i])),
	leafNumbers = new Map(LEAVES.map(({key, kind}, i) => [`${kind} ${key}`, i]));

function numbersOf(answer) {
	const leaves = answer.leaves.map(([key, label, kind]) => {
		const name = `${kind} ${key}`;
		if (!leafNumbers.has(name)) leafNumbers.set(name, LEAVES.push({key, label, kind}) - 1);
		return leafNumbers.get(name);
	});
	const texts = answer.strings.map((text) => {
		if (!textNumbers.has(text)) textNumbers.set(text, STRINGS.push(text) - 1);
		return textNumbers.get(text);
	});
	return {leaf: (n) => leaves[n], text: (n) => texts[n], row: (n) => (rowOfThread.get(n - 1) ?? -1) + 1};
}

const covers = (detail, from, to, tolerance) =>
	detail && detail.from <= from && detail.to >= to && detail.tolerance <= tolerance * 1.5;

/* What is known of a row there besides its levels; null: nothing finer than `level`. */
served.is = true;
served.detailOf = (row, from, to, level) => {
	const detail = fineRows.get(row);
	return detail?.cells && detail.tolerance < level.tolerance && detail.from < to && detail.to > from ? detail : null;
};

/* In all that was recorded, not only in what the page has of it: also in threads without a row here, which are told of by name. */
served.search = async (word) => {
	const answer = await askServer('search', {
			from: String(BASE),
			to: String(absolute(LENGTH)),
			threads: TIMELINE.threads,
			text: word,
		}),
		numbers = numbersOf(answer),
		others = new Map(answer.threads.map(([number, host, tid, name]) => [number, {host, tid, name}]));
	return {
		left: answer.count - answer.hits.length,
		list: answer.hits.map(([thread, begin, ns, leaf, text]) => ({
			row: rowOfThread.get(thread) ?? -1,
			thread: others.get(thread),
			begin,
			end: begin + ns,
			leaf: numbers.leaf(leaf),
			text: text ? numbers.text(text) : 0,
		})),
	};
};

class Served {
	constructor(timeline) {
		this.timeline = timeline;
		this.times = []; /* ms, of each answer */
		this.stepsAsked = false;
		this.lanes = null; /* {from, to}: what the lanes' detail is of */
		timeline.ondrawn = () => this.look();
	}

	/* Soon, as a wheel turns several times a moment. */
	look() {
		this.timer ??= setTimeout(() => {
			this.timer = null;
			if (!this.busy) this.askOne();
		}, LOOK_MS);
	}

	get part() {
		const {from, to} = this.timeline,
			more = (to - from) * AROUND;
		return [Math.max(0, Math.floor(from - more)), Math.min(LENGTH, Math.ceil(to + more))];
	}

	/* Rows in view that are lacking. */
	rowsLacking() {
		const {timeline} = this,
			{from, to, nsPerPixel, height} = timeline,
			rows = [];
		if (!isCoarse(levelFor(nsPerPixel), nsPerPixel)) return rows;
		timeline.eachLine((row, y, tall) => {
			if (row < 0 || y > height || y + tall < 0) return;
			if (ROWS[row].from < to && ROWS[row].to > from && !covers(fineRows.get(row), from, to, Math.max(1, nsPerPixel)))
				rows.push(row);
		});
		return rows;
	}

	lanesLack() {
		const {from, to} = this.timeline;
		if (!LANES.length || to - from > LENGTH * LANES_DO) return false;
		/* again where what there is would be seen as steps */
		return !(this.lanes && this.lanes.from <= from && this.lanes.to >= to && this.lanes.to - this.lanes.from <= (to - from) * 4);
	}

	async askOne() {
		const rows = this.rowsLacking();
		let question = null;
		if (rows.length) question = () => this.askStates(rows);
		else if (this.lanesLack()) question = () => this.askLanes();
		else if (!this.stepsAsked && TIMELINE.path_of !== undefined && REPORT.critical_path_omitted)
			question = () => this.askSteps();
		if (!question) return;
		this.busy = true;
		const begin = performance.now();
		try {
			await question();
			this.times.push(performance.now() - begin);
			this.note('');
		} catch (error) {
			this.note(`The server did not answer: ${error.message}. What is drawn is what the page has.`);
			await new Promise((done) => setTimeout(done, AGAIN_MS));
		}
		this.busy = false;
		this.timeline.draw();
	}

	note(text) {
		if (text === this.noted || (!text && !this.noted)) return;
		this.noted = text;
		announce(text || 'The server answers again');
		const line = document.getElementById('server-note');
		line.textContent = text;
		line.hidden = !text;
	}

	async askStates(rows) {
		const [from, to] = this.part,
			tolerance = Math.floor(this.timeline.nsPerPixel);
		const answer = await askServer('states', {
			from: String(absolute(from)),
			to: String(absolute(to)),
			tolerance,
			threads: rows.map((row) => TIMELINE.threads[row]),
		});
		const bytes = bytesOf(answer.data),
			numbers = numbersOf(answer);
		for (const row of rows) fineRows.set(row, {from, to, tolerance: answer.tolerance_ns, cells: null});
		answer.rows.forEach(([thread, begin, start], i) => {
			fineRows.get(rowOfThread.get(thread)).cells = unpack(bytes, start, answer.rows[i + 1]?.[2] ?? bytes.length, begin, numbers);
		});
	}

	async askLanes() {
		const [from, to] = this.part;
		const answer = await askServer('lanes', {
			from: String(absolute(from)),
			to: String(absolute(to)),
			threads: TIMELINE.threads,
		});
		const rowNumber = (n) => (n ? (rowOfThread.get(n - 1) ?? -1) + 1 : 0);
		for (const lane of LANES) {
			const fine = answer.lanes.find((one) => one.name === lane.name && one.host === lane.host && one.held === lane.held);
			const none = {waiting: [], busy: []};
			lane.fine = {
				from,
				to,
				name: lane.name,
				host: lane.host,
				ns: lane.ns,
				...(fine || (lane.waiting ? {waiting: none.waiting} : {busy: none.busy, who: []})),
			};
			if (lane.fine.who) lane.fine.who = lane.fine.who.map(rowNumber);
		}
		this.lanes = {from, to};
	}

	async askSteps() {
		this.stepsAsked = true;
		const answer = await askServer('steps', {
			from: String(BASE),
			to: String(absolute(LENGTH)),
			threads: [TIMELINE.path_of],
		});
		this.timeline.allHops = stepsOf(bytesOf(answer.steps));
	}
}

/* All hops of the path, as band.js has them. */
function stepsOf(bytes) {
	const hops = [],
		numbers = new Numbers(bytes);
	let at = 0;
	while (numbers.at < bytes.length) {
		const ns = numbers.next(),
			thread = numbers.next();
		if (thread) hops.push({row: rowOfThread.get(thread - 1) ?? -1, begin: at, end: at + ns});
		at += ns;
	}
	return hops;
}

/* A report of the server about this part of a thread's time. */
function reportAddress(command, thread, begin, end) {
	const words = new URLSearchParams({
		thread: thread.tid,
		...(MANY_HOSTS && REPORT.hosts[thread.host]?.hostname ? {host: REPORT.hosts[thread.host].hostname} : {}),
		from: `${absolute(begin)}ns`,
		to: `${absolute(end)}ns`,
		format: 'html',
	});
	return `${SERVED}report/${command}?${words}`;
}

served.link = (row, begin, end) =>
	el('p', {}, el('a', {href: reportAddress('delay', row, begin, end)}, 'Why: the report of this part'));

served.begin = (timeline) => {
	const nav = document.getElementById('nav');
	if (KIND !== 'trace') nav.append(el('a', {href: SERVED}, 'Whole trace'));
	nav.append(el('a', {href: `${SERVED}ask`}, 'Ask'));
	timeline.element.prepend(el('p', {id: 'server-note', class: 'bad', hidden: true}));
	globalThis.whylate.served = new Served(timeline);
};
