# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Writes OUTPUT, the manual page of VIEWER: what it prints with --help.
execute_process(COMMAND ${VIEWER} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" help "${help}")
file(WRITE ${OUTPUT} ".TH STREAMSCOPE\\-VIEWER 1 \"\" \"streamscope ${VERSION}\" \"User Commands\"
.SH NAME
streamscope\\-viewer \\- timeline of CUDA streams and their dependencies
.SH DESCRIPTION
.nf
${help}.fi
.SH SEE ALSO
.BR streamscope (1)
")
