# The sampler told to pause, and what others append to its bank: control.sh with its host.
add_executable(host_pausable ${CMAKE_SOURCE_DIR}/fixtures/hosts/pausable.c)
target_link_libraries(host_pausable PRIVATE fb_flags)
set_target_properties(host_pausable PROPERTIES OUTPUT_NAME pausable
    RUNTIME_OUTPUT_DIRECTORY ${FB_HOSTS})

foreach(case paused_by_file paused_by_process paused_off_the_tick rubbish_is_passed_over keeps_to_its_budget)
    fb_sampler_script(control ${case} $<TARGET_FILE:flamebank> ${case})
    set_tests_properties(e2e/sampler/${case} PROPERTIES TIMEOUT 180) # 12 s where nobody else works
endforeach()
