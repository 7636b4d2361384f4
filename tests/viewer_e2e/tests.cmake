# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# What is drawn (without a display), and the real window under Xvfb driven by xdotool.
if(STREAMSCOPE_HAVE_VIEWER)
  find_package(fmt REQUIRED)
  streamscope_test(viewer_e2e LABELS e2e
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/viewer_e2e/process.cpp ${CMAKE_CURRENT_SOURCE_DIR}/viewer_e2e/sample_traces.cpp
      ${CMAKE_CURRENT_SOURCE_DIR}/viewer_e2e/sanitizer_options.cpp job/simulated_job.cpp
    LINK streamscope::viewer streamscope_test_support fmt::fmt)
  target_compile_definitions(viewer_e2e_test PRIVATE STREAMSCOPE_VIEWER_PROGRAM="$<TARGET_FILE:streamscope-viewer>"
    STREAMSCOPE_TRACES="${PROJECT_SOURCE_DIR}/traces")
  target_include_directories(viewer_e2e_test SYSTEM PRIVATE ${STREAMSCOPE_STB_INCLUDE_DIR})
  streamscope_golden(viewer_e2e_test viewer_e2e/golden_picture_test.cpp)
  add_dependencies(viewer_e2e_test streamscope-viewer)
  find_package(X11)
  if(X11_FOUND)
    add_executable(viewer_e2e_drop_files ${CMAKE_CURRENT_SOURCE_DIR}/viewer_e2e/drop_files.cpp)
    streamscope_flags(viewer_e2e_drop_files)
    target_link_libraries(viewer_e2e_drop_files PRIVATE X11::X11)
    target_compile_definitions(viewer_e2e_test PRIVATE STREAMSCOPE_DROP_FILES="$<TARGET_FILE:viewer_e2e_drop_files>")
    add_dependencies(viewer_e2e_test viewer_e2e_drop_files)
  endif()
endif()
