/* manifest.h - the facts of a JVM, as keys and texts of the bank's manifest.
 *
 *   KEY                    VALUE
 *   jvm.walk               "yes", or why Java code is not walked
 *   jvm.version            "17.0.18+8-Debian-1deb12u1"
 *   jvm.vm                 the virtual machine in its own words
 *   jvm.vendor             IMPLEMENTOR of the file `release` of the JDK
 *   jvm.collector          "Serial", "Parallel", "G1", "Z", "Shenandoah", "Epsilon"
 *   jvm.heap_initial_bytes jvm.heap_max_bytes
 *   jvm.flag.NAME          "VALUE (WHO)" of each flag that is not at its default; WHO has set it:
 *                          command line, environment, config file, management, ergonomics,
 *                          attached, internal
 *   jvm.agents             how many -javaagent, -agentpath and -agentlib there are; "0" is said
 *   jvm.agent.N            each, from 1; its options, behind '=', as "crc32:xxxxxxxx"
 *   jvm.command            the main class or jar and its arguments
 *   jvm.nonsafepoints      DebugNonSafepoints (flags.h)
 *   jvm.counters           "yes", or why the JVM's own counters are not there (perf_data.h)
 *
 * Context: the helper thread, once, when the JVM has read its options. */
#ifndef FB_SAMPLER_JVM_MANIFEST_H
#define FB_SAMPLER_JVM_MANIFEST_H

#include <stdint.h>

#include "sampler/jvm/layout.h"
#include "sampler/self_read.h"
#include "sampler/sink.h"

/* The items of MANIFEST; library: the path of libjvm.so. */
void fb_jvm_manifest_put(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                         const char *library, const uint32_t crc_table[256],
                         struct fb_chunk *chunk);

/* "yes" or why not. */
void fb_jvm_manifest_put_walk(const char *walk, struct fb_chunk *chunk);

#endif
