/* wrap_syscall.c - syscall(), the C library's door past its own functions.
 *
 * A few numbers do what other files here wrap, and harm as much when they come by this door: an
 * exec that ITIMER_PROF survives, the copy of a large process, a system call filter.  All others
 * (every futex of some languages) go on with a jump: no frame of ours, 2 ns. */
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/preload.h"
#include "sampler/real.h"
#include "sampler/wrap_filter.h"
#include "sampler/wrap_fork.h"

/* Reached from below alone. */
long fb_syscall_rare(long number, long a, long b, long c, long d, long e, long f);

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

/* clang-format off */
#if defined(__x86_64__)
#define JUMP_IF(number) "cmpq $" TEXT(number) ", %rdi\n\tje fb_syscall_rare\n\t"
__asm__(".pushsection .text\n\t"
        ".globl syscall\n\t"
        ".type syscall, @function\n"
        "syscall:\n\t"
        ".cfi_startproc\n\t"
        "endbr64\n\t"
        JUMP_IF(SYS_clone) JUMP_IF(SYS_fork) JUMP_IF(SYS_execve) JUMP_IF(SYS_exit_group)
        JUMP_IF(SYS_seccomp) JUMP_IF(SYS_execveat) JUMP_IF(SYS_clone3)
        "movq fb_syscall_real(%rip), %rax\n\t"
        "testq %rax, %rax\n\t"
        "je fb_syscall_rare\n\t"
        "jmp *%rax\n\t"
        ".cfi_endproc\n\t"
        ".size syscall, .-syscall\n\t"
        ".popsection");
#elif defined(__aarch64__)
#define JUMP_IF(number) "cmp x0, #" TEXT(number) "\n\tb.eq fb_syscall_rare\n\t"
__asm__(".pushsection .text\n\t"
        ".globl syscall\n\t"
        ".type syscall, @function\n"
        "syscall:\n\t"
        ".cfi_startproc\n\t"
        "hint 34\n\t" /* bti c */
        JUMP_IF(SYS_clone) JUMP_IF(SYS_execve) JUMP_IF(SYS_exit_group) JUMP_IF(SYS_seccomp)
        JUMP_IF(SYS_execveat) JUMP_IF(SYS_clone3)
        "adrp x16, fb_syscall_real\n\t"
        "ldr x16, [x16, :lo12:fb_syscall_real]\n\t"
        "cbz x16, fb_syscall_rare\n\t"
        "br x16\n\t"
        ".cfi_endproc\n\t"
        ".size syscall, .-syscall\n\t"
        ".popsection");
#else
#error "flamebank samples x86_64 and aarch64"
#endif
/* clang-format on */

static bool copies(long number, long a, long b)
{
    const struct clone_args *args = (const struct clone_args *)a;

    switch (number) {
#ifdef SYS_fork
    case SYS_fork:
        return true;
#endif
    case SYS_clone:
        return ((uint64_t)a & CLONE_VM) == 0 && b == 0;
    case SYS_clone3:
        return args != NULL && (size_t)b >= CLONE_ARGS_SIZE_VER0 && (args->flags & CLONE_VM) == 0 &&
               args->stack == 0;
    default:
        return false;
    }
}

__attribute__((used, visibility("hidden"))) long fb_syscall_rare(long number, long a, long b,
                                                                 long c, long d, long e, long f)
{
    struct fb_fork fork;
    long r;

    fb_real_find();
    if (number == SYS_execve || number == SYS_execveat) {
        fb_preload_exec();
        r = fb_syscall_real(number, a, b, c, d, e, f);
        fb_preload_exec_failed();
        return r;
    }
    if (number == SYS_exit_group)
        fb_preload_end();
    if (number == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER)
        fb_filter_comes((const struct sock_fprog *)c,
                        ((unsigned long)b & SECCOMP_FILTER_FLAG_TSYNC) != 0);
    if (!copies(number, a, b))
        return fb_syscall_real(number, a, b, c, d, e, f);
    fb_fork_begin(&fork);
    r = fb_syscall_real(number, a, b, c, d, e, f);
    fb_fork_end(&fork, r);
    return r;
}
