# SPDX-License-Identifier: MIT
# Puts the options of a command into its manual page:
#   describe options COMMAND | awk -v command=COMMAND -f page.awk options.man - PAGE.man
# The line .\" OPTIONS of the page becomes its options, in the order of --help; a line
# .\" HEADING NAME TEXT before it puts a heading before the option of that name. It is an error if
# an option has no text. The line .\" STATUS becomes the exit statuses that a command with its options has.
FNR == 1 { file++ }
file == 1 && /^\.\\" OPTION / {
	of = NF == 3 ? " " $3 : ""
	for (i = 4; i <= NF; i++)
		of = of " " $3 SUBSEP $i
	count = split(of, keys, " ")
	for (i = 1; i <= count; i++)
		texts[keys[i]] = ""
	next
}
file == 1 {
	for (i = 1; i <= count; i++)
		texts[keys[i]] = texts[keys[i]] $0 "\n"
	next
}
file == 2 { names[++rows] = $1; arguments[rows] = substr($0, length($1) + 2); next }
/^\.\\" HEADING / {
	name = $3
	sub(/^\.\\" HEADING [^ ]+ /, "")
	headings[name] = $0
	next
}
/^\.\\" OPTIONS$/ { put_options(); next }
/^\.\\" STATUS$/ { put_status(); next }
{ print }

function text_of(name)
{
	if ((name SUBSEP command) in texts)
		return texts[name SUBSEP command]
	if (name in texts)
		return texts[name]
	print "man/options.man has no text of --" name " (" command ")" >"/dev/stderr"
	failed = 1
	return ""
}

# --NAME ARGUMENT, the argument's signs upright.
function head(name, argument)
{
	if (name == "help")
		return ".BR \\-\\-help \", \" \\-h"
	gsub(/-/, "\\-", name)
	if (argument == "")
		return ".B \\-\\-" name
	gsub(/[][|.,]+/, "\\fR&\\fP", argument)
	gsub(/'/, "\\(aq", argument)
	return ".BI \\-\\-" name " \" " argument "\""
}

function put_options(  i, text, joined)
{
	for (i = 1; i <= rows; i++) {
		if (names[i] in headings)
			print ".SS " headings[names[i]]
		text = text_of(names[i])
		print joined ? ".TQ" : ".TP"
		print head(names[i], arguments[i])
		joined = text == ""
		printf "%s", text
	}
}
function has(name,  i)
{
	for (i = 1; i <= rows; i++)
		if (names[i] == name)
			return 1
	return 0
}

function put_status()
{
	print "0 done;"
	if (has("fail-if"))
		print "1 a limit\n.RB ( \\-\\-fail\\-if \", \" \\-\\-budget )\nis exceeded;"
	print "2 wrong usage, or nothing matches what was asked for;"
	print "3 no trace that can be read;"
	print "4 the trace could not be read to its end (with\n.BR \\-\\-strict ,\nalso: the tracer lost events)" \
		(has("fail-if") ? ", or a limit\ncould not be judged" : "") \
		(has("force") ? ", or it lacks what the answer rests on (but with\n.BR \\-\\-force );" : ";")
	print "5 the output could not be written."
	print ".BR whylate (1)\nsays more."
}
END { exit failed }
