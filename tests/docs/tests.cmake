# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# The documentation: it builds as a site, and the commands in it do what the pages say.

add_test(NAME docs.site COMMAND ${PROJECT_SOURCE_DIR}/docs/site/build.sh ${CMAKE_BINARY_DIR})
set_tests_properties(docs.site PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 300)
