# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
find_package(Python3 COMPONENTS Interpreter)
find_package(ZLIB REQUIRED)
streamscope_test(report LABELS unit golden SOURCES job/simulated_job.cpp
  LINK streamscope::report streamscope_export_proto streamscope_test_support nlohmann_json::nlohmann_json ZLIB::ZLIB)
streamscope_golden(report_test report/check_test.cpp report/check_job_test.cpp report/report_test.cpp report/job_report_test.cpp
  report/job_diff_test.cpp report/job_info_test.cpp report/metrics_test.cpp)
streamscope_bench(report LINK streamscope::report streamscope::analysis streamscope::trace)

# What others read, held against our rules for JUnit and their own definitions where STREAMSCOPE_SCHEMAS names a folder with them.
if(Python3_FOUND AND TARGET streamscope AND NOT STREAMSCOPE_SANITIZE)
  add_test(NAME report.schemas
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/report/schemas.py $<TARGET_FILE:streamscope>)
  set_tests_properties(report.schemas PROPERTIES LABELS e2e SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()
