/* fields.h - where a field of a Java class lies in its objects.
 *
 *     ok = fb_jvm_field_find(class, "name", "Ljava/lang/String;", &offset);
 *
 * Context: the helper thread, while the JVM is walked (guarded loads may be used).
 *
 * An InstanceKlass has a table of its fields: until 20 six 16-bit words each, from 21 on a stream
 * of packed numbers.  Names and descriptors are indices of the class's pool of constants. */
#ifndef FB_SAMPLER_JVM_FIELDS_H
#define FB_SAMPLER_JVM_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* class: an InstanceKlass*. */
bool fb_jvm_field_find(uint64_t class, const char *name, const char *descriptor,
                       uint32_t *ret_offset);

#endif
