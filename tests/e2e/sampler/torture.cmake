# Everything at once, at the highest rate: 20 s here, 5 minutes in the gate (FB_TORTURE_SECONDS).
# The one program that needs exceptions is C++.
enable_language(CXX)
add_library(host_throws OBJECT ${CMAKE_SOURCE_DIR}/fixtures/hosts/throws.cc)
target_compile_options(host_throws PRIVATE -O2 -fPIC -Wall -Wextra -Werror)
add_library(host_throws_plugin MODULE $<TARGET_OBJECTS:host_throws>)
set_target_properties(host_throws_plugin PROPERTIES OUTPUT_NAME throws PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${FB_HOSTS} LINKER_LANGUAGE CXX)

add_executable(host_torture ${CMAKE_SOURCE_DIR}/fixtures/hosts/torture.c
    $<TARGET_OBJECTS:host_throws>)
target_link_libraries(host_torture PRIVATE fb_flags)
target_compile_options(host_torture PRIVATE -O2 -fomit-frame-pointer)
set_target_properties(host_torture PROPERTIES OUTPUT_NAME torture LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY ${FB_HOSTS})

fb_sampler_script(torture torture both_clocks)
set_tests_properties(e2e/sampler/torture PROPERTIES TIMEOUT 600)
