/* SPDX-License-Identifier: MIT */
/* A lane for each bottleneck, below the rows that the path is on: how many threads waited for a device, a lock or another resource, how
 * many an interrupt kept from their work, who held a lock, and who ran on each CPU. Line -2 is the first lane. Its values are means over parts of the window, which is said.
 */
const LANES = TIMELINE.lanes || [];
const PATH_NAME = KIND === 'requests' ? 'Steps' : 'Critical path';
const laneOf = (line) => (line <= -2 ? LANES[-2 - line] : undefined);

function laneName(lane) {
	const host = MANY_HOSTS && lane.host !== undefined && HOSTS[lane.host];
	const words = lane.name === 'cpu:waiting' ? 'ready, without a CPU' : lane.held ? `held ${lane.name}` : lane.name;
	return `${words}${host ? ` on ${host.hostname}` : ''}`;
}

/* The lane over a part of time: a served page may have it in smaller parts there (served.js). */
function laneOver(lane, from, to) {
	const {fine} = lane;
	return fine && fine.from <= from && fine.to >= to ? fine : {...lane, from: 0, to: LENGTH};
}

/* The lines of lanes with something in [from, to). */
const lanesIn = (from, to) =>
	LANES.flatMap((lane, i) => {
		const all = lane.waiting || lane.busy,
			part = LENGTH / Math.max(all.length, 1);
		return all.slice(Math.floor(from / part), Math.ceil(to / part)).some((value) => value > 0) ? [-2 - i] : [];
	});

/* What a lane has at a time, for people, where [from, to) is in view. */
function laneLines(whole, time, view) {
	const lane = laneOver(whole, view.from, view.to),
		all = lane.waiting || lane.busy,
		wide = (lane.to - lane.from) / Math.max(all.length, 1),
		part = Math.max(0, Math.min(all.length - 1, Math.floor((time - lane.from) / wide))),
		from = lane.from + part * wide,
		lines = [laneName(lane)];
	if (!all.length) return [...lines, 'nothing here'];
	lines.push(`from ${clock(from)}, ${duration(Math.round(wide))}, on average:`);
	if (lane.waiting) {
		lines.push(
			`${(all[part] / 16).toFixed(1)} ${whole.depth ? 'requests in flight' : whole.interrupt ? 'threads interrupted by it' : 'threads waiting'}`,
			`${duration(lane.ns)} of ${whole.depth ? 'service' : whole.interrupt ? 'interruption' : 'waiting'} in all`,
		);
	} else {
		lines.push(`${whole.held ? 'held' : 'busy'} ${percent(all[part], 255)}`);
		if (all[part]) lines.push(`most of it: ${lane.who[part] ? named(ROWS[lane.who[part] - 1]) : 'a thread without a row'}`);
	}
	return lines;
}

/* What finds a resource's waits: its name without the kind; of interrupts and waits for a CPU the states' names. */
function searchedAs(name) {
	if (name === 'cpu:waiting') return 'interrupted/wait-cpu';
	if (/^(softirq|irq|vector):/.test(name)) return `interrupted/${name.replace(/ .*/, '')}`;
	return name.replace(/^[\w-]+:/, '').replace(/ of process \d+$/, '');
}

/* Who ran on a CPU then is selected; of what can be waited for the waits are listed. */
function clickedLane(timeline, whole, time) {
	if (!whole.who || whole.held) {
		showResource(timeline, whole.name);
		return;
	}
	const lane = laneOver(whole, timeline.from, timeline.to),
		row = (lane.who[Math.floor(((time - lane.from) / (lane.to - lane.from)) * lane.who.length)] || 0) - 1,
		cell = row >= 0 && cellAt(row, Math.floor(time), timeline.nsPerPixel);
	if (!cell) return;
	timeline.reveal(row);
	select(timeline, cell);
}

/* Brings a resource's lane into view, and lists the waits for it. */
function showResource(timeline, name) {
	const at = LANES.findIndex((lane) => lane.waiting && lane.name === name);
	const box = document.getElementById('search'),
		word = searchedAs(name);
	if (at >= 0) timeline.reveal(-2 - at);
	box.value = word;
	timeline.element.scrollIntoView({block: 'start'});
	seek(timeline, word);
}

/* A lane's pictures, a column for each part, then for two, four …: of waits what one has most, that a short one is seen; of what is busy
 * the mean, as a CPU that is busy for half of each moment is busy for half of all. Drawn once: thousands of rectangles in each
 * frame are not smooth. */
const LANE_TALL = 32; /* twice BAND (paint.js): where a pixel of the page is two of the screen */
const lanePictures = new WeakMap(); /* a lane's values → {color, most, levels} */

function pictureOfLane(values, most, color) {
	const canvas = document.createElement('canvas'),
		c = canvas.getContext('2d');
	canvas.width = values.length;
	canvas.height = LANE_TALL;
	c.fillStyle = color;
	for (let i = 0; i < values.length; i++) {
		const tall = values[i] && Math.max(3, Math.round((values[i] / most) * LANE_TALL));
		if (tall) c.fillRect(i, LANE_TALL - tall, 1, tall);
	}
	return canvas;
}

function picturesOfLane(values, most, color, busy) {
	const joined = busy ? (a, b) => (a + b) / 2 : Math.max;
	const known = lanePictures.get(values);
	if (known?.color === color && known.most === most) return known.levels;
	const levels = [];
	for (let all = values; ; all = all.filter((_, i) => i % 2 === 0).map((value, i) => joined(value, all[2 * i + 1] ?? (busy ? value : 0)))) {
		levels.push(pictureOfLane(all, most, color));
		if (all.length < 300) break;
	}
	lanePictures.set(values, {color, most, levels});
	return levels;
}

/* The most that any part has, of the whole or of a finer lane of it, at least 16. */
const mostIn = (...lanes) =>
	lanes.reduce((most, lane) => Math.max(most, (lane.most ??= lane.waiting.reduce((a, b) => Math.max(a, b), 0))), 16);

class Lanes {
	paintLane(whole, y) {
		const lane = laneOver(whole, this.from, this.to),
			all = lane.waiting || lane.busy,
			wide = (lane.to - lane.from) / Math.max(all.length, 1),
			time = (i) => lane.from + i * wide,
			first = Math.max(0, Math.floor((this.from - lane.from) / wide)),
			last = Math.min(all.length, Math.ceil((this.to - lane.from) / wide));
		let color = this.classColor[whole.interrupt ? INTERRUPT : lane.waiting ? (lane.name === 'cpu:waiting' ? READY : BLOCKED) : USER];
		if (whole.held) color = this.color.held;
		if (whole.depth) color = this.familyColor('device');
		if (last <= first) return;
		this.paintPicture(lane, picturesOfLane(all, lane.waiting ? mostIn(whole, lane) : 255, color, !lane.waiting), y + 4);
		if (lane.who) this.paintWho(lane, y, first, last, time, whole.held ? this.color.onHeld : this.onColor[USER]);
	}

	/* The part of a lane that is in view, from the picture with up to two columns a pixel. */
	paintPicture(lane, pictures, y) {
		const c = this.context,
			width = this.width - this.left,
			share = (this.to - this.from) / (lane.to - lane.from),
			picture = pictures.find((one) => one.width * share <= 2 * width) || pictures[pictures.length - 1],
			shown = picture.width * share;
		c.imageSmoothingEnabled = shown > width;
		c.drawImage(picture, (this.from - lane.from) / (lane.to - lane.from) * picture.width, 0, shown, LANE_TALL, this.left, y, width, BAND);
	}

	/* The names of who ran there, where one had the CPU for long enough to be read. */
	paintWho(lane, y, first, last, time, color) {
		const c = this.context;
		c.font = '11px system-ui, sans-serif';
		c.fillStyle = color;
		for (let i = first; i < last; ) {
			let end = i + 1;
			while (end < last && lane.who[end] === lane.who[i] && lane.busy[end] > 200) end++;
			const x = Math.max(this.left, this.x(time(i))),
				width = Math.min(this.width, this.x(time(end))) - x;
			if (lane.who[i] && lane.busy[i] > 200 && width > 40)
				c.fillText(fitted(ROWS[lane.who[i] - 1].name || '?', width - 8), x + 4, y + 4 + BAND / 2, width - 6);
			i = end;
		}
	}
}
