// SPDX-License-Identifier: MIT
// Drives every method of the client that trace viewers use (tsp-typescript-client), and prints what it made of the
// answers as one JSON object: {method: {status, model}}. Times and other large numbers are text.
//   node client.js URL PATH THREAD          (with NODE_PATH where it is installed)
'use strict';
const {HttpTspClient} = require('tsp-typescript-client/lib/protocol/http-tsp-client');
const {QueryHelper} = require('tsp-typescript-client/lib/models/query/query-helper');
const {Query} = require('tsp-typescript-client/lib/models/query/query');

const [url, path, thread] = process.argv.slice(2);
const client = new HttpTspClient(url);
const results = {};

// The model is what the client hands to a viewer.
async function note(name, promise) {
	const response = await promise;
	results[name] = {status: response.getStatusCode(), model: response.getModel()};
	return response.getModel();
}

const data = (entries) => entries.filter((entry) => entry.hasData !== false).map((entry) => entry.id);

async function traces() {
	await note('checkHealth', client.checkHealth());
	await note('fetchIdentifier', client.fetchIdentifier());
	const [trace] = await note('fetchTraces', client.fetchTraces());
	await note('fetchTrace', client.fetchTrace(trace.UUID));
	await note('openTrace', client.openTrace(new Query({uri: path, name: 'x'})));
	await note('openTrace of another', client.openTrace(new Query({uri: '/etc', name: 'x'})));
	const [first] = await note('fetchExperiments', client.fetchExperiments());
	await note('deleteTrace in use', client.deleteTrace(trace.UUID, true, true));
	await note('deleteExperiment', client.deleteExperiment(first.UUID));
	await note('fetchExperiments without', client.fetchExperiments());
	await note('deleteTrace', client.deleteTrace(trace.UUID));
	await note('createExperiment', client.createExperiment(new Query({name: 'x', traces: [trace.UUID]})));
	await note('fetchExperiment', client.fetchExperiment(first.UUID));
	await note('updateExperiment', client.updateExperiment(first.UUID, new Query({name: 'x'})));
	return first;
}

async function graphs(experiment, id, prefix = id) {
	const {UUID, start, end} = experiment;
	const tree = await note(`${prefix} tree`, client.fetchTimeGraphTree(UUID, id, QueryHelper.timeRangeQuery(start, end)));
	const items = data(tree.model.entries);
	const states = await note(
		`${prefix} states`,
		client.fetchTimeGraphStates(UUID, id, QueryHelper.selectionTimeRangeQuery(start, end, items)),
	);
	await note(
		`${prefix} sampled`,
		client.fetchTimeGraphStates(UUID, id, QueryHelper.selectionTimeRangeQuery(start, end, 200, items)),
	);
	await note(`${prefix} arrows`, client.fetchTimeGraphArrows(UUID, id, QueryHelper.timeRangeQuery(start, end, 60000)));
	await note(`${prefix} style`, client.fetchStyles(UUID, id, QueryHelper.query()));
	await note(`${prefix} categories`, client.fetchAnnotationsCategories(UUID, id));
	await note(`${prefix} annotations`, client.fetchAnnotations(UUID, id, QueryHelper.timeRangeQuery(start, end, 100)));
	const row = states.model.rows.find((one) => one.states.length);
	if (!row) return;
	const state = row.states[0];
	await note(
		`${prefix} tooltip`,
		client.fetchTimeGraphTooltip(
			UUID,
			id,
			new Query({
				requested_times: [state.start],
				requested_items: [row.entryId],
				requested_element: {elementType: 'state', time: state.start, duration: state.end - state.start},
			}),
		),
	);
}

async function charts(experiment) {
	const {UUID, start, end} = experiment;
	for (const id of ['cpu-use', 'disk-queue', 'time-lapse', 'disk']) {
		const tree = await note(`${id} tree`, client.fetchXYTree(UUID, id, QueryHelper.timeRangeQuery(start, end)));
		if (!tree || !tree.model) continue;
		const items = data(tree.model.entries);
		await note(`${id} xy`, client.fetchXY(UUID, id, QueryHelper.selectionTimeRangeQuery(start, end, 100, items)));
	}
	await note('fetchXYToolTip', client.fetchXYToolTip(UUID, 'cpu-use', start));
	const tree = await note(
		'latencies tree',
		client.fetchGenericXYTree(UUID, 'latencies', QueryHelper.timeRangeQuery(start, end)),
	);
	const items = data(tree.model.entries);
	const range = QueryHelper.selectionTimeRangeQuery(BigInt(0), BigInt('1000000000000'), 100, items, undefined, true);
	await note('latencies xy', client.fetchGenericXY(UUID, 'latencies', range));
}

async function configurations(experiment) {
	const {UUID} = experiment;
	const types = await note('fetchOutputConfigurationTypes', client.fetchOutputConfigurationTypes(UUID, 'critical-path'));
	const type = types[0].id;
	await note('fetchOutputConfigurationType', client.fetchOutputConfigurationType(UUID, 'critical-path', type));
	const query = QueryHelper.outputConfigurationQuery('mine', 'one of mine', type, {thread});
	const made = await note('createDerivedOutput', client.createDerivedOutput(UUID, 'critical-path', query));
	await graphs(experiment, made.id, 'critical-path');
	await note('experimentOutputs with', client.experimentOutputs(UUID));
	await note('deleteDerivedOutput', client.deleteDerivedOutput(UUID, 'critical-path', made.id));
	await note('fetchConfigurationSourceTypes', client.fetchConfigurationSourceTypes());
	await note('fetchConfigurationSourceType', client.fetchConfigurationSourceType('x'));
	await note('fetchConfigurations', client.fetchConfigurations('x'));
	await note('fetchConfiguration', client.fetchConfiguration('x', 'y'));
	await note('createConfiguration', client.createConfiguration('x', QueryHelper.configurationQuery('n', 'd', {})));
	await note('updateConfiguration', client.updateConfiguration('x', 'y', QueryHelper.configurationQuery('n', 'd', {})));
	await note('deleteConfiguration', client.deleteConfiguration('x', 'y'));
}

async function main() {
	const experiment = await traces();
	const {UUID, start, end} = experiment;
	await note('experimentOutputs', client.experimentOutputs(UUID));
	await note('fetchMarkerSets', client.fetchMarkerSets(UUID));
	for (const id of ['threads', 'resources', 'locks']) await graphs(experiment, id);
	await charts(experiment);
	for (const id of ['states', 'waits', 'bottlenecks', 'requests', 'findings'])
		await note(`${id} tree`, client.fetchDataTree(UUID, id, QueryHelper.timeRangeQuery(start, end)));
	await note('fetchTableColumns', client.fetchTableColumns(UUID, 'operations', QueryHelper.query()));
	await note('fetchTableLines', client.fetchTableLines(UUID, 'operations', QueryHelper.tableQuery([0, 1, 2, 4], 0, 10000)));
	await configurations(experiment);
	process.stdout.write(JSON.stringify(results, (_, value) => (typeof value === 'bigint' ? value.toString() : value)));
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
