# fb_embed(OUT_C SYMBOL FILE): a C file with `const unsigned char SYMBOL[]` (a final NUL added)
# and `const unsigned long SYMBOL_size` (without it), made again whenever FILE changes.
function(fb_embed out symbol file)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${out} -DSYMBOL=${symbol}
                -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFile.cmake
        DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/EmbedFile.cmake VERBATIM)
endfunction()
