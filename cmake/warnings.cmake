# Warnings are errors in our own code; third-party headers are SYSTEM and exempt.
add_library(samovar_flags INTERFACE)
target_compile_options(samovar_flags INTERFACE -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor
                       -Woverloaded-virtual -fno-omit-frame-pointer
                       -Wno-missing-field-initializers)  # noise with designated initialisers
target_include_directories(samovar_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports false positives from inside <string> and <regex> at -O2 (PR105329, PR105562).
  target_compile_options(samovar_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(SAMOVAR_SANITIZE)
  target_compile_options(samovar_flags INTERFACE -fsanitize=${SAMOVAR_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(samovar_flags INTERFACE -fsanitize=${SAMOVAR_SANITIZE})
endif()
