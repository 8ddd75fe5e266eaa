/* filter.c - a small classic BPF machine and the list of our calls.  See filter.h. */
#include "sampler/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { ARCHITECTURE = (int)AUDIT_ARCH_AARCH64 };
#else
#error "flamebank samples x86_64 and aarch64"
#endif

enum {
    BANK_FD = 3,  /* a number that the bank's descriptor may have */
    ATOMIC = 128, /* of futex: private */
};

/* One of our calls with the arguments that a filter is most likely to look at. */
struct call {
    int number;
    unsigned who;
    uint64_t argument[3];
};

static const struct call calls[] = {
    {SYS_rt_sigreturn, FB_FILTER_TICKS, {0}},
    {SYS_clock_gettime, FB_FILTER_TICKS | FB_FILTER_HELPER, {CLOCK_MONOTONIC}},
    {SYS_rt_sigprocmask, FB_FILTER_TICKS, {0}},
    {SYS_gettid, FB_FILTER_THREADS | FB_FILTER_PROCESSES, {0}},
    {SYS_getpid, FB_FILTER_TICKS | FB_FILTER_HELPER, {0}},
    {SYS_futex, FB_FILTER_TICKS | FB_FILTER_HELPER, {0, ATOMIC}},
    {SYS_futex, FB_FILTER_TICKS | FB_FILTER_HELPER, {0, ATOMIC | 1}},
    {SYS_write, FB_FILTER_HELPER, {BANK_FD}},
    {SYS_pread64, FB_FILTER_HELPER, {BANK_FD}},
    {SYS_clock_gettime, FB_FILTER_THREADS | FB_FILTER_PROCESSES, {CLOCK_THREAD_CPUTIME_ID}},
    {SYS_timer_create, FB_FILTER_THREADS | FB_FILTER_PROCESSES, {0}},
    {SYS_timer_settime, FB_FILTER_THREADS | FB_FILTER_PROCESSES, {0}},
    {SYS_timer_delete, FB_FILTER_THREADS | FB_FILTER_PROCESSES, {0}},
    {SYS_prctl, FB_FILTER_THREADS | FB_FILTER_PROCESSES, {PR_GET_NAME}},
    {SYS_prctl, FB_FILTER_PROCESSES, {PR_SET_NAME}},
    {SYS_clone3, FB_FILTER_PROCESSES, {0}},
    {SYS_set_robust_list, FB_FILTER_PROCESSES, {0}},
    {SYS_rseq, FB_FILTER_PROCESSES, {0}},
    {SYS_exit, FB_FILTER_PROCESSES, {0}},
    {SYS_mmap, FB_FILTER_PROCESSES, {0, 4096, PROT_READ | PROT_WRITE}},
    {SYS_mprotect, FB_FILTER_PROCESSES, {0, 4096, PROT_READ | PROT_WRITE}},
    {SYS_munmap, FB_FILTER_PROCESSES, {0}},
    {SYS_madvise, FB_FILTER_PROCESSES, {0, 4096, MADV_DONTDUMP}},
    {SYS_getrandom, FB_FILTER_PROCESSES, {0}},
    {SYS_close_range, FB_FILTER_PROCESSES, {0}},
    {SYS_openat, FB_FILTER_PROCESSES, {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_openat, FB_FILTER_PROCESSES, {(uint64_t)AT_FDCWD, 0, O_CREAT | O_WRONLY | O_CLOEXEC}},
    {SYS_linkat, FB_FILTER_PROCESSES, {0}},
    {SYS_unlinkat, FB_FILTER_PROCESSES, {0}},
    {SYS_readlinkat, FB_FILTER_PROCESSES, {0}},
    {SYS_close, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_read, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_write, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_pread64, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_newfstatat, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_getdents64, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_flock, FB_FILTER_PROCESSES, {BANK_FD}},
    {SYS_fcntl, FB_FILTER_PROCESSES, {BANK_FD, F_DUPFD_CLOEXEC}},
    {SYS_uname, FB_FILTER_PROCESSES, {0}},
    {SYS_rt_sigaction, FB_FILTER_PROCESSES, {0}},
    {SYS_prlimit64, FB_FILTER_PROCESSES, {0}},
    {SYS_clock_nanosleep, FB_FILTER_PROCESSES, {0}},
    {SYS_sched_getaffinity, FB_FILTER_PROCESSES, {0}},
};

struct machine {
    uint32_t a;
    uint32_t x;
    uint32_t memory[BPF_MEMWORDS];
    const struct seccomp_data *data;
};

static bool alu(struct machine *m, uint16_t code, uint32_t k)
{
    uint32_t by = BPF_SRC(code) == BPF_X ? m->x : k;

    switch (BPF_OP(code)) {
    case BPF_ADD:
        m->a += by;
        return true;
    case BPF_SUB:
        m->a -= by;
        return true;
    case BPF_MUL:
        m->a *= by;
        return true;
    case BPF_DIV:
        m->a = by != 0 ? m->a / by : 0;
        return by != 0;
    case BPF_AND:
        m->a &= by;
        return true;
    case BPF_OR:
        m->a |= by;
        return true;
    case BPF_XOR:
        m->a ^= by;
        return true;
    case BPF_LSH:
        m->a = by < 32 ? m->a << by : 0;
        return true;
    case BPF_RSH:
        m->a = by < 32 ? m->a >> by : 0;
        return true;
    case BPF_NEG:
        m->a = 0 - m->a;
        return true;
    default:
        return false;
    }
}

/* Loads and stores: to A or X, from the call, a constant, memory or the call's size. */
static bool load(struct machine *m, uint16_t code, uint32_t k)
{
    uint32_t *to = BPF_CLASS(code) == BPF_LD ? &m->a : &m->x;

    switch (BPF_MODE(code)) {
    case BPF_IMM:
        *to = k;
        return true;
    case BPF_MEM:
        if (k >= BPF_MEMWORDS)
            return false;
        *to = m->memory[k];
        return true;
    case BPF_LEN:
        *to = sizeof *m->data;
        return true;
    case BPF_ABS:
        if (k % 4 != 0 || k > sizeof *m->data - 4)
            return false;
        memcpy(to, (const char *)m->data + k, 4);
        return true;
    default:
        return false;
    }
}

static bool jump_is_taken(const struct machine *m, uint16_t code, uint32_t k, bool *ret_known)
{
    uint32_t with = BPF_SRC(code) == BPF_X ? m->x : k;

    *ret_known = true;
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return m->a == with;
    case BPF_JGT:
        return m->a > with;
    case BPF_JGE:
        return m->a >= with;
    case BPF_JSET:
        return (m->a & with) != 0;
    default:
        *ret_known = false;
        return false;
    }
}

/* One instruction that neither jumps nor returns. */
static bool step(struct machine *m, const struct sock_filter *f)
{
    switch (BPF_CLASS(f->code)) {
    case BPF_LD:
    case BPF_LDX:
        return load(m, f->code, f->k);
    case BPF_ST:
    case BPF_STX:
        if (f->k >= BPF_MEMWORDS)
            return false;
        m->memory[f->k] = BPF_CLASS(f->code) == BPF_ST ? m->a : m->x;
        return true;
    case BPF_ALU:
        return alu(m, f->code, f->k);
    case BPF_MISC:
        if (BPF_MISCOP(f->code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
        return true;
    default:
        return false;
    }
}

/* What the program answers, SECCOMP_RET_KILL_PROCESS where it cannot be followed.  Jumps go forward
 * only, so it ends. */
static uint32_t answer(const struct sock_fprog *program, const struct seccomp_data *data)
{
    struct machine m = {.data = data};
    bool known = true;

    for (size_t at = 0; at < program->len && known; at++) {
        const struct sock_filter *f = &program->filter[at];

        if (BPF_CLASS(f->code) == BPF_RET)
            return BPF_RVAL(f->code) == BPF_A ? m.a : f->k;
        if (BPF_CLASS(f->code) != BPF_JMP)
            known = step(&m, f);
        else if (BPF_OP(f->code) == BPF_JA)
            at += f->k;
        else
            at += jump_is_taken(&m, f->code, f->k, &known) ? f->jt : f->jf;
    }
    return SECCOMP_RET_KILL_PROCESS;
}

static bool permits(const struct sock_fprog *program, const struct call *call)
{
    struct seccomp_data data = {.nr = call->number, .arch = (uint32_t)ARCHITECTURE};
    uint32_t action;

    for (size_t i = 0; i < sizeof call->argument / sizeof call->argument[0]; i++)
        data.args[i] = call->argument[i];
    action = answer(program, &data) & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

unsigned fb_filter_refuses(const struct sock_fprog *program)
{
    unsigned refused = 0;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if ((refused & calls[i].who) != calls[i].who && !permits(program, &calls[i]))
            refused |= calls[i].who;
    return refused;
}
