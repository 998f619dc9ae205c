# SPDX-License-Identifier: MIT
# Turns a part of the report page into a C string: awk -v name=report_html -f embed.awk FILE
BEGIN { printf "static const char page_%s[] =\n", name }
/SPDX-License-Identifier/ { next } # of the template, not of the pages made of it
name ~ /_(js|css)$/ { # a fifth of a page, and nothing to browsers
	sub(/^\t+/, "")
	comment = comment || /^\/\*/
	if (comment) {
		comment = !/\*\/$/
		next
	}
}
{
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	gsub(/\?\?/, "?\" \"?") # ??= is a trigraph
	printf "\t\"%s\\n\"\n", $0
}
END { print "\t;" }
