/* continuation.h - where the JVM keeps continuations, in releases whose tables do not say it.
 *
 *     fb_jvm_continuation_find(&reader, path, bias, &layout);     once, when the JVM's code is
 * there
 *
 * Context: normal.  The tables of 21 to 23 have neither ContinuationEntry::_return_pc nor
 * JavaThread::_cont_entry.  The first is a symbol of the library.  The second is in the first
 * instruction of the code that frames return to whose callers are on the heap: it takes its sp from
 * there; that code's address is a symbol, too.
 *
 * Fills continuation_return_at and thread_continuation, both or neither: a library without .symtab,
 * or code that begins otherwise, leaves them as they are, and the walker then says that it cannot
 * see on (walker.h).  Does nothing where the tables have said both, or before 21. */
#ifndef FB_SAMPLER_JVM_CONTINUATION_H
#define FB_SAMPLER_JVM_CONTINUATION_H

#include <stdint.h>

#include "sampler/jvm/layout.h"
#include "sampler/self_read.h"

void fb_jvm_continuation_find(const struct fb_self_read *reader, const char *path, uint64_t bias,
                              struct fb_jvm_layout *layout);

#endif
