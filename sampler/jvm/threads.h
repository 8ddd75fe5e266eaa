/* threads.h - the whole names of Java threads.
 *
 *     fb_jvm_thread_name(tid, comm, &text);     false: there is no better one than comm
 *
 * Context: the helper thread, while the JVM is walked (guarded loads may be used).
 *
 * The kernel's name of a thread (comm) holds 15 bytes; the Java object has the whole one.  Objects
 * move while they are read, so what is read is a guess, and taken only if comm agrees with it: if
 * it begins with comm, or if comm is what newer JVMs make of a long name ("Dispatcher..21").  A
 * thread that was renamed by another one keeps its comm in the kernel, and so has it here.
 *
 * The places of the fields are read from the classes of java.lang.Thread and String themselves. */
#ifndef FB_SAMPLER_JVM_THREADS_H
#define FB_SAMPLER_JVM_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/text.h"

enum { FB_JVM_THREAD_NAME = 128 }; /* bytes of UTF-8 with the NUL; longer ones are cut */

/* ret_name: room for FB_JVM_THREAD_NAME. */
bool fb_jvm_thread_name(int32_t tid, const char *comm, struct fb_text *ret_name);

/* Whether comm is the kernel's form of name. */
bool fb_jvm_thread_agrees(const char *comm, const char *name);

#endif
