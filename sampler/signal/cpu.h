/* cpu.h - the registers of an interrupted instruction, chosen at compile time.
 *
 * Context: signal.  A CPU is one file that defines
 *     FB_CPU_RED_ZONE            bytes below sp that leaf code may use
 *     FB_CPU_BASE_REGISTER       DWARF number of the one that rule.h follows, or 255
 *     FB_CPU_PC_MAX              user code lies below it
 *     FB_CPU_RETURN_ON_STACK     1: a call pushes the return address
 *     fb_cpu_pc, _sp, _fp        of an mcontext_t
 *     fb_cpu_pc_set              where the thread goes on
 *     fb_cpu_return_register     the link register; 0 where there is none
 *     fb_cpu_register            by DWARF number; false if there is none such
 *     fb_cpu_call_result         what a system call that has just ended gave
 *     fb_cpu_is_call             the 8 bytes before a return address end with a call
 *     fb_cpu_system_call         the instruction: -errno, and errno itself is left alone
 *     fb_cpu_return_address      a return address without its authentication code
 *     FB_CPU_SIGNAL_RECORD       1: the handler of a signal is entered with fp at
 *                                a copy of the interrupted {fp, return register}
 *     fb_cpu_signal_context      where the ucontext_t is when sp is that of a
 *                                signal trampoline
 *     FB_CPU_SIGNAL_CONTEXT_SIZE, _ALIGN   how much of it is read, and its alignment
 *     FB_CPU_REGISTER_BYTES      what of the start of an mcontext_t holds the above */
#ifndef FB_SAMPLER_SIGNAL_CPU_H
#define FB_SAMPLER_SIGNAL_CPU_H

#if defined(__x86_64__)
#include "sampler/signal/cpu_x86_64.h"
#elif defined(__aarch64__)
#include "sampler/signal/cpu_aarch64.h"
#else
#error "no unwinder for this CPU: add a cpu_*.h"
#endif

#endif
