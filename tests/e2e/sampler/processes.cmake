# Threads, processes, limits and sandboxes: processes.sh and limits.sh with their hosts.
foreach(host limits lineages)
    add_executable(host_${host} ${CMAKE_SOURCE_DIR}/fixtures/hosts/${host}.c)
    target_link_libraries(host_${host} PRIVATE fb_flags)
    target_compile_options(host_${host} PRIVATE -O2 -fomit-frame-pointer)
    set_target_properties(host_${host} PROPERTIES OUTPUT_NAME ${host}
        RUNTIME_OUTPUT_DIRECTORY ${FB_HOSTS})
endforeach()

include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    add_executable(host_thrower ${CMAKE_SOURCE_DIR}/fixtures/hosts/thrower.cc)
    target_compile_options(host_thrower PRIVATE -O2 -Wall -Wextra -Werror)
    target_link_libraries(host_thrower PRIVATE -pthread ${CMAKE_DL_LIBS})
    set_target_properties(host_thrower PROPERTIES OUTPUT_NAME thrower
        RUNTIME_OUTPUT_DIRECTORY ${FB_HOSTS})
endif()

fb_sampler_script(processes lineage/spawns habit lineages spawns)
foreach(case child_timers every_exec exec_with_a_tick_waiting raw_forks raw_threads renamed_threads thread_pools
        daemons one_name_for_all follow_exec_only names_of_banks fallbacks)
    fb_sampler_script(processes ${case} ${case})
endforeach()
fb_sampler_script(processes large_forks large_forks 200)
fb_sampler_script(processes forks_that_throw forks_that_throw 300)

foreach(filter compute-alone compute-all compute-refused another-program)
    fb_sampler_script(limits filter/${filter} filtered 1 ${filter})
endforeach()
fb_sampler_script(limits filter/children filtered 0 children 0)
fb_sampler_script(limits filter/children-all filtered 1 children 1)
fb_sampler_script(limits filter/threads-all filtered 1 threads 1)
foreach(case threads_under_a_filter address_space no_file_size full_disk no_threads errno_is_kept
        all_descriptors not_dumpable new_root throttled stopped other_preloads odd_starts namespaces)
    fb_sampler_script(limits ${case} ${case})
endforeach()

# Minutes: skipped but in ./dev check.
function(fb_sampler_slow script case)
    fb_sampler_script(${script} ${case}_slow slow ${case} ${ARGN})
    set_tests_properties(e2e/sampler/${case}_slow PROPERTIES LABELS "e2e;slow" TIMEOUT 1500)
endfunction()
fb_sampler_slow(processes large_forks 2048)
fb_sampler_slow(processes forks_that_throw 10000)

foreach(case signals_are_handed_on statuses standard_streams job_control targets paths)
    fb_sampler_script(record record/${case} ${case})
endforeach()
