/* stubs.h - which stub is where: the JVM's list of what it generated for itself.
 *
 *     fb_jvm_stubs_look(&reader, path, bias);      when the JVM is ready, then once a second
 *     name = fb_jvm_stub_name(pc);                 (signal/vm.h) in the handler
 *
 * Context: normal, the helper thread alone.
 *
 * HotSpot keeps begin, end and name of each ("jbyte_disjoint_arraycopy") in a linked list that no
 * table exports: its head is found by its symbol, where the library's file has symbols, and its
 * form is in layout_known.h.  Without it stubs have the name of their blob ("StubRoutines
 * (compilerstubs)").  Some are generated when they are first needed, so the list is read again
 * when its head has changed; each reading is one array that the handler sees whole, and that stays.
 */
#ifndef FB_SAMPLER_JVM_STUBS_H
#define FB_SAMPLER_JVM_STUBS_H

#include <stdint.h>

#include "sampler/self_read.h"

void fb_jvm_stubs_look(const struct fb_self_read *reader, const char *path, uint64_t bias);

#endif
