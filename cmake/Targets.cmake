# fb_library(NAME SOURCES ... DEPENDS ... LIBRARIES ...)
#   the static library of one folder.  DEPENDS: folders to its left.  LIBRARIES: third-party ones,
#   PRIVATE, so that a wrong include elsewhere fails.
function(fb_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE fb_flags fb_instrument ${ARG_LIBRARIES})
endfunction()

# fb_unit_tests(FOLDER LIBRARY...)
#   every tests/unit/FOLDER/test_*.c is one cmocka program and one CTest test.
function(fb_unit_tests folder)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/test_*.c)
    foreach(source ${sources})
        get_filename_component(base ${source} NAME_WE)
        set(target unit_${folder}_${base})
        add_executable(${target} ${source})
        target_link_libraries(${target} PRIVATE ${ARGN} fb_flags fb_instrument cmocka m)
        target_compile_definitions(${target} PRIVATE
            FB_FIXTURES="${CMAKE_SOURCE_DIR}/fixtures" FB_BUILD="${CMAKE_BINARY_DIR}")
        add_test(NAME unit/${folder}/${base} COMMAND ${target})
        set_tests_properties(unit/${folder}/${base} PROPERTIES TIMEOUT 120 LABELS unit)
    endforeach()
endfunction()

# fb_fuzz_target(NAME LIBRARY... [SEEDS FILE OR FOLDER...]): tests/fuzz/fuzz_NAME.c.  With the fuzz
# preset a target of libFuzzer; else a test that tries blind mutations of the seeds for a few seconds.
# build/.../tests/fuzz/NAME.seeds lists the seeds, one a line.
function(fb_fuzz_target name)
    cmake_parse_arguments(FUZZ "" "" "SEEDS" ${ARGN})
    set(seeds)
    foreach(pattern ${FUZZ_SEEDS})
        file(GLOB found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fixtures/${pattern})
        list(APPEND seeds ${found})
    endforeach()
    string(REPLACE ";" "\n" lines "${seeds}")
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}.seeds "${lines}\n")
    add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c)
    target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_UNPARSED_ARGUMENTS} fb_base fb_flags fb_instrument)
    if(FB_FUZZ)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/driver.c)
        add_test(NAME fuzz/${name} COMMAND fuzz_${name} 2.5 ${seeds})
        set_tests_properties(fuzz/${name} PROPERTIES LABELS fuzz)
    endif()
endfunction()
