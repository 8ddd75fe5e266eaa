/* lines.h - the line and the file of the source that a byte code came from.
 *
 *     line = fb_jvm_line(id, bci);           0: not known
 *     n = fb_jvm_source(id, text, cap);      "HashMap.java"; 0: not known
 *
 * Context: the helper thread, where guarded loads may be used (signal/guard.h).
 *
 * A class file may have a table of lines; the JVM keeps it packed behind the method's byte code.
 * The table is read from the living method: its name is read before and after, and must be the one
 * that was taken down at the tick.  A method that was unloaded or changed since has no line. */
#ifndef FB_SAMPLER_JVM_LINES_H
#define FB_SAMPLER_JVM_LINES_H

#include <stddef.h>
#include <stdint.h>

/* id: of fb_jvm_method_name(). */
uint32_t fb_jvm_line(uint32_t id, int32_t bci);

/* Bytes of the name of the method's file, cut at cap; without a NUL. */
size_t fb_jvm_source(uint32_t id, char *ret_text, size_t cap);

#endif
