/* SPDX-License-Identifier: MIT */
/* What engines take to run a job; see engines.h. Each was tried with the engine itself
 * (tests/engines.t, tests/slurm.t), Kubernetes' manifests against its API (tests/engines.t).
 *
 *   engine     a task that is killed           a machine that is lost         then
 *   slurm      three tries on its node         Slurm requeues its tasks       merge: afterany
 *   parallel   --retries 10, elsewhere         --retries 10, elsewhere        merge, whatever was
 *   k8s        backoffLimitPerIndex            a new pod                      merge, by `run`
 *
 * A merge always follows: what has no line is missing, and is told.
 */
#include "engines/engines.h"

#include "config.h"

/* --- Slurm: sbatch(1), its arrays ---------------------------------------------------------- */

static const struct engine_file slurm_files[] = {
	{"map.sbatch", false,
	 "#!/bin/sh\n"
	 "#SBATCH --job-name=whylate-map\n"
	 "#SBATCH --requeue\n"
	 "#SBATCH --open-mode=append\n"
	 "# One task of the array. What kills it may be the trace (memory) or the machine: three "
	 "tries.\n"
	 "for try in 1 2 3; do\n"
	 "\t@DIRECTORY@/task \"$SLURM_ARRAY_TASK_ID\" && exit 0\n"
	 "done\n"
	 "exit 1\n",
	 NULL},
	{"merge.sbatch", false,
	 "#!/bin/sh\n"
	 "#SBATCH --job-name=whylate-merge\n"
	 "#SBATCH --requeue\n"
	 "#SBATCH --open-mode=append\n"
	 "exec @DIRECTORY@/merge\n",
	 NULL},
	{"run", true,
	 "#!/bin/sh\n"
	 "# Hands both to Slurm: the array, and the merge when all of it has ended, in whatever "
	 "way.\n"
	 "# Arguments are sbatch's, as --partition=NAME. Prints the job of the merge.\n"
	 "set -eu\n"
	 "cd @DIRECTORY@\n"
	 "map=$(sbatch --parsable --array=0-@LAST@ --output=log/map-%a.log \"$@\" map.sbatch)\n"
	 "exec sbatch --parsable --dependency=\"afterany:${map%%;*}\" --output=log/merge.log "
	 "\"$@\" "
	 "merge.sbatch\n",
	 NULL},
	{"README", false,
	 "./run hands @TASKS@ tasks to Slurm as an array, and a merge that follows them. Its\n"
	 "arguments are sbatch's (./run --partition=NAME --mem=4G). When the merge has ended:\n"
	 "\n"
	 "  sum.json     what all traces add up to\n"
	 "  index.html   the page of them all\n"
	 "  log/         what was said; merge.log names traces that have no line\n"
	 "\n"
	 "A task that Slurm lost can be run alone: ./task NUMBER, then ./merge. All nodes must see "
	 "the\n"
	 "traces and this directory under the same paths, and have whylate (or $WHYLATE).\n"
	 "A task that Slurm requeues waits two minutes; scontrol update jobid=ID starttime=now "
	 "ends that.\n",
	 NULL},
	{0}};

/* --- GNU parallel(1) ----------------------------------------------------------------------- */

static const struct engine_file parallel_files[] = {
	{"run", true,
	 "#!/bin/sh\n"
	 "# Runs all tasks, and the merge. A lost host costs tries of what runs elsewhere, too: "
	 "ten. Arguments are parallel's, as\n"
	 "# --sshlogin 4/web1,4/web2,: (4 at once on each, and on this machine). $SSH: ssh, or "
	 "with "
	 "options of its own.\n"
	 "set -eu\n"
	 "cd @DIRECTORY@\n"
	 "# a host that falls silent is given up after half a minute, else its tasks would wait "
	 "for it for ever\n"
	 "ssh=\"${SSH:-ssh} -o ConnectTimeout=10 -o ServerAliveInterval=10 -o "
	 "ServerAliveCountMax=3\"\n"
	 "seq 0 @LAST@ | parallel --will-cite --ssh \"$ssh\" --retries 10 --joblog log/jobs "
	 "--results log/task-{1} "
	 "--env WHYLATE \"$@\" @DIRECTORY@/task {1} >/dev/null || "
	 "echo \"some tasks failed: log/jobs has their status\" >&2\n"
	 "exec ./merge\n",
	 NULL},
	{"README", false,
	 "./run runs @TASKS@ tasks with GNU parallel, as many at once as there are cores, and the "
	 "merge.\n"
	 "Its arguments are parallel's: ./run --sshlogin 4/web1,4/web2,: spreads them over hosts.\n"
	 "Its status is that of the merge. Then there are\n"
	 "\n"
	 "  sum.json     what all traces add up to\n"
	 "  index.html   the page of them all\n"
	 "  log/         what tasks said; log/jobs: when and where they ran\n"
	 "\n"
	 "One task again, such as number 3, and the merge: ./task 3; ./merge\n"
	 "\n"
	 "A task whose host is lost runs elsewhere; one that falls silent is given up after half "
	 "a minute.\n"
	 "$SSH may be ssh with options of its own (SSH='ssh -F FILE' ./run ...); those count "
	 "first. All hosts must\n"
	 "see the traces and this directory under the same paths, and have whylate (or "
	 "$WHYLATE).\n",
	 NULL},
	{0}};

/* --- Kubernetes: batch/v1 Job, with indexes ------------------------------------------------ */

/* The directories of the traces, read only, and that of the job, at the same paths as here. */
static void add_volumes(json_t *pod, json_t *container, const struct plan *plan)
{
	json_t *volumes = json_array(), *mounts = json_array();

	json_array_append_new(volumes,
			      json_pack("{s:s,s:{s:s}}", "name", "job", "persistentVolumeClaim",
					"claimName", "whylate-job"));
	json_array_append_new(mounts,
			      json_pack("{s:s,s:s}", "name", "job", "mountPath", plan->directory));
	json_array_append_new(volumes, json_pack("{s:s,s:{s:s,s:b}}", "name", "traces",
						 "persistentVolumeClaim", "claimName",
						 "whylate-traces", "readOnly", 1));
	for (guint i = 0; plan->roots[i]; i++) {
		g_autofree char *part = g_strdup_printf("%u", i);
		json_t *mount = json_pack("{s:s,s:s,s:b}", "name", "traces", "mountPath",
					  plan->roots[i], "readOnly", 1);

		if (plan->roots[1]) /* one claim has them all */
			json_object_set_new(mount, "subPath", json_string(part));
		json_array_append_new(mounts, mount);
	}
	json_object_set_new(container, "volumeMounts", mounts);
	json_object_set_new(pod, "volumes", volumes);
}

static json_t *job_of(const struct plan *plan, const char *name, json_t *spec, json_t *command)
{
	json_t *container = json_pack("{s:s,s:s,s:o,s:{s:{s:s,s:s}}}", "name", "whylate", "image",
				      "whylate:" PACKAGE_VERSION, "command", command, "resources",
				      "requests", "cpu", "1", "memory", "1Gi");
	json_t *pod = json_pack("{s:s}", "restartPolicy", "Never");

	add_volumes(pod, container, plan);
	json_object_set_new(pod, "containers", json_pack("[o]", container));
	json_object_set_new(spec, "template", json_pack("{s:o}", "spec", pod));
	return json_pack("{s:s,s:s,s:{s:s},s:o}", "apiVersion", "batch/v1", "kind", "Job",
			 "metadata", "name", name, "spec", spec);
}

static json_t *map_manifest(const struct plan *plan)
{
	g_autofree char *task = g_build_filename(plan->directory, "task", NULL);

	/* maxFailedIndexes: the others go on, whatever one does */
	return job_of(plan, "whylate-map",
		      json_pack("{s:s,s:i,s:i,s:i,s:i}", "completionMode", "Indexed", "completions",
				(int) plan->tasks, "parallelism", (int) MIN(plan->tasks, 20),
				"backoffLimitPerIndex", 3, "maxFailedIndexes", (int) plan->tasks),
		      json_pack("[s,s]", task, "$(JOB_COMPLETION_INDEX)"));
}

static json_t *merge_manifest(const struct plan *plan)
{
	g_autofree char *merge = g_build_filename(plan->directory, "merge", NULL);

	return job_of(plan, "whylate-merge", json_pack("{s:i}", "backoffLimit", 0),
		      json_pack("[s]", merge));
}

static const struct engine_file kubernetes_files[] = {
	{"map.json", false, NULL, map_manifest},
	{"merge.json", false, NULL, merge_manifest},
	{"run", true,
	 "#!/bin/sh\n"
	 "# Hands the tasks to Kubernetes, waits until each has ended, in whatever way, then the "
	 "merge.\n"
	 "# Arguments are kubectl's, as --namespace=NAME.\n"
	 "set -eu\n"
	 "cd @DIRECTORY@\n"
	 "ended()\n"
	 "{\n"
	 "\tkubectl \"$@\" get job \"$job\" -o 'jsonpath={.status.conditions[*].type}' |\n"
	 "\t\tgrep -Eqw 'Complete|Failed'\n"
	 "}\n"
	 "for job in whylate-map whylate-merge; do\n"
	 "\tkubectl \"$@\" apply -f \"${job#whylate-}.json\"\n"
	 "\tuntil ended \"$@\"; do sleep 5; done\n"
	 "done\n"
	 "exec kubectl \"$@\" logs job/whylate-merge\n",
	 NULL},
	{"README", false,
	 "./run hands @TASKS@ tasks to Kubernetes as an indexed Job (map.json), waits for them, "
	 "and\n"
	 "merges (merge.json). Its arguments are kubectl's. Before, in both manifests:\n"
	 "\n"
	 "  image                  one that has whylate\n"
	 "  whylate-traces         the claim that has the traces; it is mounted where they are "
	 "here\n"
	 "                         (several directories: its subdirectories 0, 1, ...)\n"
	 "  whylate-job            the claim that has this directory, written by many "
	 "(ReadWriteMany)\n"
	 "\n"
	 "Indexed jobs with a limit of tries for each index need Kubernetes 1.29. Then there are "
	 "sum.json\n"
	 "(what all traces add up to) and index.html in this directory.\n",
	 NULL},
	{0}};

const struct engine engines_known[] = {
	{"Slurm", slurm_files}, {"GNU parallel", parallel_files}, {"Kubernetes", kubernetes_files}};
