/* SPDX-License-Identifier: MIT */
/* The pictures of profiles: latencies on logarithmic axes with their peaks shaded, small and large, and over time.
 * SVG, made of the report's buckets; each rectangle has its figures as a title.
 */

/* Counts by bucket, on logarithms: height of `value` of `height` pixels. */
function logHeight(value, most, height) {
	return value ? Math.max(2, (height * Math.log(value + 1)) / Math.log(most + 1)) : 0;
}

function spark(profile) {
	const first = Math.min(...profile.buckets.map((one) => one.bucket)),
		last = Math.max(...profile.buckets.map((one) => one.bucket));
	const most = Math.max(...profile.buckets.map((one) => one.count)),
		wide = Math.max(1, Math.min(8, 120 / (last - first + 1)));
	return svg(
		'svg',
		{width: 124, height: 22, class: 'spark', 'aria-hidden': 'true'},
		profile.buckets.map((one) => {
			const height = logHeight(one.count, most, 20);
			return svg('rect', {
				x: (one.bucket - first) * wide,
				y: 22 - height,
				width: Math.max(wide - 1, 0.8),
				height,
			});
		}),
	);
}

/* What most of a peak's time went to: null if that was not asked for. */
function causeOfPeak(peak) {
	const [part] = [...(peak.tree?.children || [])].sort((a, b) => b.ns - a.ns);
	return part ? {class: classOfPart(part.node), name: partName(part, peak.tree)} : null;
}

/* The colours of the bars that are there, for people. */
function causeLegend(profile) {
	const found = new Map(profile.peaks.map(causeOfPeak).filter(Boolean).map((cause) => [cause.class, cause]));
	return el(
		'ul',
		{class: 'legend'},
		[...found.keys()].map((key) =>
			el('li', {}, el('span', {class: `swatch c-${key}`}), `Most of the peak’s time: ${PART_WORDS[key]}`),
		),
		profile.buckets.some((one) => !profile.peaks.some((of) => one.bucket >= of.first_bucket && one.bucket <= of.last_bucket))
			? el('li', {}, el('span', {class: 'swatch c-all'}), 'in no peak')
			: null,
		profile.saved_buckets
			? el('li', {}, el('span', {class: 'swatch c-saved'}), `in ${REPORT.comparison.file}: framed`)
			: null,
	);
}

const PART_WORDS = {
	user: 'user code',
	syscall: 'work in the kernel',
	interrupt: 'interrupts',
	ready: 'ready, without a CPU',
	blocked: 'waiting',
	device: 'waiting for a device',
};

function histogram(profile, choose) {
	const saved = profile.saved_buckets || [],
		all = [...profile.buckets, ...saved];
	const first = Math.min(...all.map((one) => one.bucket)) - 1,
		last = Math.max(...all.map((one) => one.bucket)) + 1,
		number = last - first + 1;
	const most = Math.max(...all.map((one) => one.count)),
		left = 56,
		height = 220,
		top = 40;
	const wide = Math.max(6, Math.min(46, Math.min(760, innerWidth - left - 48) / number)), /* a narrow page has it whole, too */
		width = left + number * wide + 14;
	const x = (bucket) => left + (bucket - first) * wide;
	const picture = svg('svg', {
		viewBox: `0 0 ${width} ${height + top + 24}`,
		width,
		height: height + top + 24,
		class: 'histogram',
		role: 'group',
		'aria-label': `Latencies of ${scopeText(profile)}: operations by duration`,
	});
	for (let value = 1; value <= most * 1.5; value *= 10) {
		const y = top + height - logHeight(value, most, height);
		if (y < top - 6) break;
		picture.append(
			svg('line', {x1: left, x2: width - 10, y1: y, y2: y, class: 'grid'}),
			svg('text', {x: left - 6, y: y + 4, 'text-anchor': 'end', class: 'small'}, value.toLocaleString('en')),
		);
	}
	for (const peak of profile.peaks) {
		const from = x(peak.first_bucket),
			size = x(peak.last_bucket + 1) - from;
		const shade = svg(
			'g',
			{
				class: 'peak',
				tabindex: 0,
				role: 'button',
				'data-peak': peak.peak,
				'aria-label': `Peak ${peak.peak}, ${rangeText(profile, peak)}, ${count(peak.count, 'operation')}`,
			},
			svg('rect', {x: from, y: top - 38, width: size, height: height + 38}),
			svg(
				'text',
				{x: from + size / 2, y: top - 22, 'text-anchor': 'middle'},
				size > 46 ? `peak ${peak.peak}` : peak.peak,
			),
		);
		shade.addEventListener('click', () => choose(peak));
		shade.addEventListener('keydown', (event) => {
			if (event.key === 'Enter' || event.key === ' ') {
				choose(peak);
				event.preventDefault();
			}
		});
		picture.append(shade);
	}
	for (const one of profile.buckets) {
		const size = logHeight(one.count, most, height),
			peak = profile.peaks.find((of) => one.bucket >= of.first_bucket && one.bucket <= of.last_bucket),
			cause = peak && causeOfPeak(peak);
		picture.append(
			svg(
				'rect',
				{
					x: x(one.bucket) + 1,
					y: top + height - size,
					width: wide - 2,
					height: size,
					class: `column f-${cause ? cause.class : 'all'}`,
				},
				svg(
					'title',
					{},
					`${duration(one.from_ns)} to ${one.to_ns > 9e18 ? 'more' : duration(one.to_ns)}: ${count(one.count, 'operation')}` +
						(cause ? `; most of the peak’s time: ${cause.name}` : ''),
				),
			),
		);
		if (wide > 26)
			picture.append(
				svg(
					'text',
					{
						x: x(one.bucket) + wide / 2,
						y: top + height - size - 4,
						'text-anchor': 'middle',
						class: 'small value',
					},
					one.count,
				),
			);
	}
	/* what is compared with: as lines over the bars */
	for (const one of saved) {
		const size = logHeight(one.count, most, height);
		picture.append(
			svg(
				'rect',
				{x: x(one.bucket) + 3, y: top + height - size, width: wide - 6, height: size, class: 'saved'},
				svg(
					'title',
					{},
					`in ${REPORT.comparison.file}: ${duration(one.from_ns)} to ${one.to_ns > 9e18 ? 'more' : duration(one.to_ns)}: ${count(one.count, 'operation')}`,
				),
			),
		);
	}
	axisLabels(profile, picture, x, first, number, top + height, wide);
	const step = profile.resolution === 1 ? 'twice' : `2^(1/${profile.resolution}) times`;
	return [
		el('div', {class: 'scroll'}, picture),
		el('p', {class: 'note'}, `From left to right: latency, each column ${step} the one before; height: logarithm of the number.`),
	];
}

function axisLabels(profile, picture, x, first, number, y, wide) {
	const every = Math.max(1, Math.ceil(62 / wide));
	for (let i = 0; i < number; i += every) {
		const ns = 2 ** ((first + i) / profile.resolution);
		picture.append(
			svg('line', {x1: x(first + i), x2: x(first + i), y1: y, y2: y + 5, class: 'grid'}),
			svg('text', {x: x(first + i), y: y + 18, 'text-anchor': 'middle', class: 'small'}, shortDuration(ns)),
		);
	}
}

/* Segments of time over buckets; darker, and a number beside the pointer: more operations. */
function heatMap(profile, timeline) {
	if (!profile.time_lapse) return null;
	const {rows, step_ns: step} = profile.time_lapse;
	if (!rows.length) return null;
	const buckets = profile.buckets.map((one) => one.bucket),
		first = Math.min(...buckets),
		last = Math.max(...buckets);
	const most = Math.max(...rows.flatMap((row) => Object.values(row.counts))),
		segments = Math.ceil(LENGTH / step);
	const wide = Math.max(2, Math.min(30, 760 / segments)),
		high = Math.max(8, Math.min(18, 320 / (last - first + 1))),
		left = 64;
	const height = (last - first + 1) * high,
		picture = svg('svg', {
			width: left + segments * wide + 60,
			height: height + 34,
			class: 'heat',
			role: 'img',
			'aria-label': 'Latencies over time',
		});
	for (let bucket = first; bucket <= last; bucket++)
		picture.append(
			svg(
				'text',
				{x: left - 6, y: (last - bucket + 1) * high - 2, 'text-anchor': 'end', class: 'small'},
				high > 10 || bucket % 2 ? shortDuration(2 ** (bucket / profile.resolution)) : '',
			),
		);
	for (const row of rows)
		for (const [bucket, number] of Object.entries(row.counts)) {
			const cell = svg(
				'rect',
				{
					x: left + Math.round(row.begin / step) * wide,
					y: (last - bucket) * high,
					width: wide - (wide > 6 ? 1 : 0),
					height: high - 1,
					opacity: 0.15 + (0.85 * Math.log(number + 1)) / Math.log(most + 1),
					class: 'column',
				},
				svg(
					'title',
					{},
					`from ${clock(row.begin)}: ${count(number, 'operation')} of ${duration(2 ** (bucket / profile.resolution))} or more`,
				),
			);
			cell.addEventListener('click', () => {
				timeline.show(row.begin, row.begin + step);
				timeline.element.scrollIntoView({block: 'start'});
			});
			picture.append(cell);
		}
	for (const peak of profile.peaks)
		for (const {time} of peak.rhythm?.occasions ?? [])
			picture.append(
				svg(
					'path',
					{
						d: `M${left + (time / step) * wide} ${(last - peak.last_bucket) * high}V${height + 4}`,
						class: 'occasion',
					},
					svg('title', {}, `${clock(time)}: ${peak.rhythm.sentence}`),
				),
			);
	for (let i = 0; i <= segments; i += Math.max(1, Math.ceil(70 / wide)))
		picture.append(
			svg('text', {x: left + i * wide, y: height + 16, class: 'small'}, `+${shortDuration(i * step)}`),
		);
	return [el('h4', {}, `Over time, each ${duration(step)}`), el('div', {class: 'scroll'}, picture)];
}

/* Latency against a number that it follows: up to 200 operations, and the line through them. */
function scatter(one) {
	const left = 64,
		top = 10,
		width = 420,
		height = 180;
	const mostX = Math.max(...one.points.map((point) => point[0]), 1),
		mostY = Math.max(...one.points.map((point) => point[1]), 1);
	const x = (value) => left + (value / mostX) * (width - left - 10),
		y = (value) => top + height - (Math.max(0, Math.min(value, mostY)) / mostY) * height;
	const picture = svg('svg', {
		viewBox: `0 0 ${width} ${height + top + 30}`,
		width,
		height: height + top + 30,
		class: 'scatter',
		role: 'img',
		'aria-label': `Latency by ${one.sentence}`,
	});
	for (const [value, at] of [
		[0, top + height],
		[mostY, top],
	])
		picture.append(
			svg('line', {x1: left, x2: width - 10, y1: at, y2: at, class: 'grid'}),
			svg('text', {x: left - 6, y: at + 4, 'text-anchor': 'end', class: 'small'}, duration(value)),
		);
	picture.append(
		svg('text', {x: left, y: top + height + 20, class: 'small'}, '0'),
		svg(
			'text',
			{x: width - 10, y: top + height + 20, 'text-anchor': 'end', class: 'small'},
			`${one.field} ${mostX.toLocaleString('en')}`,
		),
	);
	for (const point of one.points) picture.append(svg('circle', {cx: x(point[0]), cy: y(point[1]), r: 2.5, class: 'point'}));
	picture.append(
		svg('line', {
			x1: x(0),
			y1: y(one.base_ns),
			x2: x(mostX),
			y2: y(one.base_ns + one.slope_ns * mostX),
			class: 'fitted',
		}),
	);
	return picture;
}
