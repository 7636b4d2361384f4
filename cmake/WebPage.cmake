# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# streamscope_web_page(TARGET): links the viewer for a page, and writes viewer.html, which holds all of it; with
# STREAMSCOPE_WEB_THREADS it is viewer-threads.html.
function(streamscope_web_page target)
  target_link_options(${target} PRIVATE -sUSE_GLFW=3 -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2
    -sMODULARIZE=1 -sEXPORT_NAME=startStreamScope -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=64MB
    -sTOTAL_STACK=4MB -sEXIT_RUNTIME=0 -sFORCE_FILESYSTEM=1 -sEXPORTED_RUNTIME_METHODS=FS,ccall,setCanvasSize)
  if(STREAMSCOPE_WEB_THREADS)
    # Workers are started ahead, as a page that waits for one cannot start it.
    target_link_options(${target} PRIVATE -sENVIRONMENT=web,worker -sDEFAULT_PTHREAD_STACK_SIZE=4MB -Wno-pthreads-mem-growth
      -sPTHREAD_POOL_SIZE=Math.min\(navigator.hardwareConcurrency,8\)+3 -sPTHREAD_POOL_DELAY_LOAD=1)
    set(page ${CMAKE_BINARY_DIR}/viewer-threads.html)
  else()
    target_link_options(${target} PRIVATE -sENVIRONMENT=web)
    set(page ${CMAKE_BINARY_DIR}/viewer.html)
  endif()
  set(web ${PROJECT_SOURCE_DIR}/viewer/web)
  add_custom_command(OUTPUT ${page}
    COMMAND ${web}/pack.py ${web} $<TARGET_FILE_DIR:${target}>/$<TARGET_FILE_BASE_NAME:${target}>
      ${STREAMSCOPE_WEB_SOURCES}/licenses ${page}
    DEPENDS ${target} ${web}/pack.py ${web}/page.html ${web}/page.css ${web}/files.js ${web}/page.js VERBATIM
    COMMENT "Packing the viewer into a page")
  add_custom_target(viewer_page ALL DEPENDS ${page})
endfunction()
