# samovar_embed(target folder): puts the page's files, <folder>/index.html and <folder>/assets/*, into
# the target as the generated source that defines page_files() (src/api/page_files.h). What is built
# needs CMake alone; the files themselves are committed.
function(samovar_embed target folder)
  file(GLOB assets RELATIVE ${CMAKE_SOURCE_DIR}/${folder} CONFIGURE_DEPENDS ${folder}/assets/*)
  list(SORT assets)
  set(files index.html ${assets})
  set(paths ${files})
  list(TRANSFORM paths PREPEND ${CMAKE_SOURCE_DIR}/${folder}/)
  set(output ${CMAKE_BINARY_DIR}/generated/${target}_files.cc)
  string(REPLACE ";" "," names "${files}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_SOURCE_DIR}/${folder} -DFILES=${names}
            -DOUTPUT=${output} -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    COMMENT "Embedding ${folder}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
