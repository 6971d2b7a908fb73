# llama.cpp as imported targets: llama::llama (C API, ggml), llama::common (chat templates, grammars,
# samplers), vendor::httplib and vendor::nlohmann (the copies llama.cpp ships).
# scripts/llama.sh lays SAMOVAR_LLAMA_DIR out as: include/ (llama.h, ggml*.h, common/…, vendor/…),
# lib/ (shared libraries), src/ (vocabularies, chat templates), version (one line).
if(NOT SAMOVAR_LLAMA_DIR OR NOT EXISTS "${SAMOVAR_LLAMA_DIR}/version")
  message(FATAL_ERROR "llama.cpp is not set up: run `make build`, or pass -DSAMOVAR_LLAMA_DIR=<dir> "
                      "as printed by scripts/llama.sh")
endif()
file(STRINGS "${SAMOVAR_LLAMA_DIR}/version" SAMOVAR_LLAMA_VERSION LIMIT_COUNT 1)
message(STATUS "llama.cpp: ${SAMOVAR_LLAMA_VERSION} in ${SAMOVAR_LLAMA_DIR}")

set(llama_lib "${SAMOVAR_LLAMA_DIR}/lib")
function(samovar_llama_library variable pattern)
  file(GLOB found "${llama_lib}/${pattern}")
  list(SORT found)
  if(NOT found)
    message(FATAL_ERROR "no ${pattern} in ${llama_lib}: run scripts/llama.sh again")
  endif()
  list(GET found 0 first)
  set(${variable} "${first}" PARENT_SCOPE)
endfunction()
# libllama.so of a build, libllama.v0.4.0.so and libllama.metal.v0.4.0.dylib of the prebuilt packages.
string(SUBSTRING "${CMAKE_SHARED_LIBRARY_SUFFIX}" 1 -1 suffix)
samovar_llama_library(LLAMA_SO "libllama[.]*${suffix}")
samovar_llama_library(COMMON_SO "libllama-common[.]*${suffix}")
samovar_llama_library(GGML_SO "libggml[.]*${suffix}")
samovar_llama_library(GGML_BASE_SO "libggml-base[.]*${suffix}")

add_library(llama::llama INTERFACE IMPORTED)
target_include_directories(llama::llama SYSTEM INTERFACE "${SAMOVAR_LLAMA_DIR}/include")
target_link_libraries(llama::llama INTERFACE "${LLAMA_SO}" "${GGML_SO}" "${GGML_BASE_SO}")
target_compile_definitions(llama::llama INTERFACE SAMOVAR_LLAMA_DIR="${SAMOVAR_LLAMA_DIR}")

add_library(llama::common INTERFACE IMPORTED)
target_include_directories(llama::common SYSTEM INTERFACE "${SAMOVAR_LLAMA_DIR}/include")
target_link_libraries(llama::common INTERFACE "${COMMON_SO}" llama::llama)

add_library(vendor::nlohmann INTERFACE IMPORTED)
target_include_directories(vendor::nlohmann SYSTEM INTERFACE "${SAMOVAR_LLAMA_DIR}/include/vendor")

# libllama-common exports the symbols of this same copy of cpp-httplib (982 of them), so ours must be
# the same version with the same defines.
find_package(Threads REQUIRED)
add_library(samovar_httplib STATIC "${SAMOVAR_LLAMA_DIR}/include/vendor/cpp-httplib/httplib.cpp")
target_include_directories(samovar_httplib SYSTEM PUBLIC "${SAMOVAR_LLAMA_DIR}/include/vendor")
target_compile_definitions(samovar_httplib PUBLIC CPPHTTPLIB_TCP_NODELAY=1
                           CPPHTTPLIB_FORM_URL_ENCODED_PAYLOAD_MAX_LENGTH=1048576
                           CPPHTTPLIB_LISTEN_BACKLOG=512 CPPHTTPLIB_REQUEST_URI_MAX_LENGTH=32768)
target_compile_features(samovar_httplib PUBLIC cxx_std_17)
target_link_libraries(samovar_httplib PUBLIC Threads::Threads)
add_library(vendor::httplib ALIAS samovar_httplib)

set(CMAKE_BUILD_RPATH "${llama_lib}")
set(SAMOVAR_LLAMA_LIB_DIR "${llama_lib}")
