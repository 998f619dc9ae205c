/* SPDX-License-Identifier: MIT */
/* The timeline: which part of time and which rows are shown, where they are on the canvas, and what is selected.
 * How it is drawn: paint.js; what happens on mouse and keys: events.js.
 */
/* Asleep from the window's begin to its end, as a kernel thread without work, or in what nobody knows. */
function wasStill(row) {
	const cells = cellsOf(LEVELS[0], row),
		leaf = cells.length === 1 && cells.what[0] >= 0 && LEAVES[cells.what[0]];
	return leaf && leaf.kind === IDLE && /^blocked\/(kthread|unknown)$/.test(leaf.key);
}

class Timeline extends TimelinePicture {
	constructor(canvas) {
		super();
		this.canvas = canvas;
		this.context = canvas.getContext('2d', {alpha: false});
		this.pixels = new Pixels();
		this.from = 0;
		this.to = LENGTH;
		this.scroll = 0;
		this.path = (REPORT.critical_path || []).filter((piece) => piece.end > piece.begin);
		this.hops = pathHops(this.path);
		this.shares = hopShares(this.hops);
		this.marked = []; /* what a sentence is of: [row, begin, ns] */
		/* what stands in each line: -1 the path; who has most of it first; the kernel's threads come after the others,
		 * and last who only waited all the time */
		const share = (row) => this.shares.get(row) || 0;
		const rank = (row) => share(row) ? 0 : (cellsOf(LEVELS[0], row).length < 2 ? 3 : ROWS[row].kernel ? 2 : 1);
		const rows = [...ROWS.keys()].sort((a, b) => rank(a) - rank(b) || share(b) - share(a) || a - b);
		this.still = new Set(rows.filter((row) => !share(row) && wasStill(row)));
		this.showStill = this.still.size < 4;
		this.lines = [
			...(this.path.length ? [-1] : []),
			...rows.filter((row) => share(row) || CALLS.has(row)),
			...LANES.map((_, i) => -2 - i),
			...rows.filter((row) => !share(row) && !CALLS.has(row)),
		];
		this.whole = LENGTH; /* what shares of the path are of */
		this.open = new Set();
		this.openAll = false;
		this.arrows = true;
		this.selected = null; /* a cell, as describe() makes it */
		this.line = 0; /* the line that the keyboard is on */
		this.matches = new Set();
		this.frameTimes = [];
		this.onselect = () => {};
		this.listeners = []; /* called when another part of time is shown */
		this.ondrawn = () => {};
		this.allHops = null; /* of a served page, once they were asked for */
		this.colors();
		themeListeners.push(() => {
			this.colors();
			if (this.width) this.paint(); /* at once: the page may be about to be printed */
		});
	}

	/* Another path than the report's: that of one request. Its rows come first, as it meets them. */
	setPath(pieces, whole) {
		this.path = pieces;
		this.whole = whole;
		this.hops = [];
		for (const {row, begin, end, color} of pieces) {
			const last = this.hops[this.hops.length - 1];
			if (last && last.row === row && last.end === begin && last.color === color) last.end = end;
			else this.hops.push({row, begin, end, color});
		}
		this.shares = hopShares(this.hops);
		const met = [...this.shares.keys()];
		this.lines = [
			...(pieces.length ? [-1] : []),
			...met,
			...(pieces.length ? lanesIn(pieces[0].begin, Math.max(...pieces.map((piece) => piece.end))) : lanesIn(0, LENGTH)),
			...[...ROWS.keys()].filter((row) => !this.shares.has(row)),
		];
		this.scroll = 0;
		this.selected = null;
		this.marked = [];
		if (this.width) this.resize();
	}

	colors() {
		const style = getComputedStyle(document.documentElement);
		const color = (name) => style.getPropertyValue(`--${name}`).trim();
		this.color = {
			text: color('text'),
			faint: color('faint'),
			line: color('line'),
			back: color('panel'),
			stripe: color('stripe'),
			accent: color('accent'),
			gap: color('gap'),
			hit: color('ready'),
			held: color('all'),
		};
		this.color.onHeld = lightness(this.color.held) > 0.5 ? '#14181d' : '#ffffff';
		this.familyColor = (key) => color(key);
		this.classColor = CLASSES.map(({key}) => color(key));
		this.onColor = this.classColor.map((one) => (lightness(one) > 0.5 ? '#14181d' : '#ffffff'));
		this.patterns = CLASSES.map((_, i) => (i >= READY && i < IDLE ? this.pattern(this.classColor[i], i) : null));
	}

	/* Blocked: hatched; ready: dotted; unknown: sparse lines. */
	pattern(color, kind) {
		const tile = document.createElement('canvas');
		tile.width = tile.height = 8;
		const context = tile.getContext('2d');
		context.fillStyle = this.color.back;
		context.fillRect(0, 0, 8, 8);
		context.globalAlpha = kind === UNKNOWN ? 0.12 : 0.55;
		context.fillStyle = color;
		context.fillRect(0, 0, 8, 8);
		context.globalAlpha = 1;
		context.strokeStyle = color;
		context.beginPath();
		if (kind === READY) {
			context.fillRect(1, 1, 2, 2);
			context.fillRect(5, 5, 2, 2);
		} else {
			context.moveTo(-2, 10);
			context.lineTo(10, -2);
			context.moveTo(-6, 6);
			context.lineTo(6, -6);
			context.moveTo(2, 14);
			context.lineTo(14, 2);
		}
		context.stroke();
		return this.context.createPattern(tile, 'repeat');
	}

	/* --- places ---------------------------------------------------------------------- */

	get left() {
		return this.width < 620 ? 96 : (MANY_HOSTS ? 256 : 176) + (this.hops.length ? 44 : 0);
	}

	get nsPerPixel() {
		return (this.to - this.from) / Math.max(1, this.width - this.left);
	}

	x(time) {
		return this.left + (time - this.from) / this.nsPerPixel;
	}

	time(x) {
		return this.from + (x - this.left) * this.nsPerPixel;
	}

	isOpen(row) {
		return row >= 0 && (this.openAll || this.open.has(row));
	}

	lineHeight(row) {
		return ROW + (this.isOpen(row) ? framesOf(row) * FRAME : 0);
	}

	/* Its thread lives at no time that is shown, or did nothing ever: it has no line. */
	isAway(row) {
		const thread = ROWS[row];
		if (!this.showStill && this.still.has(row) && !this.matches.has(row) && this.selected?.row !== row) return true;
		if (row < 0 || (thread.from < this.to && thread.to > this.from)) return false;
		return !this.shares.has(row) && this.selected?.row !== row;
	}

	get linesHeight() {
		return this.lines.reduce((sum, row) => sum + (this.isAway(row) ? 0 : this.lineHeight(row)), 0);
	}

	/* Visits each line with its place: visit(row, y, height, line) */
	eachLine(visit) {
		let y = AXIS - this.scroll;
		for (const [line, row] of this.lines.entries()) {
			if (this.isAway(row)) continue;
			const height = this.lineHeight(row);
			visit(row, y, height, line);
			y += height;
		}
		return y + this.scroll - AXIS;
	}

	lineAt(y) {
		let found = null;
		this.eachLine((row, top, height, line) => {
			if (y >= Math.max(top, AXIS) && y < top + height) found = {row, line, top};
		});
		return found;
	}

	resize() {
		const ratio = (this.ratio = devicePixelRatio || 1);
		this.width = this.canvas.clientWidth;
		const all = this.linesHeight;
		this.height = Math.min(Math.max(all + AXIS + 6, 120), Math.max(260, innerHeight * 0.62));
		this.canvas.style.height = `${this.height}px`;
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.draw();
	}

	/* Shows [from, to), inside the window and not below 100 ns. */
	show(from, to) {
		const least = Math.min(100, LENGTH),
			ns = Math.min(Math.max(to - from, least), LENGTH);
		this.from = Math.max(0, Math.min((from + to) / 2 - ns / 2, LENGTH - ns));
		this.to = this.from + ns;
		if (this.height) this.scrollBy(0);
		rememberPlace(this, false);
		for (const listener of this.listeners) listener();
		this.draw();
	}

	zoom(factor, time = (this.from + this.to) / 2) {
		this.show(time - (time - this.from) * factor, time + (this.to - time) * factor);
	}

	pan(part) {
		const ns = (this.to - this.from) * part;
		this.show(this.from + ns, this.to + ns);
	}

	scrollBy(pixels) {
		const before = this.scroll;
		this.scroll = Math.max(0, Math.min(this.scroll + pixels, this.linesHeight + AXIS + 6 - this.height));
		this.draw();
		return this.scroll !== before;
	}

	/* Brings a row into view. */
	reveal(row) {
		this.eachLine((at, y, height, line) => {
			if (at !== row) return;
			this.line = line;
			if (y < AXIS) this.scroll += y - AXIS;
			else if (y + height > this.height) this.scroll += y + height - this.height + 4;
		});
		this.scroll = Math.max(0, this.scroll);
	}
}
