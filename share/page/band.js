/* SPDX-License-Identifier: MIT */
/* The critical path on the rows: a thick band that goes from thread to thread, all else dimmed below it. The line above the
 * rows has the same, named: neighbouring steps of one thread are one hop.
 *
 *   Critical path |xinit 42 ms |Xorg 853.7 ms, 71 %              |x-session |
 *   Xorg      71 %  ───────────┏████████████████████████████████┓─────────
 *   xinit    3.7 %  ███████████┛                                ┗───
 */
const HOPS_MAX = 600, /* drawn at once: more are not told apart */
	HOPS_READ = 20000; /* of all that a served page has (served.js), in view; where there are more, the page's own do */

/* [{row, begin, end}] by begin: from the report's steps, or where the page has not all of them, as hops that were merged. */
function pathHops(steps) {
	if (REPORT.critical_path_omitted)
		return (TIMELINE.path || []).map(([row, begin, ns]) => ({row, begin, end: begin + ns}));
	const hops = [];
	for (const step of steps) {
		const row = findRow(step, step.begin),
			last = hops[hops.length - 1];
		if (last && last.row === row && last.end === step.begin) last.end = step.end;
		else hops.push({row, begin: step.begin, end: step.end});
	}
	return hops;
}

/* Row → ns of the path. */
function hopShares(hops) {
	const shares = new Map();
	for (const {row, begin, end} of hops) if (row >= 0) shares.set(row, (shares.get(row) || 0) + end - begin);
	return shares;
}

/* The first that ends after `time`. */
function firstHop(hops, time) {
	let low = 0,
		high = hops.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (hops[middle].end > time) high = middle;
		else low = middle + 1;
	}
	return low;
}

/* Of a colour as #rrggbb, 0 to 1. */
function lightness(color) {
	const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
	return 0.299 * r + 0.587 * g + 0.114 * b;
}

class PathBand extends Lanes {
	/* What is seen of the hops, those closer than a pixel as one: [{row, x1, x2, ns}] */
	visibleHops() {
		const seen = [];
		let hops = this.allHops || this.hops,
			low = firstHop(hops, this.from);
		if (hops.length > low + HOPS_READ && hops[low + HOPS_READ].begin < this.to) {
			hops = this.hops;
			low = firstHop(hops, this.from);
		}
		const least = Math.max(1, (this.width - this.left) / HOPS_MAX);
		for (let i = low; i < hops.length && hops[i].begin < this.to; i++) {
			const hop = hops[i],
				x1 = Math.max(this.left, this.x(hop.begin)),
				x2 = Math.min(this.width, this.x(hop.end)),
				last = seen[seen.length - 1];
			if (last && ((last.row === hop.row && last.color === hop.color) || (x2 - x1 < least && x2 - last.x2 < least))) {
				last.x2 = x2;
				last.ns += hop.end - hop.begin;
			} else {
				seen.push({row: hop.row, x1, x2, ns: hop.end - hop.begin, color: hop.color});
			}
		}
		return seen;
	}

	/* The rows' own pictures again where the path is, undimmed, with a frame, and how it goes on. */
	paintHops() {
		const c = this.context,
			hops = this.visibleHops(),
			boxes = [];
		for (const hop of hops) {
			const y = this.place.get(hop.row);
			if (y !== undefined && y < this.height && y + ROW > AXIS)
				boxes.push([hop.x1, y + 1, Math.max(hop.x2 - hop.x1, 1.5), ROW - 3]);
		}
		c.save();
		c.beginPath();
		for (const box of boxes) c.rect(...box);
		c.clip();
		c.fillStyle = this.color.back;
		c.fillRect(this.left, AXIS, this.width, this.height);
		this.onPath = true;
		this.paintRects();
		this.onPath = false;
		c.restore();
		c.strokeStyle = c.fillStyle = this.color.text;
		for (const [x, y, width, height] of boxes) {
			c.fillRect(x, y, width, 2);
			c.fillRect(x, y + height - 2, width, 2);
		}
		this.paintTurns(hops);
		this.paintPathNames(hops);
	}

	/* From one thread to the next. */
	paintTurns(hops) {
		const c = this.context;
		c.globalAlpha = hops.length > 150 ? 0.35 : 1;
		for (let i = 1; i < hops.length; i++) {
			const y1 = this.place.get(hops[i - 1].row),
				y2 = this.place.get(hops[i].row);
			if (y1 === undefined || y2 === undefined || y1 === y2) continue;
			c.fillRect(hops[i].x1 - 1, Math.min(y1, y2) + 1, 2, Math.abs(y1 - y2) + ROW - 3);
		}
		c.globalAlpha = 1;
	}

	/* The line above the rows: who, how long, and how much of the whole. */
	paintPathNames(hops) {
		const c = this.context,
			top = this.place.get(-1);
		if (top === undefined || top + ROW < AXIS) return;
		c.font = '11px system-ui, sans-serif';
		for (const [i, hop] of hops.entries()) {
			const width = hop.x2 - hop.x1;
			c.fillStyle = hop.color ? this.familyColor(hop.color) : i % 2 ? this.color.line : this.color.gap;
			c.fillRect(hop.x1, top + 3, Math.max(width, 1), ROW - 7);
			if (width < 30 || hop.row < 0) continue;
			const name = ROWS[hop.row].name || '?';
			const shown =
				fitted(`${name} ${duration(hop.ns)}, ${percent(hop.ns, this.whole)}`, width - 8) === ''
					? ''
					: width > 150
						? `${name} ${duration(hop.ns)}, ${percent(hop.ns, this.whole)}`
						: fitted(name, width - 8);
			c.fillStyle = hop.color && lightness(this.familyColor(hop.color)) < 0.5 ? '#ffffff' : hop.color ? '#14181d' : this.color.text;
			c.fillText(shown, hop.x1 + 4, top + ROW / 2, width - 6);
		}
	}

	/* What a sentence of the verdict is of. */
	paintMarked() {
		const c = this.context;
		c.strokeStyle = this.color.accent;
		c.lineWidth = 2;
		for (const [row, begin, ns] of this.marked) {
			const y = this.place.get(row),
				x1 = Math.max(this.left, this.x(begin)),
				x2 = Math.min(this.width, this.x(begin + ns));
			if (y === undefined || x2 < this.left || x1 > this.width) continue;
			c.strokeRect(x1, y + 1, Math.max(x2 - x1, 2), ROW - 3);
		}
		c.lineWidth = 1;
	}
}

/* All pieces of a sentence, marked and in view. */
function showSentence(timeline, number) {
	const pieces = (TIMELINE.sentences || [])[number] || [];
	if (!pieces.length) return;
	timeline.marked = pieces;
	for (const line of document.querySelectorAll('.verdict li'))
		line.classList.toggle('chosen', line.dataset.sentence === String(number));
	const from = Math.min(...pieces.map(([, begin]) => begin)),
		to = Math.max(...pieces.map(([, begin, ns]) => begin + ns)),
		around = (to - from) * 0.04;
	const most = new Map();
	for (const [row, , ns] of pieces) most.set(row, (most.get(row) || 0) + ns);
	timeline.show(from - around, to + around);
	timeline.reveal([...most].sort((a, b) => b[1] - a[1])[0][0]);
	timeline.element.scrollIntoView({block: 'nearest'});
	announce(`${count(pieces.length, 'stretch', 'stretches')} of ${count(most.size, 'thread')} marked in the timeline`);
	rememberPlace(timeline, true);
}
