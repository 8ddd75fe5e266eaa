/* start.h - finds the JVM of this process, checks that its structures are what we think, and lets
 * the handler walk them.
 *
 *     fb_jvm_module(&event);              each module that is loaded or unloaded
 *     if (fb_jvm_due(now_ns)) ...         the JVM is on its way: look for modules, then
 *     fb_jvm_look(now_ns);                once a second, and when due
 *     state = fb_jvm_state(&why);         for the manifest
 *
 * Context: normal, the helper thread alone.  Memory is read through a struct fb_self_read.
 *
 * A JVM is the library libjvm.so, whoever loads it and whenever; of several, the last one until one
 * is walked: programs look into libraries that they do not take.  Its tables are read at once; its
 * code cache, interpreter and threads are there some 10 ms later, and until then it is looked at
 * every FB_JVM_POLL_NS.  A program that has the JVM's launcher library is looked at as often before
 * that, so that the first compilations are seen.  When the library goes, or the JVM has no threads
 * any more, Java is not walked.
 *
 * What is checked before a walk: the tables (tables.h, layout.h); that the call stub, the
 * interpreter and the code heaps are where the tables say and bear their names; that the first Java
 * thread has a thread id of this process and a stack.  What fails is one sentence, on stderr and in
 * the manifest, and stacks are native ones. */
#ifndef FB_SAMPLER_JVM_START_H
#define FB_SAMPLER_JVM_START_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/modules.h"

enum { FB_JVM_POLL_NS = 5000000 };

enum fb_jvm_state {
    FB_JVM_NONE,    /* there is no JVM                        */
    FB_JVM_COMING,  /* its library is there, it is not        */
    FB_JVM_WALKED,  /* the handler walks it                   */
    FB_JVM_REFUSED, /* it cannot be walked: *ret_why          */
    FB_JVM_GONE,    /* it was walked, and has ended           */
};

void fb_jvm_module(const struct fb_module_event *event);

/* When it is due, 0: it is not waited for. */
uint64_t fb_jvm_next_ns(void);
bool fb_jvm_due(uint64_t now_ns);
void fb_jvm_look(uint64_t now_ns);

/* *ret_why: "" or a sentence's end that stays, as "exports no gHotSpotVMStructs". */
enum fb_jvm_state fb_jvm_state(const char **ret_why);

/* The path of libjvm.so, "" while there is none. */
const char *fb_jvm_library(void);

#endif
