# SPDX-License-Identifier: MIT
"""Compare whylate's latency profiles with the ones of latencies.py, to the nanosecond.

Usage: compare_latencies.py WHYLATE_JSON LATENCIES_JSON [OPERATION]...
The first is `whylate profile TRACE --operation '*' --limit 0 --format json`,
the second is what latencies.py prints for the same trace and options. Exit
status 1 and the differences if they differ.

whylate has a profile for each kind of hrtimer, latencies.py one for all: they
are added up, without the percentiles. latencies.py has no blocked:* and trap:*, and no
functions of programs (function:0x..., and the OPERATIONs named): tests/functions.t has these.
Nor has it threads' turns (busy): tests/unit/test_busy.c.

What the trees of the peaks say of each bucket must be the sum of the latencies
in it.
"""
import json
import sys

NUMBERS = ("count", "sum_ns", "min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns")


def whole(profile):
    """Not of one thread or resource only."""
    return not any(profile["scope"].values())


def sound(profile, wrong):
    """Identities of one profile: its buckets add up to it, and begin and end where their numbers say."""
    name, resolution = profile["operation"], profile["resolution"]
    if sum(b["count"] for b in profile["buckets"]) != profile["count"]:
        wrong.append("%s: the buckets do not add up to the count" % name)
    numbers = [b["bucket"] for b in profile["buckets"]]
    if numbers != sorted(set(numbers)):
        wrong.append("%s: buckets out of order, or twice" % name)
    for bucket in profile["buckets"]:
        for bound, power in (("from_ns", bucket["bucket"]), ("to_ns", bucket["bucket"] + 1)):
            d = bucket[bound]       # the first latency with 2^power <= d^resolution; bucket 0 may begin at 0
            if power and not (d - 1) ** resolution < 2 ** power <= d ** resolution:
                wrong.append("%s: bucket %d has %s %d" % (name, bucket["bucket"], bound, d))


def merge(into, profile):
    for key in ("count", "sum_ns"):
        into[key] += profile[key]
    into["min_ns"] = min(into["min_ns"], profile["min_ns"])
    into["max_ns"] = max(into["max_ns"], profile["max_ns"])
    for key in ("buckets", "bucket_ns"):
        for bucket, number in profile[key].items():
            into[key][bucket] = into[key].get(bucket, 0) + number


def bucket_ns(profile):
    """Bucket -> the time of the operations in it."""
    return {bucket: ns for peak in profile["peaks"] for bucket, ns in peak["tree"]["ns_by_bucket"].items()}


def ours(report, wrong):
    operations = {}
    for profile in filter(whole, report["profiles"]):
        sound(profile, wrong)
        name = profile["operation"]
        if name.startswith(("blocked:", "trap:", "function:0x")) or name in ("busy", *sys.argv[3:]):
            continue
        mine = {key: profile[key] for key in NUMBERS}
        mine["buckets"] = {str(b["bucket"]): b["count"] for b in profile["buckets"] if b["count"]}
        mine["bucket_ns"] = bucket_ns(profile)
        if name.startswith("hrtimer:"):
            name = "hrtimer"
            mine = {key: value for key, value in mine.items() if not key.startswith("p")}
        if name not in operations:
            operations[name] = mine
        elif name == "hrtimer":
            merge(operations[name], mine)
        else:
            wrong.append("%s: two profiles" % name)
    return operations


def same(key, mine, theirs):
    if key != "bucket_ns":
        return mine == theirs
    return mine == {bucket: ns for bucket, ns in theirs.items() if ns}      # no member for no time


def main():
    with open(sys.argv[1]) as file:
        report = json.load(file)
    with open(sys.argv[2]) as file:
        theirs = json.load(file)["operations"]
    wrong = []
    if report.get("profiles_omitted"):
        wrong.append("%d profiles omitted: whylate ran without --limit 0" % report["profiles_omitted"])
    mine = ours(report, wrong)
    for name in sorted(set(mine) | set(theirs)):
        if name not in mine or name not in theirs:
            wrong.append("%s: only in %s (%d)" % (name, *(
                ("whylate", mine[name]["count"]) if name in mine else
                ("latencies.py", theirs[name]["count"]))))
            continue
        for key, value in mine[name].items():
            if not same(key, value, theirs[name][key]):
                wrong.append("%s %s: %s, latencies.py %s" % (name, key, value, theirs[name][key]))
    for line in wrong:
        print(line)
    print("%d differences in %d operations" % (len(wrong), len(set(mine) | set(theirs))))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
