/* thread.h - the JavaThread of the interrupted thread, and what of it may change after the signal.
 *
 * Context: signal, in a walk in which the guard is usable.
 *
 * A JavaThread is accepted only as a member of the JVM's list of threads whose OSThread has this
 * thread's id and whose stack this is; its vtable pointer is remembered, and from then on the same
 * address is accepted while vtable, id and stack still agree.  The list is read again when it is
 * another one (HotSpot makes a new list for every thread that comes or goes; that of 11 begins with
 * another thread when one comes), so that threads which are none cost a few loads. */
#ifndef FB_SAMPLER_JVM_SIGNAL_THREAD_H
#define FB_SAMPLER_JVM_SIGNAL_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* What is remembered of a thread from tick to tick; all zero but tid at first. */
struct fb_jvm_seat {
    int32_t tid;
    uint64_t thread; /* 0: none */
    uint64_t vtable;
    uint64_t list; /* that was read last, for one that has none */
};

/* What a walk knows of its thread; all zero: nothing. */
struct fb_jvm_view {
    uint64_t thread;
    uint64_t anchor_sp; /* where it left Java, 0: it has not, or that is behind us */
    uint64_t anchor_pc;
    uint64_t anchor_fp;
    uint64_t unloads;      /* memo.h */
    uint64_t continuation; /* the ContinuationEntry of a mounted virtual thread, 0: none */
    bool parks;            /* interrupted in a wrapper: of a native method, or of what parks */
    uint64_t taken_pc;     /* being deoptimised: where the frame was ... */
    uint64_t caller_sp;    /* ... and its caller; 0: none is */
    uint64_t caller_pc;
    uint64_t caller_fp;
};

/* The members of a list of threads, bounded: begin, then next until it is false. */
struct fb_jvm_members {
    uint64_t next; /* where it is told, or, where each knows the next one, that itself */
    uint32_t left;
    bool is_array;
};

bool fb_jvm_members_begin(struct fb_jvm_members *m, uint64_t list);
bool fb_jvm_members_next(struct fb_jvm_members *m, uint64_t *ret_thread);

/* hint: the JavaThread that a register says there is, or 0. */
void fb_jvm_view_take(struct fb_jvm_view *view, struct fb_jvm_seat *seat, uint64_t hint,
                      uint64_t sp);

#endif
