# The clocks.  Those that the habits above do not run under have some of the habits again.
fb_sampler_script(clocks clock/split_of_cpu split_of cpu)
fb_sampler_script(clocks clock/split_of_itimer split_of itimer)
fb_sampler_script(clocks clock/split_of_perf split_of perf)
fb_sampler_script(clocks clock/split_of_wall split_of wall)
fb_sampler_script(clocks clock/perf_is_refused perf_is_refused errno)
fb_sampler_script(clocks clock/perf_kills perf_is_refused kill)
fb_sampler_script(clocks clock/children_have_perf children_have_the_clock perf)
foreach(case perf_sees_the_kernel perf_without_the_kernel perf_without_a_signal perf_has_no_memory
        perf_leaves_nothing_behind wall_sees_who_waits wall_of_many_threads
        wall_knows_who_blocks_the_signal)
    fb_sampler_script(clocks clock/${case} ${case})
endforeach()
foreach(habit close-descriptors own-profiling thread-churn exec-fails vfork-loop)
    fb_sampler_script(clocks clock/habit/${habit} habit habits ${habit})
endforeach()
foreach(trial wait-for-signals ends cancels raw-clones rights)
    fb_sampler_script(clocks clock/trial/${trial} habit trials ${trial})
endforeach()
