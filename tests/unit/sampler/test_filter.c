/* Reading a system call filter says what it would do to us. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "sampler/filter.h"

enum {
    ALL = FB_FILTER_TICKS | FB_FILTER_THREADS | FB_FILTER_PROCESSES | FB_FILTER_HELPER,
    TIMERS = FB_FILTER_THREADS | FB_FILTER_PROCESSES,
};

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define ALLOW    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define NUMBER   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, at))
#define REFUSES(...)                                                                               \
    refuses((struct sock_filter[]){__VA_ARGS__},                                                   \
            sizeof((struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter))

static unsigned refuses(struct sock_filter *code, size_t n)
{
    const struct sock_fprog program = {.len = (unsigned short)n, .filter = code};

    return fb_filter_refuses(&program);
}

static void all_or_nothing(void **state)
{
    (void)state;
    assert_int_equal(REFUSES(ALLOW), 0);
    assert_int_equal(REFUSES(KILL), ALL);
    assert_int_equal(REFUSES(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)), 0);
    assert_int_equal(REFUSES(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)), ALL);
    assert_int_equal(REFUSES(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)), ALL);
}

static void one_call_alone(void **state)
{
    (void)state;
    assert_int_equal(
        REFUSES(NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 0, 1), KILL, ALLOW),
        TIMERS);
    assert_int_equal(
        REFUSES(NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1), KILL, ALLOW),
        FB_FILTER_TICKS);
    assert_int_equal(
        REFUSES(NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1), KILL, ALLOW),
        FB_FILTER_PROCESSES);
    assert_int_equal(
        REFUSES(NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1), KILL, ALLOW), 0);
}

static void arguments_and_architecture(void **state)
{
    (void)state;
    assert_int_equal(
        REFUSES(LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), KILL, ALLOW),
        0);
    assert_int_equal(
        REFUSES(LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_ARM, 1, 0), KILL, ALLOW),
        ALL);
    /* write() to the standard descriptors only */
    assert_int_equal(REFUSES(NUMBER, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 2),
                             LOAD(args[0]), BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 2, 1, 0), ALLOW,
                             KILL),
                     FB_FILTER_HELPER | FB_FILTER_PROCESSES);
}

/* X, memory, arithmetic and long jumps: A = ((nr * 2 + 6) / 2 - 3) ^ 0 is nr again. */
static void every_instruction(void **state)
{
    (void)state;
    assert_int_equal(
        REFUSES(NUMBER, BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 1),
                BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 6), BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 2),
                BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0), BPF_STMT(BPF_ST, 15),
                BPF_STMT(BPF_LD | BPF_W | BPF_IMM, 7), BPF_STMT(BPF_MISC | BPF_TAX, 0),
                BPF_STMT(BPF_LD | BPF_W | BPF_MEM, 15), BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 3),
                BPF_STMT(BPF_JMP | BPF_JA, 1), KILL,
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_delete, 0, 1), KILL, ALLOW),
        TIMERS);
}

static void what_cannot_be_followed(void **state)
{
    (void)state;
    assert_int_equal(REFUSES(BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), ALLOW), ALL);
    assert_int_equal(REFUSES(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), ALLOW), ALL);
    assert_int_equal(REFUSES(BPF_STMT(BPF_LD | BPF_W | BPF_MEM, 16), ALLOW), ALL);
    assert_int_equal(REFUSES(BPF_STMT(BPF_JMP | BPF_JA, 1000), ALLOW), ALL);
    assert_int_equal(REFUSES(NUMBER), ALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(one_call_alone),
        cmocka_unit_test(arguments_and_architecture),
        cmocka_unit_test(every_instruction),
        cmocka_unit_test(what_cannot_be_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
