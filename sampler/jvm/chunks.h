/* chunks.h - how a continuation and its chunks are made up in this JVM (signal/chunk.h).
 *
 *     fb_jvm_chunks_look(&reader);     when the JVM is ready, then once a second
 *
 * Context: the helper thread.
 *
 * No table has the two classes: they are found by name among those of the boot loader, which are
 * never unloaded, and their fields by the classes' own tables.  Collectors that move objects while
 * threads run (ZGC, Shenandoah) and compact headers are left alone: the frames are then behind a
 * mark. */
#ifndef FB_SAMPLER_JVM_CHUNKS_H
#define FB_SAMPLER_JVM_CHUNKS_H

#include "sampler/self_read.h"

void fb_jvm_chunks_look(const struct fb_self_read *reader);

#endif
