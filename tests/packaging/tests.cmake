# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Checks what `./dev package` made last, if anything; `./dev nightly` makes the packages and also runs clean_roots.sh.
add_test(NAME packaging.check COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/packaging/check.sh ${PROJECT_SOURCE_DIR}/build-package/packages)
set_tests_properties(packaging.check PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 300)

# What a release consists of: its bill of materials, and what can be checked of it before it is made.
add_test(NAME packaging.sbom COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/packaging/sbom_test.py)
add_test(NAME packaging.release COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/packaging/release_test.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(packaging.sbom packaging.release PROPERTIES LABELS e2e TIMEOUT 300 SKIP_RETURN_CODE 77)
