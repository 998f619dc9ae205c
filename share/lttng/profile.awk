# SPDX-License-Identifier: MIT
# Turns the lines of `whylate record --dry-run` into a session profile for `lttng load`, as
# lttng-tools' session.xsd has it:
#
#   whylate record --preset full --session NAME --output DIR --dry-run | awk -f profile.awk
#
# `make profiles` makes share/lttng/*.lttng so. What the lines leave to lttng's defaults has to
# be said in a profile: the timers (µs) are those that lttng-enable-channel(1) names for the
# kernel; the sessions of a flight recorder have output mmap, others splice. A profile does not
# start what it loads, so that its output can be changed first. It fails on any line of which it
# does not know what it means.

function fail(why)
{
	print "profile.awk: " why ": " $0 >"/dev/stderr"
	failed = 1
	exit 1
}

# K, M: as lttng-enable-channel(1) has them
function bytes(size)
{
	return size ~ /M$/ ? size * 1048576 : size ~ /[kK]$/ ? size * 1024 : size + 0
}

# What a filter has in XML.
function escaped(text)
{
	gsub("&", "\\&amp;", text)
	gsub("<", "\\&lt;", text)
	return text
}

function event(channel, name, type, filter)
{
	if (name !~ /^[a-z0-9_*]+$/)
		fail("an event of that name")
	events[channel] = events[channel] \
		"\t\t\t\t\t\t\t<event>\n" \
		"\t\t\t\t\t\t\t\t<name>" name "</name>\n" \
		"\t\t\t\t\t\t\t\t<enabled>true</enabled>\n" \
		"\t\t\t\t\t\t\t\t<type>" type "</type>\n" \
		(filter == "" ? "" : "\t\t\t\t\t\t\t\t<filter>" escaped(filter) "</filter>\n") \
		"\t\t\t\t\t\t\t</event>\n"
}

# The options of a line in option[], its last word that is none in last.
function options(from, i, at)
{
	split("", option)
	last = ""
	for (i = from; i <= NF; i++) {
		at = index($i, "=")
		if ($i !~ /^--/)
			last = $i
		else if (at)
			option[substr($i, 1, at - 1)] = substr($i, at + 1)
		else
			option[$i] = 1
	}
}

# A filter has blanks, and so is quoted for the shell as a whole: '--filter=…'.
match($0, /'--filter=[^']*'/) {
	filter = substr($0, RSTART + 10, RLENGTH - 11)
	$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
	filtered = NR
}

# patterns are quoted too
{ gsub("'", "") }

$1 != "lttng" || ended { next }

{ options(3) }

$2 == "create" { session = $3; output = option["--output"]; snapshot = "--snapshot" in option; next }

$2 == "enable-channel" {
	channels[++count] = last
	size[last] = bytes(option["--subbuf-size"])
	number[last] = option["--num-subbuf"]
	mode[last] = "--overwrite" in option ? "OVERWRITE" : "DISCARD"
	next
}

$2 == "enable-event" && "--syscall" in option && "--all" in option {
	event(option["--channel"], "*", "SYSCALL")
	next
}

$2 == "enable-event" && !("--function" in option) && !("--syscall" in option) {
	many = split(last, names, ",")
	for (i = 1; i <= many; i++)
		event(option["--channel"], names[i], "TRACEPOINT", filtered == NR ? filter : "")
	next
}

$2 == "add-context" && option["--type"] ~ /^[a-z-]+$/ {
	type = toupper(option["--type"])
	gsub("-", "_", type)
	contexts[option["--channel"]] = contexts[option["--channel"]] \
		"\t\t\t\t\t\t\t<context>\n" \
		"\t\t\t\t\t\t\t\t<type>" type "</type>\n" \
		"\t\t\t\t\t\t\t</context>\n"
	next
}

# how it ends is no part of a profile
$2 == "start" { ended = 1; next }

{ fail("no part of a profile") }

function consumer(tabs)
{
	print tabs "<consumer_output>"
	print tabs "\t<enabled>true</enabled>"
	print tabs "\t<destination>"
	print tabs "\t\t<path>" output "</path>"
	print tabs "\t</destination>"
	print tabs "</consumer_output>"
}

END {
	if (failed || !ended)
		exit 1
	print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
	print "<!-- " (preset == "samples" ? "The preset normal of whylate record, with samples" : \
		"The preset " preset " of whylate record") \
		(snapshot ? " as a flight recorder" : "") ", for lttng load: see whylate-record(1)."
	print "     Made by make profiles. -->"
	print "<sessions>"
	print "\t<session>"
	print "\t\t<name>" session "</name>"
	print "\t\t<domains>"
	print "\t\t\t<domain>"
	print "\t\t\t\t<type>KERNEL</type>"
	print "\t\t\t\t<buffer_type>GLOBAL</buffer_type>"
	print "\t\t\t\t<channels>"
	for (i = 1; i <= count; i++) {
		name = channels[i]
		print "\t\t\t\t\t<channel>"
		print "\t\t\t\t\t\t<name>" name "</name>"
		print "\t\t\t\t\t\t<enabled>true</enabled>"
		print "\t\t\t\t\t\t<overwrite_mode>" mode[name] "</overwrite_mode>"
		print "\t\t\t\t\t\t<subbuffer_size>" size[name] "</subbuffer_size>"
		print "\t\t\t\t\t\t<subbuffer_count>" number[name] "</subbuffer_count>"
		print "\t\t\t\t\t\t<switch_timer_interval>0</switch_timer_interval>"
		print "\t\t\t\t\t\t<read_timer_interval>200000</read_timer_interval>"
		print "\t\t\t\t\t\t<output_type>" (snapshot ? "MMAP" : "SPLICE") "</output_type>"
		print "\t\t\t\t\t\t<events>"
		printf "%s", events[name]
		print "\t\t\t\t\t\t</events>"
		if (contexts[name] != "")
			printf "\t\t\t\t\t\t<contexts>\n%s\t\t\t\t\t\t</contexts>\n", contexts[name]
		print "\t\t\t\t\t\t<monitor_timer_interval>1000000</monitor_timer_interval>"
		print "\t\t\t\t\t</channel>"
	}
	print "\t\t\t\t</channels>"
	print "\t\t\t</domain>"
	print "\t\t</domains>"
	print "\t\t<started>false</started>"
	if (snapshot) {
		print "\t\t<attributes>"
		print "\t\t\t<snapshot_mode>true</snapshot_mode>"
		print "\t\t</attributes>"
	}
	print "\t\t<output>"
	if (snapshot) {
		print "\t\t\t<snapshot_outputs>"
		print "\t\t\t\t<output>"
		print "\t\t\t\t\t<name>snapshot-1</name>"
		print "\t\t\t\t\t<max_size>0</max_size>"
		consumer("\t\t\t\t\t")
		print "\t\t\t\t</output>"
		print "\t\t\t</snapshot_outputs>"
	} else {
		consumer("\t\t\t")
	}
	print "\t\t</output>"
	print "\t</session>"
	print "</sessions>"
}
