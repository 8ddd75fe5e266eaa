/* chunk.h - frames of a mounted virtual thread that are still on the heap.
 *
 * Context: signal, in a walk in which the guard is usable; fb_jvm_chunks_publish() is the helper's.
 *
 *     if (fb_jvm_chunks_put(view, pcs, &depth, max)) ...     the thread's frames, innermost first
 *
 * JDK 21 and later.  When a virtual thread is parked, its frames are copied into objects, chunks,
 * that its Continuation leads to: `tail`, the chunk of the innermost frames, and from each chunk
 * its `parent`.  When it goes on, frames come back a few at a time.  The frame that came last
 * returns to a barrier, and its caller is the first frame of the first chunk that is not empty.
 *
 *     object, form.stack bytes, [ gone | pc | first frame ... | last frame | arguments ]
 *                                        ^ sp words              ^ bottom
 *
 * Frames in a chunk are as on a stack, but what points into an interpreted frame is told in words
 * from where it is told (the caller's fp) or from the frame's fp (where its caller's frame ends,
 * its locals).
 *
 * Objects move, and the JVM writes to chunks while it parks and resumes.  So nothing is put unless
 *     - the collector moves nothing while threads run (the helper says so by publishing a form);
 *     - the thread is neither in the JVM nor on its way in or out;
 *     - every object is of the class that it must be of, every frame lies in its chunk, every pc is
 *       in a blob with a frame, and the last frame of a chunk ends where the chunk's frames end;
 *     - at the end Continuation, tail and sp are what they were at the beginning.
 * Where one of it is not so, depth is as it was. */
#ifndef FB_SAMPLER_JVM_SIGNAL_CHUNK_H
#define FB_SAMPLER_JVM_SIGNAL_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/jvm/signal/thread.h"

/* How those objects are made up; immutable once published. */
struct fb_jvm_chunks_form {
    uint64_t chunk_class; /* Klass* */
    uint64_t continuation_class;
    uint64_t oop_base; /* of packed references */
    uint64_t class_base;
    uint32_t oop_shift;
    uint32_t class_shift;
    bool narrow_oops;
    bool narrow_classes;
    bool has_arguments; /* `bottom` is the arguments' size: the frames end above them */
    uint32_t class_at;  /* in any object */
    uint32_t super_at;  /* in a class */
    uint32_t tail_at;   /* in a Continuation */
    uint32_t parent_at; /* in a chunk, as the next ones */
    uint32_t size_at;
    uint32_t sp_at;
    uint32_t bottom_at;
    uint32_t stack; /* where the frames begin */
};

void fb_jvm_chunks_publish(const struct fb_jvm_chunks_form *form);

/* view->continuation is the entry of the thread's continuation. */
bool fb_jvm_chunks_put(const struct fb_jvm_view *view, uint64_t *pcs, unsigned *depth,
                       unsigned max);

#endif
