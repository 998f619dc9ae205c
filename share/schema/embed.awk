# SPDX-License-Identifier: MIT
# Turns a JSON Schema into an entry of a C table: awk -v name=delay -f embed.awk FILE
BEGIN { printf "\t{\"%s\",\n", name }
{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf "\t \"%s\\n\"\n", $0 }
END { print "\t}," }
