/* SPDX-License-Identifier: MIT */
/* How the timeline is drawn: a canvas with a row for each thread, the critical path as a thick band over them (band.js). Zoomed in, a row that is open
 * shows the nested frames of its control flow below its state.
 *
 * Drawing takes about as long however much there is: of each row the level of detail is taken whose cells
 * are about a pixel wide (cells.js), and cells narrower than a pixel are drawn as one column. Rectangles are
 * collected by colour; those without a pattern are drawn as one picture (pixels.js).
 */
const ROW = 24,
	BAND = 16,
	FRAME = 13,
	FRAMES_MAX = 4,
	AXIS = 26;
const HEIGHTS = [1, 1, 1, 0.7, 0.5, 0.25, 0.25]; /* of the band, by class: another cue than colour */
const ARROWS_MAX = 400;
const DIMMED = 0.38; /* what is not on the critical path */

/* Where names are cut: how many threads have that name, how many other names and lanes begin like that. */
const ALIKE = 8; /* letters: "kworker/" */
const countOf = (texts) => texts.reduce((counts, text) => counts.set(text, (counts.get(text) || 0) + 1), new Map());
const beginOf = (text) => (text || '').slice(0, ALIKE),
	threadsNamed = countOf(ROWS.map((row) => row.name)),
	threadsLike = countOf([...threadsNamed.keys()].map(beginOf)),
	lanesLike = countOf(LANES.map((lane) => beginOf(laneName(lane))));

/* What is drawn where: the class Timeline says which part of time and which rows. */
class TimelinePicture extends PathBand {
	draw() {
		this.pending ??= requestAnimationFrame(() => {
			this.pending = null;
			const begin = performance.now();
			this.paint();
			this.frameTimes.push(performance.now() - begin);
			if (this.frameTimes.length > 500) this.frameTimes.shift();
		});
	}

	paint() {
		const c = this.context;
		c.fillStyle = this.color.back;
		c.fillRect(0, 0, this.width, this.height);
		c.font = '12px system-ui, sans-serif';
		c.textBaseline = 'middle';
		this.rects = CLASSES.map(() => []);
		this.fills = CLASSES.map(() => []);
		this.texts = [];
		this.waits = [];
		this.place = new Map();
		c.save();
		c.beginPath();
		c.rect(0, AXIS, this.width, this.height - AXIS);
		c.clip();
		this.eachLine((row, y, height, line) => {
			this.place.set(row, y);
			if (y > this.height || y + height < AXIS) return;
			this.paintBack(row, y, height, line);
			if (row < -1) this.paintLane(laneOf(row), y);
			if (row < 0) return;
			else this.collectRow(row, y + 4);
		});
		this.paintGaps();
		if (this.hops.length) c.globalAlpha = DIMMED;
		this.paintRects();
		c.globalAlpha = 1;
		if (this.hops.length) this.paintHops();
		this.paintMarked();
		if (this.arrows) this.paintArrows();
		this.paintSelected();
		this.eachLine((row, y, height) => {
			if (y <= this.height && y + height >= AXIS) this.paintName(row, y);
		});
		c.restore();
		this.paintAxis();
		this.minimap.paint();
		this.ondrawn();
	}

	paintBack(row, y, height, line) {
		const c = this.context;
		if (this.matches.has(row)) {
			c.fillStyle = this.color.stripe;
			c.fillRect(0, y, this.width, height);
		}
		if (line === this.line && document.activeElement === this.canvas) {
			c.fillStyle = this.color.accent;
			c.fillRect(0, y + 2, 3, height - 4);
		}
		c.fillStyle = this.color.line;
		c.fillRect(0, y + height - 1, this.width, 1);
		const thread = ROWS[row];
		if (thread && this.right(thread.to) > this.left) {
			const from = Math.max(this.left, this.x(thread.from));
			c.fillRect(from, y + 4 + BAND / 2, Math.max(0, Math.min(this.width, this.x(thread.to)) - from), 1);
		}
	}

	right(time) {
		return this.x(time);
	}

	paintName(row, y) {
		const c = this.context,
			width = this.left - 8;
		c.fillStyle = this.color.back;
		c.fillRect(4, y + 1, this.left - 4, ROW - 3);
		c.fillStyle = this.color.text;
		const narrow = this.left < 120,
			[text, kept] = narrow ? this.shortName(row) : [row < -1 ? laneName(laneOf(row)) : row < 0 ? PATH_NAME : named(ROWS[row]), 0];
		const share = this.shares.get(row);
		c.font = row === -1 || share || this.matches.has(row) ? 'bold 12px system-ui, sans-serif' : '12px system-ui, sans-serif';
		c.save();
		c.beginPath();
		c.rect(4, y, width, ROW);
		c.clip();
		let room = width - 10;
		if (share && !narrow) {
			const part = percent(share, this.whole);
			room -= c.measureText(part).width + 8;
			c.textAlign = 'right';
			c.fillText(part, this.left - 8, y + ROW / 2);
			c.textAlign = 'left';
		}
		c.fillText(this.cut(row < 0 ? text : `${this.isOpen(row) ? '▾' : '▸'} ${text}`, room, kept), 8, y + ROW / 2);
		c.restore();
		if (this.isOpen(row)) {
			c.fillStyle = this.color.faint;
			c.font = '10px system-ui, sans-serif';
			c.fillText('frames', this.left - 42, y + ROW + FRAME / 2);
		}
	}

	/* The name where there is little room, and how many letters of its end tell it from the others. */
	shortName(row) {
		if (row === -1) return [PATH_NAME, 0];
		if (row < -1) {
			const lane = laneOf(row),
				name = laneName(lane).replace(/ of process \d+$/, '');
			/* of "softirq:9 (RCU)" the number is in the begin */
			return [name, lanesLike.get(beginOf(name)) > 1 && !lane.interrupt ? 5 : 0];
		}
		const {name, tid} = ROWS[row];
		if (threadsNamed.get(name) > 1) return [`${name || '?'} ${tid}`, String(tid).length];
		return [name || '?', threadsLike.get(beginOf(name)) > 1 ? 4 : 0];
	}

	/* As much of the begin as there is room for, and the last letters that are to be kept. */
	cut(text, room, kept) {
		const fits = (shown) => this.context.measureText(shown).width <= room,
			end = text.slice(text.length - kept);
		if (fits(text)) return text;
		let head = text.slice(0, text.length - kept);
		while (head.length > 4 && !fits(`${head}…${end}`)) head = head.slice(0, -1);
		return `${head}…${end}`;
	}

	/* A rectangle of one class, clipped to the picture; wide ones have patterns and texts. */
	rect(kind, from, to, y, height, text) {
		const x = Math.max(this.left, from),
			width = Math.min(this.width, to) - x;
		if (width <= 0) return;
		if (width >= 4 && this.patterns[kind]) {
			this.fills[kind].push(x, y, width, height);
			if (text && width > 34) this.texts.push([text, x, y, width, height, kind, false]);
			return;
		}
		this.rects[kind].push(x, y, Math.max(width, 1), height);
		if (text && width > 34) this.texts.push([text, x, y, width, height, kind, kind !== IDLE]);
	}

	/* Shares of a class from the bottom of the band up. */
	stack(shares, whole, from, to, y) {
		let bottom = y + BAND;
		for (let kind = 0; kind < shares.length; kind++) {
			if (!shares[kind]) continue;
			const height = Math.max((shares[kind] / whole) * BAND, 0.5);
			const x = Math.max(this.left, from);
			bottom -= height;
			this.rects[kind].push(x, bottom, Math.max(Math.min(to, this.width) - x, 1), height);
		}
	}

	collectRow(row, y) {
		for (const source of sourcesFor(row, this.from, this.to, this.nsPerPixel)) {
			if (source.from > this.from || source.to < this.to) this.erase(source, y);
			this.collectCells(row, source, y);
		}
		if (this.isOpen(row)) this.collectFrames(row, y + ROW - 4);
	}

	/* Exact parts are drawn over what the level has there. */
	erase(source, y) {
		const from = this.x(source.from),
			to = this.x(source.to);
		for (const list of [...this.rects, ...this.fills])
			for (let i = 0; i < list.length; i += 4)
				if (list[i + 1] >= y - 1 && list[i + 1] < y + BAND && list[i] < to && list[i] + list[i + 2] > from) {
					const end = list[i] + list[i + 2];
					if (list[i] < from) list[i + 2] = from - list[i];
					else if (end > to) {
						list[i] = to;
						list[i + 2] = end - to;
					} else {
						list[i + 2] = 0;
					}
				}
		this.texts = this.texts.filter(
			([, x, at, width]) => at < y - 1 || at >= y + BAND || x >= to || x + width <= from,
		);
	}

	collectCells(row, {cells, from, to}, y) {
		const column = new Float64Array(CLASSES.length),
			ns = this.nsPerPixel;
		let columnFrom = -1,
			columnEnd = 0,
			sum = 0;
		const flush = () => {
			if (sum > 0) this.stack(column, sum, columnFrom, columnEnd, y);
			column.fill(0);
			sum = 0;
		};
		for (let i = firstCell(cells, from); i < cells.length && cells.begin[i] < to; i++) {
			const begin = Math.max(cells.begin[i], from),
				end = Math.min(cells.begin[i + 1], to);
			const x1 = this.left + (begin - this.from) / ns,
				x2 = this.left + (end - this.from) / ns;
			const what = cells.what[i],
				merged = what < 0;
			if (x2 - x1 >= 2) {
				flush();
				if (merged)
					this.stack(
						cells.shares.subarray((-1 - what) * CLASSES.length, -what * CLASSES.length),
						255,
						x1,
						x2,
						y,
					);
				else this.collectExact(row, cells, i, x1, x2, y);
				continue;
			}
			if (sum && x2 - columnFrom > 1.5) flush();
			if (!sum) columnFrom = x1;
			columnEnd = x2;
			sum += end - begin;
			if (!merged) column[LEAVES[what].kind] += end - begin;
			else
				for (let kind = 0, at = (-1 - what) * CLASSES.length; kind < CLASSES.length; kind++)
					column[kind] += (cells.shares[at + kind] / 255) * (end - begin);
		}
		flush();
	}

	collectExact(row, cells, i, x1, x2, y) {
		const leaf = LEAVES[cells.what[i]],
			height = BAND * HEIGHTS[leaf.kind],
			extra = cells.extra.get(i);
		const wide = x2 - x1 > 34;
		if (extra && x2 - x1 >= 6)
			this.waits.push([row, cells.begin[i + 1], extra[2], cells.begin[i + 1] - extra[3], x2 - x1]);
		if (wide && leaf.kind >= READY)
			this.rect(
				leaf.kind,
				x1,
				x2,
				y,
				BAND,
				extra && extra[0] ? `${shortLeaf(leaf)} ${STRINGS[extra[0]]}` : shortLeaf(leaf),
			);
		else this.rect(leaf.kind, x1, x2, y + (BAND - height) / 2, height, wide ? shortLeaf(leaf) : null);
	}

	/* Frames below the state: what was on the control-flow stack, taken from how states follow each other. A
	 * frame goes on below what interrupts it; it is over when a state as low as it comes. */
	collectFrames(row, y) {
		if (CALLS.has(row)) {
			for (const [depth, begin, end, kind, name] of CALLS.get(row))
				if (begin < this.to && end > this.from && depth < CALLS_DEEP)
					this.rect(kind, this.x(begin), this.x(end), y + depth * FRAME, FRAME - 1, name);
			return;
		}
		if (this.x(ROWS[row].from) > this.width || this.x(ROWS[row].to) < this.left) return;
		const sources = sourcesFor(row, this.from, this.to, 0),
			drawn = [];
		for (const {cells, from, to} of sources) {
			const first = Math.max(0, firstCell(cells, from) - 40);
			const last = firstCell(cells, to);
			if (last - first > 3000) continue;
			const open = [];
			const close = (level, time) => {
				while (open.length && open[open.length - 1].rank >= level) {
					const frame = open.pop();
					if (time > from)
						drawn.push([frame, Math.max(frame.begin, from), Math.min(time, to), open.length]);
				}
			};
			for (let i = first; i < Math.min(last + 1, cells.length); i++) {
				if (cells.what[i] < 0) {
					close(0, cells.begin[i]);
					continue;
				}
				const leaf = LEAVES[cells.what[i]],
					rank = frameRank(leaf);
				if (rank === null) continue; /* off the CPU, with its frames as they were */
				const same = open.find((frame) => frame.name === frameName(leaf));
				close(same ? rank + 1 : rank, cells.begin[i]);
				if (!same)
					open.push({
						rank,
						begin: cells.begin[i],
						name: frameName(leaf),
						kind: rank === 0 ? USER : rank === 1 ? SYSCALL : INTERRUPT,
					});
			}
			close(0, cells.begin[Math.min(last + 1, cells.length)]);
		}
		if (!drawn.length) {
			const c = this.context;
			c.fillStyle = this.color.faint;
			c.font = '11px system-ui, sans-serif';
			c.fillText('zoom in to see the frames', Math.max(this.left, this.x(ROWS[row].from)) + 8, y + FRAME);
			return;
		}
		for (const [frame, begin, end, depth] of drawn)
			if (depth < FRAMES_MAX)
				this.rect(frame.kind, this.x(begin), this.x(end), y + depth * FRAME, FRAME - 1, frame.name);
	}

	/* On the path every wait counts, also one by the thread's own timer. */
	seenAs(kind) {
		return kind === IDLE && this.onPath ? BLOCKED : kind;
	}

	paintRects() {
		const c = this.context,
			alpha = c.globalAlpha;
		this.pixels.paint(c, this.canvas, this.ratio, this.rects, (kind) => this.classColor[this.seenAs(kind)]);
		this.fills.forEach((list, kind) => {
			c.fillStyle = this.patterns[this.seenAs(kind)] || this.classColor[this.seenAs(kind)];
			for (let i = 0; i < list.length; i += 4) c.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
			if (this.seenAs(kind) === IDLE) return;
			c.strokeStyle = this.classColor[this.seenAs(kind)];
			for (let i = 0; i < list.length; i += 4)
				if (list[i + 2] > 5) c.strokeRect(list[i] + 0.5, list[i + 1] + 0.5, list[i + 2] - 1, list[i + 3] - 1);
		});
		c.font = '11px system-ui, sans-serif';
		for (const [text, x, y, width, height, kind, solid] of this.texts.slice(0, 600)) {
			const shown = fitted(text, width - 8);
			if (!shown) continue;
			if (!solid) {
				/* a plate below it, as the pattern is not to read on */
				c.fillStyle = this.color.back;
				c.globalAlpha = 0.8 * alpha;
				c.fillRect(x + 2, y + 2, Math.min(width - 4, shown.length * 6.1 + 6), height - 4);
				c.globalAlpha = alpha;
			}
			c.fillStyle = solid ? this.onColor[kind] : this.color.text;
			c.fillText(shown, x + 4, y + height / 2 + 0.5, width - 6);
		}
	}

	paintGaps() {
		const c = this.context;
		for (const gap of REPORT.coverage.gaps || []) {
			const from = Math.max(this.left, this.x(gap.begin)),
				to = Math.min(this.width, Math.max(this.x(gap.end), this.x(gap.begin) + 1));
			if (to <= from) continue;
			c.fillStyle = this.color.gap;
			c.fillRect(from, AXIS, to - from, this.height);
		}
	}

	/* From who a wait led to, when that acted, to where the wait ended. */
	paintArrows() {
		const c = this.context;
		c.strokeStyle = c.fillStyle = this.color.text;
		c.lineWidth = 1;
		c.globalAlpha = 0.75;
		const shown = this.waits
			.filter(([row, time, lead]) => lead >= 0 && lead !== row && time <= this.to && this.place.has(lead))
			.sort((a, b) => b[4] - a[4])
			.slice(0, ARROWS_MAX);
		for (const [row, time, lead, acted] of shown) {
			const up = this.place.get(lead) > this.place.get(row);
			const x1 = this.x(acted),
				x2 = this.x(time);
			const y1 = this.place.get(lead) + (up ? 4 : 4 + BAND),
				y2 = this.place.get(row) + (up ? 4 + BAND : 4);
			if (x2 < this.left || x1 < this.left) continue;
			c.beginPath();
			c.moveTo(x1, y1);
			c.lineTo(x2, y2);
			c.stroke();
			c.beginPath();
			c.moveTo(x2, y2);
			c.lineTo(x2 - 3, y2 + (up ? 6 : -6));
			c.lineTo(x2 + 3, y2 + (up ? 6 : -6));
			c.fill();
		}
		c.globalAlpha = 1;
	}

	paintSelected() {
		const cell = this.selected,
			y = cell && this.place.get(cell.row);
		if (y === undefined || y === null) return;
		const x1 = Math.max(this.left, this.x(cell.begin)),
			x2 = Math.min(this.width, this.x(cell.end));
		if (x2 < this.left || x1 > this.width) return;
		const c = this.context;
		c.strokeStyle = this.color.accent;
		c.lineWidth = 2;
		c.strokeRect(x1 - 1, y + 2, Math.max(x2 - x1, 1) + 2, BAND + 4);
		c.lineWidth = 1;
	}

	paintAxis() {
		const c = this.context,
			ns = this.nsPerPixel;
		c.fillStyle = this.color.back;
		c.fillRect(0, 0, this.width, AXIS);
		c.fillStyle = this.color.line;
		c.fillRect(0, AXIS - 1, this.width, 1);
		c.font = '11px system-ui, sans-serif';
		let step = 10 ** Math.ceil(Math.log10(Math.max(ns * 90, 1)));
		if (step / 5 > ns * 90) step /= 5;
		else if (step / 2 > ns * 90) step /= 2;
		for (let time = Math.ceil(this.from / step) * step; time < this.to; time += step) {
			const x = this.x(time);
			c.fillStyle = this.color.line;
			c.fillRect(x, AXIS - 7, 1, 6);
			c.fillStyle = this.color.faint;
			const label = time ? `+${axisTime(time, step)}` : '0';
			/* one that would be cut says nothing */
			if (x + 3 + c.measureText(label).width <= this.width) c.fillText(label, x + 3, AXIS - 13);
		}
		c.fillStyle = this.color.faint;
		c.save();
		c.beginPath();
		c.rect(0, 0, this.left - 4, AXIS);
		c.clip();
		c.fillStyle = this.color.back;
		c.fillRect(0, 0, this.left, AXIS - 1);
		c.fillStyle = this.color.faint;
		const shown = duration(this.to - this.from);
		c.fillText(this.left < 120 ? shown : `${shown} shown`, 8, AXIS / 2);
		c.restore();
	}
}

function axisTime(time, step) {
	const [unit, scale] =
		time >= 1e9 || step >= 1e9
			? ['s', 1e9]
			: step >= 1e3 && time >= 1e6
				? ['ms', 1e6]
				: time >= 1e3
					? ['µs', 1e3]
					: ['ns', 1];
	const digits = Math.max(0, Math.ceil(Math.log10(scale) - Math.log10(step) - 1e-9));
	return `${(time / scale).toFixed(Math.min(digits, 9))} ${unit}`;
}

function shortLeaf(leaf) {
	return leaf.kind === USER ? leaf.label : leaf.key.replace(/^\w+\/(syscall:)?/, '');
}

const frameName = (leaf) => (leaf.key.startsWith('blocked/syscall:') ? leaf.key.slice(16) : shortLeaf(leaf));

/* How deep a state's frame lies: user code 0, calls and faults 1, softIRQs 2, interrupts 3, timers' callbacks 4;
 * null: the state is no frame. */
function frameRank(leaf) {
	if (leaf.kind === READY || leaf.kind === UNKNOWN) return null;
	if (leaf.kind === BLOCKED) return leaf.key.startsWith('blocked/syscall:') ? 1 : null;
	if (leaf.kind === INTERRUPT) return leaf.key.includes('softirq:') ? 2 : leaf.key.includes('hrtimer') ? 4 : 3;
	return leaf.kind === SYSCALL ? 1 : 0;
}
