# Hosts that throw C++ exceptions: coroutines, and everything at once at the highest rate (20 s here, 5
# minutes in the gate: FB_TORTURE_SECONDS).
enable_language(CXX)
add_library(host_throws OBJECT ${CMAKE_SOURCE_DIR}/fixtures/hosts/throws.cc)
target_compile_options(host_throws PRIVATE -O2 -fPIC -Wall -Wextra -Werror)
add_library(host_throws_plugin MODULE $<TARGET_OBJECTS:host_throws>)
set_target_properties(host_throws_plugin PROPERTIES OUTPUT_NAME throws PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${FB_HOSTS} LINKER_LANGUAGE CXX)

foreach(host routines torture)
    add_executable(host_${host} ${CMAKE_SOURCE_DIR}/fixtures/hosts/${host}.c
        $<TARGET_OBJECTS:host_throws>)
    target_link_libraries(host_${host} PRIVATE fb_flags)
    target_compile_options(host_${host} PRIVATE -O2 -fomit-frame-pointer)
    set_target_properties(host_${host} PROPERTIES OUTPUT_NAME ${host} LINKER_LANGUAGE CXX
        RUNTIME_OUTPUT_DIRECTORY ${FB_HOSTS})
endforeach()

foreach(case mapped-stack heap-stack hand-made-stack vanishing-stacks exceptions foreign-timers)
    fb_sampler_script(faults routine/${case} guarded routines ${case})
endforeach()
fb_sampler_script(faults routine/whole_stacks whole_stacks)
fb_sampler_script(faults front_beside_a_jvm front_beside_a_jvm)
fb_sampler_script(faults jvm jvm)
set_tests_properties(e2e/sampler/jvm PROPERTIES TIMEOUT 200)
fb_sampler_script(torture torture all_clocks)
set_tests_properties(e2e/sampler/torture PROPERTIES TIMEOUT 600)

add_executable(host_blocked ${CMAKE_SOURCE_DIR}/fixtures/hosts/blocked.c)
target_link_libraries(host_blocked PRIVATE fb_flags)
target_compile_options(host_blocked PRIVATE -O2)
set_target_properties(host_blocked PROPERTIES OUTPUT_NAME blocked
    RUNTIME_OUTPUT_DIRECTORY ${FB_HOSTS})
foreach(other jemalloc tcmalloc_minimal)
    fb_sampler_script(others beside/${other} allocator ${other})
endforeach()
fb_sampler_script(others beside/perf under_perf)
fb_sampler_script(others interrupted/cpu interrupted_calls cpu 0)
fb_sampler_script(others interrupted/itimer interrupted_calls itimer 2)
fb_sampler_script(others interrupted/perf interrupted_calls perf 2)
