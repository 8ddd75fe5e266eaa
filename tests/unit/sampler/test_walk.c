/* test_walk.c - the walk against libunwind, at every single instruction. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "sampler/modules.h"
#include "sampler/signal/code_map.h"
#include "sampler/signal/walk.h"
#include "tests/oracle_walk.h"
#include "tests/unit/sampler/all_tables.h"
#include "tests/unit/sampler/stacks.h"

enum { DEPTH_MAX = 400 };

static struct fb_walk_range own_stack;
static struct fb_walk_cache cache;

/* What came out of the steps of one test. */
static struct {
    unsigned walked;
    unsigned agreed;  /* the same pcs as libunwind, all of them                             */
    unsigned gave_up; /* libunwind stays in the leaf; ours has the callers of the step before */
    unsigned lost;    /* ours stops at a register that only the innermost frame has, and
                         agrees up to there: the resolver of lazy binding, whose CFA is rbx  */
    unsigned stops[FB_WALK_STOP_COUNT];
} seen;

static void no_event(void *ctx, const struct fb_module_event *event)
{
    (void)ctx;
    (void)event;
}

static int set_up(void **ctx)
{
    pthread_attr_t attr;
    void *low;
    size_t size;

    (void)ctx;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &low, &size);
    pthread_attr_destroy(&attr);
    own_stack.low = (uintptr_t)low;
    own_stack.top = (uintptr_t)low + size;
    if (!fb_modules_scan(no_event, NULL))
        return -1;
    all_tables_make();
    return 0;
}

/* --- the oracle ----------------------------------------------------------- */

static void show_difference(const uint64_t *ours, unsigned n, const uint64_t *theirs, unsigned m,
                            enum fb_walk_stop stop)
{
    struct fb_module_ref ref;
    unsigned same = 0;
    static unsigned shown;

    if (shown++ > 8)
        return;
    while (same < n && same < m && ours[same] == theirs[same])
        same++;
    fprintf(stderr, "ours %u (stop %d), oracle %u, same %u:", n, (int)stop, m, same);
    for (unsigned i = same > 1 ? same - 2 : 0; i < same + 3; i++) {
        uint64_t a = i < n ? ours[i] : 0;
        uint64_t b = i < m ? theirs[i] : 0;
        bool known = fb_modules_find(a, INT64_MAX, &ref);

        fprintf(stderr, " [%lx(%u+%lx) %lx]", a, known ? ref.id : 0, known ? a - ref.bias : 0, b);
    }
    fprintf(stderr, "\n");
}

static bool same_pcs(const uint64_t *a, const uint64_t *b, unsigned n)
{
    return memcmp(a, b, n * sizeof a[0]) == 0;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[DEPTH_MAX];
    static uint64_t theirs[DEPTH_MAX];
    static uint64_t before[DEPTH_MAX];
    static unsigned before_n;
    enum fb_walk_stop stop;
    unsigned n = fb_walk_stack(context, &own_stack, &cache, ours, DEPTH_MAX, &stop);
    unsigned m = oracle_walk(context, theirs, DEPTH_MAX);

    (void)sig;
    (void)info;
    seen.walked++;
    seen.stops[stop]++;
    if (n == m && same_pcs(ours, theirs, n))
        seen.agreed++;
    else if (m == 1 && n == before_n && stop == FB_WALK_ROOT &&
             same_pcs(ours + 1, before + 1, n - 1))
        seen.gave_up++;
    else if (stop == FB_WALK_LOST_REG && n < m && same_pcs(ours, theirs, n))
        seen.lost++;
    else
        show_difference(ours, n, theirs, m, stop);
    memcpy(before, ours, sizeof before);
    before_n = n;
}

static void steps_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    memset(&seen, 0, sizeof seen);
    sigaction(SIGTRAP, &action, NULL);
}

/* Both may stop at the same frame: in the epilogue of a realigned function GCC's records say that
 * rbp is saved at rbp, when it has been restored already, and its caller's frame is found by rbp.
 */
static void steps_check(unsigned at_least)
{
    unsigned both_short = seen.walked - seen.lost - seen.stops[FB_WALK_ROOT];

    print_message("steps %u: agreed %u, both short %u, libunwind gave up %u, lost register %u\n",
                  seen.walked, seen.agreed, both_short, seen.gave_up, seen.lost);
    assert_true(seen.walked >= at_least);
    assert_int_equal(seen.agreed + seen.gave_up + seen.lost, seen.walked);
    assert_true(both_short * 50 <= seen.walked);
}

static void leaf(void)
{
    static volatile unsigned n;

    for (int i = 0; i < 3; i++)
        n = n * 3 + 1;
}

static void step_leaf(void)
{
    stacks_trap_on();
    leaf();
    stacks_trap_off();
}

static void recursion_is_walked_as_libunwind_walks_it(void **ctx)
{
    (void)ctx;
    steps_begin();
    stacks_trap_on();
    stacks_recurse(23, leaf);
    stacks_trap_off();
    steps_check(300);
    assert_int_equal(seen.lost, 0);
    assert_true(seen.gave_up * 20 < seen.walked);
}

static void callbacks_are_walked_as_libunwind_walks_them(void **ctx)
{
    (void)ctx;
    stacks_callback(leaf); /* binds qsort */
    steps_begin();
    stacks_trap_on();
    stacks_callback(leaf);
    stacks_trap_off();
    steps_check(300);
    assert_int_equal(seen.lost, 0);
}

static void library_code_is_walked_as_libunwind_walks_it(void **ctx)
{
    (void)ctx;
    free(strdup(
        "42 text 3.25")); /* a sanitizer's heap fills itself at its first use: a million steps */
    steps_begin();
    stacks_trap_on();
    stacks_library(); /* through the resolver of lazy binding, if the linker left that */
    stacks_trap_off();
    steps_check(1000);
#if defined(__x86_64__)
    assert_int_equal(seen.lost, 0); /* the resolver is left by rbx, under all that it calls */
#endif
}

static void bound_library_code_is_walked_to_the_root(void **ctx)
{
    (void)ctx;
    stacks_library();
    steps_begin();
    stacks_trap_on();
    stacks_library();
    stacks_trap_off();
    steps_check(1000);
    assert_int_equal(seen.lost, 0);
}

static void a_call_that_ends_its_function_is_left_by_that_functions_rule(void **ctx)
{
    (void)ctx;
    steps_begin();
    stacks_last_call(step_leaf);
    steps_check(10);
    assert_int_equal(seen.agreed, seen.walked);
}

static void signal_frames_are_crossed(void **ctx)
{
    (void)ctx;
    steps_begin();
    stacks_in_handler(0, step_leaf);
    steps_check(10);
    assert_int_equal(seen.agreed, seen.walked);
}

static void signal_frames_on_an_alternate_stack_are_crossed(void **ctx)
{
    (void)ctx;
    steps_begin();
    stacks_in_handler(1, step_leaf);
    steps_check(10);
    assert_int_equal(seen.agreed, seen.walked);
}

/* --- stacks that are not the thread's own --------------------------------- */

static unsigned page_steps;

static void on_coroutine_trap(int sig, siginfo_t *info, void *context)
{
    static uint64_t ours[DEPTH_MAX];
    static uint64_t theirs[DEPTH_MAX];
    enum fb_walk_stop stop;
    unsigned n = fb_walk_stack(context, &own_stack, &cache, ours, DEPTH_MAX, &stop);
    unsigned m = oracle_walk(context, theirs, DEPTH_MAX);

    (void)sig;
    (void)info;
    seen.walked++;
    if (stop == FB_WALK_OFF_STACK && n >= 1 && n <= m && same_pcs(ours, theirs, n))
        seen.agreed++;
    if (n > 1)
        page_steps++;
}

static void coroutines_are_walked_as_far_as_their_page_is_proven(void **ctx)
{
    struct sigaction action = {.sa_sigaction = on_coroutine_trap, .sa_flags = SA_SIGINFO};

    (void)ctx;
    memset(&seen, 0, sizeof seen);
    page_steps = 0;
    sigaction(SIGTRAP, &action, NULL);
    stacks_coroutine(step_leaf);
    assert_true(seen.walked > 10);
    assert_int_equal(seen.agreed, seen.walked);
    assert_true(page_steps > 0);
}

static void a_context_from_elsewhere_gives_the_pc_alone(void **ctx)
{
    struct fb_walk_range nothing = {0, 0};
    enum fb_walk_stop stop;
    uint64_t pcs[8];
    ucontext_t *uc = calloc(1, sizeof *uc);

    (void)ctx;
    getcontext(uc);
    uc->uc_stack.ss_flags = SS_DISABLE;
    assert_int_equal(fb_walk_stack(uc, &nothing, &cache, pcs, 8, &stop), 1);
    assert_int_equal(stop, FB_WALK_OFF_STACK);
    assert_int_equal(pcs[0], uc->uc_mcontext.gregs[REG_RIP]);
    free(uc);
}

static void the_depth_limit_is_kept_and_named(void **ctx)
{
    enum fb_walk_stop stop;
    uint64_t pcs[8] = {0};
    ucontext_t uc;

    (void)ctx;
    getcontext(&uc);
    uc.uc_stack.ss_flags = SS_DISABLE;
    assert_int_equal(fb_walk_stack(&uc, &own_stack, &cache, pcs, 2, &stop), 2);
    assert_int_equal(stop, FB_WALK_DEPTH);
    assert_int_equal(pcs[2], 0);
}

/* --- code without rows ------------------------------------------------------ */

static unsigned special_steps; /* inside the code in question */
static unsigned special_whole; /* of them: to the root, through the caller before it */
static uint64_t special_start;
static uint64_t special_end;

static void on_special_trap(int sig, siginfo_t *info, void *context)
{
    static uint64_t before[DEPTH_MAX];
    static unsigned before_n;
    static uint64_t pcs[DEPTH_MAX];
    enum fb_walk_stop stop;
    unsigned n = fb_walk_stack(context, &own_stack, &cache, pcs, DEPTH_MAX, &stop);
    bool inside = false;

    (void)sig;
    (void)info;
    for (unsigned i = 0; i < 2 && i < n; i++)
        inside = inside || (pcs[i] >= special_start && pcs[i] < special_end);
    if (!inside) {
        memcpy(before, pcs, sizeof before);
        before_n = n;
        return;
    }
    special_steps++;
    special_whole += stop == FB_WALK_ROOT && n > before_n &&
                     same_pcs(pcs + (n - before_n + 1), before + 1, before_n - 1);
}

static void special_begin(uint64_t start, uint64_t end)
{
    struct sigaction action = {.sa_sigaction = on_special_trap, .sa_flags = SA_SIGINFO};

    special_start = start;
    special_end = end;
    special_steps = special_whole = 0;
    sigaction(SIGTRAP, &action, NULL);
}

static void leaf_code_without_rows_is_left_by_its_return_address(void **ctx)
{
    (void)ctx;
    special_begin((uintptr_t)stacks_bare, (uintptr_t)stacks_bare_end);
    stacks_trap_on();
    stacks_bare();
    stacks_trap_off();
    assert_int_equal(special_steps, 4);
    assert_int_equal(special_whole, 4);
}

static void generated_code_is_left_by_its_frame_pointer(void **ctx)
{
    /* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
    static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    uint8_t *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*generated)(stacks_leaf);

    (void)ctx;
    assert_ptr_not_equal(page, MAP_FAILED);
    memcpy(page, code, sizeof code);
    memcpy(&generated, &page, sizeof generated);
    special_begin((uintptr_t)page + 6, (uintptr_t)page + 7); /* seen from leaf alone */
    stacks_trap_on();
    generated(leaf);
    stacks_trap_off();
    assert_true(special_steps > 5);
    assert_true(special_whole >= special_steps - 1); /* but the pop itself */
    munmap(page, 4096);
}

/* --- stacks that make no sense ---------------------------------------------- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A pc of our own or the C library's text, or anything. */
static uint64_t random_word(uint64_t *seed, uint64_t stack)
{
    uint64_t r = random_next(seed);

    switch (r % 5) {
    case 0:
        return stack + (r >> 8) % 8192 / 8 * 8;
    case 1:
        return (uintptr_t)random_word + (r >> 8) % 16384;
    case 2:
        return (uintptr_t)getppid + (r >> 8) % 800000 - 500000;
    case 3:
        return (r >> 8) % 100;
    default:
        return r;
    }
}

static void nonsense_is_never_read_outside_the_stack(void **ctx)
{
    /* The stack is two pages between two that fault. */
    uint8_t *area = mmap(NULL, 4 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t low = (uintptr_t)area + 4096;
    struct fb_walk_range range = {(uintptr_t)low, (uintptr_t)low + 8192};
    uint64_t *words = (uint64_t *)(void *)(area + 4096);
    uint64_t seed = 88172645463325252u;
    unsigned stops[FB_WALK_STOP_COUNT] = {0};
    static uint64_t pcs[DEPTH_MAX];

    (void)ctx;
    assert_int_equal(mprotect(area + 4096, 8192, PROT_READ | PROT_WRITE), 0);
    for (unsigned round = 0; round < 30000; round++) {
        enum fb_walk_stop stop;
        ucontext_t uc = {.uc_stack = {.ss_flags = SS_DISABLE}};

        for (unsigned i = 0; i < 8; i++)
            words[random_next(&seed) % 1024] = random_word(&seed, low);
        for (int i = 0; i < NGREG; i++)
            uc.uc_mcontext.gregs[i] = (greg_t)random_word(&seed, low);
        uc.uc_mcontext.gregs[REG_RIP] =
            (greg_t)((uintptr_t)getppid + random_next(&seed) % 800000 - 500000);
        uc.uc_mcontext.gregs[REG_RSP] =
            (greg_t)(round % 4 == 0 ? low
                                    : low + random_next(&seed) % 1025 * 8 + (round % 16 == 1));
        assert_in_range(fb_walk_stack(&uc, &range, &cache, pcs, DEPTH_MAX, &stop), 1, DEPTH_MAX);
        assert_true(stop < FB_WALK_STOP_COUNT);
        stops[stop]++;
    }
    assert_true(stops[FB_WALK_NO_RULE] > 100);
    assert_true(stops[FB_WALK_BAD_CFA] > 100);
    assert_true(stops[FB_WALK_BAD_PC] > 100);
    munmap(area, 4 * 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_is_walked_as_libunwind_walks_it),
        cmocka_unit_test(callbacks_are_walked_as_libunwind_walks_them),
        cmocka_unit_test(library_code_is_walked_as_libunwind_walks_it),
        cmocka_unit_test(bound_library_code_is_walked_to_the_root),
        cmocka_unit_test(a_call_that_ends_its_function_is_left_by_that_functions_rule),
        cmocka_unit_test(signal_frames_are_crossed),
        cmocka_unit_test(signal_frames_on_an_alternate_stack_are_crossed),
        cmocka_unit_test(coroutines_are_walked_as_far_as_their_page_is_proven),
        cmocka_unit_test(leaf_code_without_rows_is_left_by_its_return_address),
        cmocka_unit_test(generated_code_is_left_by_its_frame_pointer),
        cmocka_unit_test(nonsense_is_never_read_outside_the_stack),
        cmocka_unit_test(a_context_from_elsewhere_gives_the_pc_alone),
        cmocka_unit_test(the_depth_limit_is_kept_and_named),
    };

#if defined(__SANITIZE_THREAD__)
    print_message("ThreadSanitizer delivers signals later than they are raised: not run\n");
    return tests[0].test_func == NULL || set_up(NULL) != 0;
#else
    return cmocka_run_group_tests(tests, set_up, NULL);
#endif
}
