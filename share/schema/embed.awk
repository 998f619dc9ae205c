# SPDX-License-Identifier: MIT
# Turns a JSON Schema into a C string: awk -v name=delay -f embed.awk FILE
BEGIN { printf "static const char schema_%s[] =\n", name }
{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf "\t\"%s\\n\"\n", $0 }
END { print "\t;" }
