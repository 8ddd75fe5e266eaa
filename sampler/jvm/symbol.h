/* symbol.h - the address of one local symbol, from the file of a library.
 *
 *     if (fb_jvm_symbol_find(path, "_ZN12StubCodeDesc5_listE", &value)) ... value + bias
 *
 * Context: normal.  The file is read by pread() alone, so that one that is cut or being written is
 * an answer and no fault; libraries without .symtab have none.  Cost: 3 ms for libjvm's 70,000. */
#ifndef FB_SAMPLER_JVM_SYMBOL_H
#define FB_SAMPLER_JVM_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

/* ret_value: as the file has it; the library's bias is to be added. */
bool fb_jvm_symbol_find(const char *path, const char *name, uint64_t *ret_value);

#endif
