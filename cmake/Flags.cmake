# Compiler flags that every target of ours has.
set(FB_SANITIZE "" CACHE STRING "sanitizers for everything but the preload library")
option(FB_TESTS "tests, fixtures and benchmarks, which need further packages" ON)
option(FB_FUZZ "build the libFuzzer targets (clang)" OFF)
option(FB_COVERAGE "gcov counters" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

add_library(fb_flags INTERFACE)
target_include_directories(fb_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(fb_flags INTERFACE _GNU_SOURCE)
target_compile_options(fb_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
    -fno-omit-frame-pointer -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# What the sampler must not have: it runs in somebody else's process.
add_library(fb_instrument INTERFACE)
if(FB_SANITIZE)
    target_compile_options(fb_instrument INTERFACE -fsanitize=${FB_SANITIZE} -fno-sanitize-recover=undefined)
    target_link_options(fb_instrument INTERFACE -fsanitize=${FB_SANITIZE})
endif()
if(FB_FUZZ)
    target_compile_options(fb_instrument INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(FB_COVERAGE)
    target_compile_options(fb_instrument INTERFACE --coverage)
    target_link_options(fb_instrument INTERFACE --coverage)
endif()
