/* cpu.h - what HotSpot does with the registers and the code of a CPU, chosen at compile time.
 *
 * Context: signal.  A CPU is one file that defines
 *     FB_JVM_CPU_BCP             words from fp to the bytecode pointer of an interpreted frame
 *     FB_JVM_CPU_WRAPPER         words from the call stub's fp to the JavaCallWrapper, where no
 *                                table says it
 *     FB_JVM_CPU_FIXED           words of an interpreted frame below fp before its expressions
 *     FB_JVM_CPU_BUILDING        words more that may be below while it is entered
 *     fb_jvm_cpu_thread          the JavaThread, wherever the JVM's own code runs
 *     fb_jvm_cpu_bytecode        the bytecode pointer, in the interpreter
 *     fb_jvm_cpu_method          the Method, where one is entered
 *     fb_jvm_cpu_sender_sp       the caller's sp there, or anything
 *     fb_jvm_cpu_hot_return      where the return address may be there, too
 *     fb_jvm_cpu_barrier_entry   where in a JavaThread the entry of its continuation is, as the
 *                                code says that frames return to whose callers are on the
 *                                heap; 0: it does not
 *     fb_jvm_cpu_frame           how far a compiled method's frame is built at pc
 *     fb_jvm_cpu_pushed          bytes that are on top of the whole frame: C1 hands some of its
 *                                stubs their arguments so
 *
 * fb_jvm_cpu_frame() gets the method's entry and pc, and reads the code in between and at pc. */
#ifndef FB_SAMPLER_JVM_SIGNAL_CPU_H
#define FB_SAMPLER_JVM_SIGNAL_CPU_H

/* Where return address and caller's fp are. */
enum fb_jvm_cpu_state {
    FB_JVM_FRAME_NONE,   /* where the call has left them                             */
    FB_JVM_FRAME_PUSHED, /* fp is at sp, the return address behind it                */
    FB_JVM_FRAME_SIZED,  /* at the end of the frame's bytes                          */
    FB_JVM_FRAME_NOT_FP, /* the same, but fp is still the caller's                   */
    FB_JVM_FRAME_SUNK,   /* sp is below the frame, both are in registers (arm64)     */
};

#if defined(__x86_64__)
#include "sampler/jvm/signal/cpu_x86_64.h"
#elif defined(__aarch64__)
#include "sampler/jvm/signal/cpu_aarch64.h"
#else
#error "the JVM's frames are not known on this CPU: add a cpu_*.h"
#endif

#endif
