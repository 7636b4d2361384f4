# SPDX-FileCopyrightText: 2026 StreamScope contributors
# SPDX-License-Identifier: Apache-2.0

# Writes a C++ source that holds text files as string literals.
#   streamscope_embed_text(OUTPUT NAMESPACE HEADER FUNCTION FILE [FUNCTION FILE]...)
# defines std::string_view NAMESPACE::FUNCTION() for each pair, as HEADER declares them. Run as a script it is the
# build step itself, so that the library follows its texts without a new configuration.
if(CMAKE_SCRIPT_MODE_FILE)
  set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
  string(REPLACE "," ";" PAIRS "${PAIRS}")
  while(PAIRS)
    list(POP_FRONT PAIRS function file)
    file(READ ${file} text)
    string(APPEND source "\nstd::string_view ${function}() {\n  return R\"embedded(${text})embedded\";\n}\n")
  endwhile()
  string(APPEND source "\n}  // namespace ${NAMESPACE}\n")
  file(WRITE ${OUTPUT} "${source}")
  return()
endif()

set(STREAMSCOPE_EMBED_TEXT ${CMAKE_CURRENT_LIST_FILE})
function(streamscope_embed_text output namespace header)
  set(files "")
  set(functions ${ARGN})
  while(functions)
    list(POP_FRONT functions function file)
    list(APPEND files ${file})
  endwhile()
  list(JOIN ARGN "," pairs)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DHEADER=${header} -DPAIRS=${pairs}
            -P ${STREAMSCOPE_EMBED_TEXT}
    DEPENDS ${files} ${STREAMSCOPE_EMBED_TEXT} VERBATIM
    COMMENT "Embedding texts into ${output}")
endfunction()
