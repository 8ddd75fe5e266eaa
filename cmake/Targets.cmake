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

# fb_fuzz_target(NAME LIBRARY...): tests/fuzz/fuzz_NAME.c, built only with the fuzz preset.
function(fb_fuzz_target name)
    if(FB_FUZZ)
        add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_${name}.c)
        target_link_libraries(fuzz_${name} PRIVATE ${ARGN} fb_flags fb_instrument)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    endif()
endfunction()
