/* SPDX-License-Identifier: MIT */
/* A lane for each bottleneck, below the rows that the path is on: how many threads waited for a device, a lock or another resource, and who
 * ran on each CPU. Line -2 is the first lane. Its values are means over parts of the window, which is said.
 */
const LANES = TIMELINE.lanes || [];
const PATH_NAME = KIND === 'requests' ? 'Steps' : 'Critical path';
const laneOf = (line) => (line <= -2 ? LANES[-2 - line] : undefined);

function laneName(lane) {
	const host = MANY_HOSTS && lane.host !== undefined && REPORT.hosts[lane.host];
	return `${lane.name === 'cpu:waiting' ? 'ready, without a CPU' : lane.name}${host ? ` on ${host.hostname}` : ''}`;
}

/* What a lane has at a time, for people. */
function laneLines(lane, time) {
	const all = lane.waiting || lane.busy,
		part = Math.max(0, Math.min(all.length - 1, Math.floor((time / LENGTH) * all.length))),
		from = (part * LENGTH) / all.length,
		lines = [laneName(lane), `from ${clock(from)}, ${duration(Math.round(LENGTH / all.length))}, on average:`];
	if (lane.waiting) {
		lines.push(`${(all[part] / 16).toFixed(1)} threads waiting`, `${duration(lane.ns)} of waiting in all`);
	} else {
		lines.push(`busy ${percent(all[part], 255)}`);
		if (all[part]) lines.push(`most of it: ${lane.who[part] ? named(ROWS[lane.who[part] - 1]) : 'a thread without a row'}`);
	}
	return lines;
}

/* Brings a resource's lane into view, and lists the waits for it. */
function showResource(timeline, name) {
	const at = LANES.findIndex((lane) => lane.name === name);
	const box = document.getElementById('search'),
		word = name.replace(/^[\w-]+:/, '');
	if (at >= 0) timeline.reveal(-2 - at);
	box.value = word;
	timeline.element.scrollIntoView({block: 'start'});
	seek(timeline, word);
}

class Lanes {
	paintLane(lane, y) {
		const c = this.context,
			all = lane.waiting || lane.busy,
			wide = LENGTH / all.length,
			most = lane.waiting ? Math.max(16, ...all) : 255,
			first = Math.max(0, Math.floor(this.from / wide)),
			last = Math.min(all.length, Math.ceil(this.to / wide));
		c.fillStyle = this.classColor[lane.waiting ? (lane.name === 'cpu:waiting' ? READY : BLOCKED) : USER];
		for (let i = first; i < last; i++) {
			if (!all[i]) continue;
			const x1 = Math.max(this.left, Math.round(this.x(i * wide))),
				x2 = Math.min(this.width, Math.round(this.x((i + 1) * wide))),
				height = Math.max(1.5, (all[i] / most) * BAND);
			c.fillRect(x1, y + 4 + BAND - height, Math.max(x2 - x1, 1), height);
		}
		if (lane.who) this.paintWho(lane, y, first, last, wide);
	}

	/* The names of who ran there, where one had the CPU for long enough to be read. */
	paintWho(lane, y, first, last, wide) {
		const c = this.context;
		c.font = '11px system-ui, sans-serif';
		c.fillStyle = this.onColor[USER];
		for (let i = first; i < last; ) {
			let end = i + 1;
			while (end < last && lane.who[end] === lane.who[i] && lane.busy[end] > 200) end++;
			const x = Math.max(this.left, this.x(i * wide)),
				width = Math.min(this.width, this.x(end * wide)) - x;
			if (lane.who[i] && lane.busy[i] > 200 && width > 40)
				c.fillText(fitted(ROWS[lane.who[i] - 1].name || '?', width - 8), x + 4, y + 4 + BAND / 2, width - 6);
			i = end;
		}
	}
}
