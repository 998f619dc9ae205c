/* SPDX-License-Identifier: MIT */
/* An icicle: what time went to, as nested boxes, callers above what they called; a box is as wide as its time. Made of elements, so that it can be
 * read aloud, printed and walked through with the keys as any tree.
 *
 *   ┌ all ─────────────────────────────┐     a click, or Enter: that box fills the width; Escape, or a click on one
 *   ├ xinit ───────────────┬ x-session ┤     above it: back. Arrows go to the box above, below and beside.
 *   ├ waited in pselect6 ──┤
 *
 * A node: {name, kind: class of the palette, ns, count, children: Map by name}. What is narrower than a third of a pixel is
 * not drawn; its time is in the box above.
 */
const ICICLE_ROW = 21,
	ICICLE_BOXES = 1500;

function newNode(name, kind, note) {
	return {name, kind, note, ns: 0, count: 0, children: new Map()};
}

/* Adds time on a way down: [[name, kind], …] */
function addWay(root, way, ns, times = 1) {
	let node = root;
	node.ns += ns;
	node.count += times;
	for (const [name, kind] of way) {
		const key = `${kind} ${name}`;
		let next = node.children.get(key);
		if (!next) {
			next = newNode(name, kind);
			next.above = node;
			node.children.set(key, next);
		}
		next.ns += ns;
		next.count += times;
		node = next;
	}
	return node;
}

const sortedBelow = (node) => [...node.children.values()].sort((a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1));

class Icicle {
	/* `counted`: what `count` of a node counts, as "sample" */
	constructor(label, counted) {
		this.counted = counted;
		this.word = '';
		this.root = this.top = newNode('all', 'all');
		this.said = el('p', {class: 'note', role: 'status'});
		this.tree = el('div', {class: 'icicle', role: 'tree', 'aria-label': label});
		this.box = el('input', {type: 'search', placeholder: 'Search …', 'aria-label': `Search in: ${label}`});
		this.box.addEventListener('input', () => {
			this.word = this.box.value.trim().toLowerCase();
			this.draw();
			this.onplace(false);
		});
		this.onplace = () => {}; /* another box, or another word: onplace(is it a step of its own) */
		this.out = button('Whole', 'All of it again (Escape)', () => this.zoom(this.root), {disabled: true});
		this.element = el(
			'div',
			{},
			el('div', {class: 'toolbar'}, this.out, this.box),
			el('div', {class: 'icicle-frame'}, this.tree),
			this.said,
		);
		this.tree.addEventListener('keydown', (event) => this.key(event));
		new ResizeObserver(() => this.tree.clientWidth !== this.width && this.draw()).observe(this.tree);
	}

	/* Another tree; what was zoomed to stays so, if it is in it. */
	show(root) {
		const way = [];
		for (let node = this.top; node && node.above; node = node.above) way.unshift(`${node.kind} ${node.name}`);
		this.root = root;
		this.top = root;
		for (const key of way) {
			if (!this.top.children.has(key)) break;
			this.top = this.top.children.get(key);
		}
		this.draw();
	}

	/* The names of the boxes down to the one that is zoomed to. */
	get way() {
		const names = [];
		for (let node = this.top; node && node.above; node = node.above) names.unshift(node.name);
		return names;
	}

	/* As far down that way as it goes. */
	place(names, word) {
		this.top = this.root;
		for (const name of names) {
			const next = sortedBelow(this.top).find((node) => node.name === name);
			if (!next) break;
			this.top = next;
		}
		this.box.value = word;
		this.word = word.trim().toLowerCase();
		this.draw();
	}

	zoom(node) {
		this.top = node;
		this.onplace(true);
		this.draw();
		this.at?.focus();
		announce(this.words(node));
	}

	words(node) {
		return (
			`${node.name}: ${duration(Math.round(node.ns))}, ${percent(node.ns, this.root.ns)} of ${duration(Math.round(this.root.ns))}` +
			(this.counted && node.count ? `, ${count(node.count, this.counted)}` : '')
		);
	}

	/* Time of the outermost boxes that have the word. */
	matching(node) {
		if (node !== this.root && node.name.toLowerCase().includes(this.word)) return node.ns;
		let ns = 0;
		for (const child of node.children.values()) ns += this.matching(child);
		return ns;
	}

	draw() {
		const width = (this.width = this.tree.clientWidth || 1000),
			line = [];
		for (let node = this.top; node; node = node.above) line.unshift(node);
		this.boxes = new Map();
		this.at = null;
		this.tree.replaceChildren();
		this.out.disabled = this.top === this.root;
		line.forEach((node, depth) => this.put(node, 0, width, depth, node !== this.top));
		let deepest = line.length;
		const below = (node, x, wide, depth) => {
			let at = x;
			for (const child of sortedBelow(node)) {
				const size = node.ns ? (wide * child.ns) / node.ns : 0;
				if (size < 0.34 || this.boxes.size >= ICICLE_BOXES) break;
				this.put(child, at, size, depth, false);
				deepest = Math.max(deepest, depth + 1);
				below(child, at, size, depth + 1);
				at += size;
			}
		};
		below(this.top, 0, width, line.length);
		this.tree.style.height = `${deepest * ICICLE_ROW + 2}px`;
		const found = this.word && this.matching(this.root);
		this.said.textContent = this.word
			? `“${this.word}”: ${duration(Math.round(found))}, ${percent(found, this.root.ns)} of ${duration(Math.round(this.root.ns))}`
			: this.root.ns
				? `${this.words(this.top)}.`
				: 'Nothing.';
	}

	put(node, x, wide, depth, above) {
		const words = this.words(node),
			box = el(
				'div',
				{
					class: `frame c-${node.kind}${above ? ' above' : ''}${this.word && node.name.toLowerCase().includes(this.word) ? ' hit' : ''}`,
					role: 'treeitem',
					tabindex: node === this.top ? 0 : -1,
					'aria-label': words,
					'aria-level': depth + 1,
					'aria-selected': node === this.top ? 'true' : 'false',
				},
				wide > 26 ? el('span', {class: 'words'}, node.name) : null,
			);
		box.style.left = `${(100 * x) / this.width}%`;
		box.style.width = `calc(${(100 * wide) / this.width}% - ${wide > 3 ? 1 : 0}px)`;
		box.style.top = `${depth * ICICLE_ROW}px`;
		box.addEventListener('click', () => this.zoom(node));
		box.addEventListener('pointermove', (event) =>
			showTip(event.clientX, event.clientY, [
				node.name,
				`${duration(Math.round(node.ns))}, ${percent(node.ns, this.root.ns)} of all${node.above ? `, ${percent(node.ns, node.above.ns)} of what is above` : ''}`,
				this.counted && node.count ? count(node.count, this.counted) : '',
				node.note || '',
			].filter(Boolean)),
		);
		box.addEventListener('pointerleave', hideTip);
		this.boxes.set(node, box);
		if (node === this.top) this.at = box;
		this.tree.append(box);
	}

	key(event) {
		const node = [...this.boxes].find(([, box]) => box === document.activeElement)?.[0];
		if (!node) return;
		const beside = node.above ? sortedBelow(node.above).filter((one) => this.boxes.has(one)) : [node],
			near = {
				ArrowUp: node.above,
				ArrowDown: sortedBelow(node).find((one) => this.boxes.has(one)),
				ArrowLeft: beside[beside.indexOf(node) - 1],
				ArrowRight: beside[beside.indexOf(node) + 1],
			};
		if (event.key === 'Enter' || event.key === ' ') this.zoom(node);
		else if (event.key === 'Escape' || event.key === 'Backspace') this.zoom(this.root);
		else if (event.key === '/') this.box.focus();
		else if (!(event.key in near)) return;
		else if (near[event.key]) {
			for (const box of this.boxes.values()) box.tabIndex = -1;
			const box = this.boxes.get(near[event.key]);
			box.tabIndex = 0;
			box.focus();
			announce(this.words(near[event.key]));
		}
		event.preventDefault();
		event.stopPropagation();
	}
}
