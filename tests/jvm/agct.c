/* agct.c - the sampler, which asks AsyncGetCallTrace about each stack that it walks.
 *
 * The library is libflamebank.so's own objects and this file.  It is preloaded into a JVM, which
 * gives a bank as ever, and is named with -agentpath as well, for what the oracle needs: JVMTI,
 * class events, method ids made beforehand.  The walk is wrapped by the linker: after it, in the
 * same signal, AsyncGetCallTrace walks the same context, and the Java frames are compared by name
 * and descriptor (class, method, signature) and by bytecode index.
 *
 * At the end of the JVM one line a count is written to the file that AGCT_OUT names:
 *     both        both have Java frames; of these:
 *     same          all frames the same
 *     no_id         the same, but for frames of which the oracle does not know the method
 *     continues     the oracle ends where a virtual thread's own frames end, ours goes on
 *     they_stop     the oracle has the inner frames of ours, which go on to the root
 *     we_stop       ours has the inner frames of the oracle's
 *     entering      the same but for ours' innermost: a method that the interpreter is entering,
 *                   of which the oracle knows nothing before its frame is made
 *     epilogue      the tick is between the end of a frame and the return: the oracle takes the
 *                   frame to be whole, and a word of the caller for its return address
 *     leaf_call     compiled code called native code without a word to the JVM (a clock, a copy's
 *                   barrier): ours goes by the return address, the oracle by the last place that
 *                   the JVM was told of
 *     leaf          the same but for one or two innermost frames
 *     differ        the rest
 *     alone       the oracle alone has Java frames
 *     bci_same, bci_differ   frames with the same method in `same` stacks
 *     ours_only, neither, kept (our walk waits for tables: not compared)
 *     ours_java, ours_cut, unnamed    stacks with Java frames, those of them that are not whole,
 * and Java frames without a name and behind them examples of what is not the same, the most
 * frequent first. */
#include <dlfcn.h>
#include <jni.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "sampler/export.h"
#include "sampler/jvm/signal/frame_word.h"
#include "sampler/signal/walk.h"
#include "tests/jvm/agct_names.h"

enum {
    DEPTH_MAX = 512,
    LEAVES = 2,
    SLOTS = 16,
    KEPT_MAX = 400,
    SHOWN_MAX = 10,
    BORDERS_MAX = 64,
    REASONS = 32,
    WORDS = 12,
    CODE = 16
};

/* As HotSpot has them; they are in no header. */
struct call_frame {
    jint bci;
    jmethodID method;
};

struct call_trace {
    JNIEnv *env;
    jint count; /* not positive: why there are none */
    struct call_frame *frames;
};

typedef void (*trace_fn)(struct call_trace *, jint, void *);

enum verdict {
    SAME,
    NO_ID,
    CONTINUES,
    THEY_STOP,
    WE_STOP,
    ENTERING,
    EPILOGUE,
    LEAF_CALL,
    LEAF,
    DIFFER,
    ALONE,
    VERDICTS
};

static const char *const verdict_names[] = {"same",    "no_id",    "continues", "they_stop",
                                            "we_stop", "entering", "epilogue",  "leaf_call",
                                            "leaf",    "differ",   "alone"};

struct frame {
    uint32_t name; /* 0: not known */
    int32_t bci;
};

struct pair {
    struct frame ours[DEPTH_MAX];
    struct frame theirs[DEPTH_MAX];
    struct call_frame raw[DEPTH_MAX];
    unsigned n;
    unsigned m;
    uint64_t words[WORDS]; /* ours as they are, innermost first */
    unsigned word_count;
    bool entering; /* ours' innermost is interpreted and at its first bytecode */
    uint64_t ip;
    uint8_t code[2 * CODE]; /* around ip */
    enum fb_walk_stop stop;
    enum verdict verdict;
};

enum count {
    BOTH,
    BCI_SAME,
    BCI_DIFFER,
    OURS_ONLY,
    NEITHER,
    KEPT,
    OURS_JAVA,
    OURS_CUT,
    UNNAMED,
    COUNTS
};

static const char *const count_names[] = {"both", "bci_same",  "bci_differ", "ours_only", "neither",
                                          "kept", "ours_java", "ours_cut",   "unnamed"};

static JavaVM *vm;
static trace_fn trace;
static _Atomic bool ready;
static _Atomic uint64_t counts[COUNTS];
static _Atomic uint64_t verdicts[VERDICTS];
static _Atomic uint64_t reasons[REASONS]; /* of the oracle, where ours alone has Java frames */
static struct pair slots[SLOTS];
static _Atomic bool slot_busy[SLOTS];
static struct pair kept[KEPT_MAX]; /* what is not the same; touched as it fills */
static _Atomic uint32_t kept_count;
static jmethodID borders[BORDERS_MAX]; /* of jdk.internal.vm.Continuation */
static unsigned border_count;

/* --- in the handler ---------------------------------------------------------------------- */

static unsigned java_frames(const uint64_t *pcs, unsigned depth, struct frame *ret_frames)
{
    unsigned n = 0;

    for (unsigned i = 0; i < depth; i++) {
        enum fb_jvm_frame_kind kind = fb_jvm_word_kind(pcs[i]);

        if (!fb_jvm_word_is(pcs[i]) || kind == FB_JVM_STUB || kind == FB_JVM_MARK)
            continue;
        if (fb_jvm_word_name(pcs[i]) == 0)
            counts[UNNAMED]++;
        ret_frames[n++] = (struct frame){fb_jvm_word_name(pcs[i]), fb_jvm_word_bci(pcs[i])};
    }
    return n;
}

/* A method id is a pointer to the pointer to the Method. */
static void name_theirs(struct pair *p)
{
    for (unsigned i = 0; i < p->m; i++) {
        const uint64_t *method = (const uint64_t *)p->raw[i].method;

        p->theirs[i].name = method == NULL || *method == 0 ? 0 : agct_name(*method);
        p->theirs[i].bci = p->raw[i].bci;
    }
}

/* Frames that are the same, from the innermost of each; *ret_unknown: with one that has no id. */
static unsigned same_frames(const struct frame *a, unsigned n, const struct frame *b, unsigned m,
                            bool *ret_unknown)
{
    unsigned i = 0;

    *ret_unknown = false;
    for (; i < n && i < m; i++) {
        if (b[i].name == 0)
            *ret_unknown = true;
        else if (a[i].name == 0 || !agct_same_name(a[i].name, b[i].name))
            break;
    }
    return i;
}

static bool same_but_leaves(const struct pair *p)
{
    bool unknown;

    for (unsigned i = 0; i <= LEAVES && i < p->n; i++)
        for (unsigned k = 0; k <= LEAVES && k < p->m; k++)
            if (p->n - i == p->m - k &&
                same_frames(p->ours + i, p->n - i, p->theirs + k, p->m - k, &unknown) == p->n - i)
                return true;
    return false;
}

static bool at_border(jmethodID method)
{
    for (unsigned i = 0; i < border_count; i++)
        if (borders[i] == method)
            return true;
    return false;
}

static bool is_compiled(uint64_t word)
{
    enum fb_jvm_frame_kind kind = fb_jvm_word_kind(word);

    return fb_jvm_word_is(word) && (kind == FB_JVM_COMPILED || kind == FB_JVM_INLINED);
}

/* pop %rbp, ret; or ldp x29, x30 and ret */
static bool in_epilogue(const struct pair *p)
{
    const uint8_t *code = p->code + CODE;

#ifdef __x86_64__
    return is_compiled(p->words[0]) && (code[0] == 0x5d || code[0] == 0xc3 || code[-1] == 0x5d);
#else
    return is_compiled(p->words[0]) && code[3] == 0xd6 && code[2] == 0x5f;
#endif
}

/* Native frames, perhaps a stub, and then compiled code that has called them directly. */
static bool in_leaf_call(const struct pair *p)
{
    unsigned i = 0;

    while (i < p->word_count && !fb_jvm_word_is(p->words[i]))
        i++;
    if (i < p->word_count && fb_jvm_word_kind(p->words[i]) == FB_JVM_STUB)
        i++;
    return i > 0 && i < p->word_count && is_compiled(p->words[i]);
}

static enum verdict judge(const struct pair *p)
{
    bool unknown;
    unsigned same = same_frames(p->ours, p->n, p->theirs, p->m, &unknown);

    if (same == p->n && same == p->m)
        return unknown ? NO_ID : SAME;
    if (same == p->m)
        return at_border(p->raw[p->m - 1].method) ? CONTINUES : THEY_STOP;
    if (same == p->n)
        return WE_STOP;
    if (p->n == p->m + 1 && p->entering &&
        same_frames(p->ours + 1, p->m, p->theirs, p->m, &unknown) == p->m)
        return ENTERING;
    if (in_epilogue(p))
        return EPILOGUE;
    if (in_leaf_call(p))
        return LEAF_CALL;
    return same_but_leaves(p) ? LEAF : DIFFER;
}

static void compare_bci(const struct pair *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->theirs[i].bci >= 0 && p->ours[i].bci >= 0)
            counts[p->theirs[i].bci == p->ours[i].bci ? BCI_SAME : BCI_DIFFER]++;
}

static uint64_t interrupted(const ucontext_t *uc)
{
#ifdef __x86_64__
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#else
    return (uint64_t)uc->uc_mcontext.pc;
#endif
}

static void remember_place(struct pair *p, const ucontext_t *uc, const uint64_t *pcs,
                           unsigned depth)
{
    p->ip = interrupted(uc);
    p->word_count = depth < WORDS ? depth : WORDS;
    p->entering = fb_jvm_word_is(pcs[0]) && fb_jvm_word_kind(pcs[0]) == FB_JVM_INTERPRETED &&
                  fb_jvm_word_bci(pcs[0]) == 0;
    memcpy(p->words, pcs, p->word_count * sizeof *pcs);
    memcpy(p->code, (const void *)(uintptr_t)(p->ip - CODE), 2 * CODE); /* it runs: it is there */
}

static void compare(struct pair *p, void *uc, const uint64_t *pcs, unsigned depth,
                    enum fb_walk_stop stop)
{
    struct call_trace t = {.frames = p->raw};

    p->n = java_frames(pcs, depth, p->ours);
    remember_place(p, uc, pcs, depth);
    p->stop = stop;
    counts[OURS_JAVA] += p->n > 0;
    counts[OURS_CUT] += p->n > 0 && stop != FB_WALK_ROOT;
    if ((*vm)->GetEnv(vm, (void **)&t.env, JNI_VERSION_1_6) == JNI_OK && t.env != NULL)
        trace(&t, DEPTH_MAX, uc);
    p->m = t.count > 0 ? (unsigned)t.count : 0;
    name_theirs(p);
    if (p->n == 0 || p->m == 0) {
        if (p->m > 0)
            verdicts[p->verdict = ALONE]++;
        else
            counts[p->n > 0 ? OURS_ONLY : NEITHER]++;
        if (p->n > 0 && t.count > -REASONS)
            reasons[-t.count]++;
        return;
    }
    counts[BOTH]++;
    p->verdict = judge(p);
    verdicts[p->verdict]++;
    if (p->verdict == SAME)
        compare_bci(p);
}

static void keep(const struct pair *p)
{
    uint32_t at = atomic_load(&kept_count);

    if (at < KEPT_MAX && (at = atomic_fetch_add(&kept_count, 1)) < KEPT_MAX)
        memcpy(&kept[at], p, sizeof *p);
}

static void look(void *uc, const uint64_t *pcs, unsigned depth, enum fb_walk_stop stop)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (atomic_exchange(&slot_busy[i], true))
            continue;
        slots[i].verdict = SAME;
        compare(&slots[i], uc, pcs, depth, stop);
        if (slots[i].verdict != SAME && slots[i].verdict != ENTERING)
            keep(&slots[i]);
        atomic_store(&slot_busy[i], false);
        return;
    }
}

unsigned __real_fb_walk_stack_rest(const ucontext_t *uc, const struct fb_walk_range *stack,
                                   struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                                   enum fb_walk_stop *ret_stop, struct fb_walk_rest *ret_rest);
unsigned __wrap_fb_walk_stack_rest(const ucontext_t *uc, const struct fb_walk_range *stack,
                                   struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                                   enum fb_walk_stop *ret_stop, struct fb_walk_rest *ret_rest);

unsigned __wrap_fb_walk_stack_rest(const ucontext_t *uc, const struct fb_walk_range *stack,
                                   struct fb_walk_cache *cache, uint64_t *ret_pcs, unsigned max,
                                   enum fb_walk_stop *ret_stop, struct fb_walk_rest *ret_rest)
{
    unsigned depth = __real_fb_walk_stack_rest(uc, stack, cache, ret_pcs, max, ret_stop, ret_rest);

    if (!atomic_load(&ready) || depth == 0)
        return depth;
    if (*ret_stop == FB_WALK_NO_TABLE)
        counts[KEPT]++;
    else
        look((void *)(uintptr_t)uc, ret_pcs, depth, *ret_stop);
    return depth;
}

/* --- the report -------------------------------------------------------------------------- */

static void print_frame(FILE *out, const struct frame *f)
{
    char text[512];

    agct_text(f->name, text, sizeof text);
    fprintf(out, " %-60s %5d", text, f->bci);
}

static void print_words(FILE *out, const struct pair *p)
{
    static const char *const kinds[] = {"interpreted", "compiled", "inlined",
                                        "native",      "stub",     "mark"};
    char text[512];

    for (unsigned i = 0; i < p->word_count; i++) {
        if (!fb_jvm_word_is(p->words[i])) {
            Dl_info info;
            bool known = dladdr((void *)(uintptr_t)p->words[i], &info) != 0;

            fprintf(out, "        %lx %s\n", (unsigned long)p->words[i],
                    known && info.dli_sname != NULL ? info.dli_sname : "?");
            continue;
        }
        agct_text(fb_jvm_word_name(p->words[i]), text, sizeof text);
        fprintf(out, "        %s tier %d bci %d %s\n", kinds[fb_jvm_word_kind(p->words[i]) % 6],
                (int)fb_jvm_word_tier(p->words[i]), fb_jvm_word_bci(p->words[i]), text);
    }
}

/* The frames around the first that differs. */
static void print_pair(FILE *out, const struct pair *p)
{
    bool unknown;
    unsigned same = same_frames(p->ours, p->n, p->theirs, p->m, &unknown);

    fprintf(out, "-- %s: ours %u frames (stop %d), theirs %u, the same up to %u; at %lx,",
            verdict_names[p->verdict], p->n, (int)p->stop, p->m, same, (unsigned long)p->ip);
    for (int i = 0; i < 2 * CODE; i++)
        fprintf(out, "%s%02x", i == CODE ? " | " : " ", p->code[i]);
    fprintf(out, "\n");
    print_words(out, p);
    for (unsigned i = same > 2 ? same - 2 : 0; i < same + 5 && (i < p->n || i < p->m); i++) {
        fprintf(out, "   ours");
        if (i < p->n)
            print_frame(out, &p->ours[i]);
        fprintf(out, "\n theirs");
        if (i < p->m)
            print_frame(out, &p->theirs[i]);
        fprintf(out, "\n");
    }
}

static void report(const char *path)
{
    FILE *out = fopen(path, "a");
    unsigned shown[VERDICTS] = {0};
    uint32_t n = kept_count < KEPT_MAX ? kept_count : KEPT_MAX;

    if (out == NULL)
        return;
    for (int i = 0; i < COUNTS; i++)
        fprintf(out, "%s %lu\n", count_names[i], (unsigned long)counts[i]);
    for (int i = 0; i < VERDICTS; i++)
        fprintf(out, "%s %lu\n", verdict_names[i], (unsigned long)verdicts[i]);
    for (int i = 0; i < REASONS; i++)
        if (reasons[i] != 0)
            fprintf(out, "reason%d %lu\n", -i, (unsigned long)reasons[i]);
    for (uint32_t i = 0; i < n; i++)
        if (shown[kept[i].verdict]++ < SHOWN_MAX)
            print_pair(out, &kept[i]);
    fclose(out);
}

/* --- the agent --------------------------------------------------------------------------- */

/* The oracle knows methods that have an id, and ids are made when somebody asks. */
static jmethodID *make_ids(jvmtiEnv *env, jclass class, jint *ret_count)
{
    jmethodID *ids = NULL;

    if ((*env)->GetClassMethods(env, class, ret_count, &ids) != JVMTI_ERROR_NONE)
        *ret_count = 0;
    return ids;
}

static void forget_ids(jvmtiEnv *env, jmethodID *ids)
{
    if (ids != NULL)
        (*env)->Deallocate(env, (unsigned char *)ids);
}

static void JNICALL on_class_load(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
    (void)env;
    (void)jni;
    (void)thread;
    (void)class;
}

static void JNICALL on_class_prepare(jvmtiEnv *env, JNIEnv *jni, jthread thread, jclass class)
{
    jint n;

    (void)jni;
    (void)thread;
    forget_ids(env, make_ids(env, class, &n));
}

static void JNICALL on_code(jvmtiEnv *env, const char *name, const void *address, jint length)
{
    (void)env;
    (void)name;
    (void)address;
    (void)length;
}

/* Of JDK 21 on: where a virtual thread's frames end. */
static void find_borders(jvmtiEnv *env, JNIEnv *jni)
{
    jclass continuation = (*jni)->FindClass(jni, "jdk/internal/vm/Continuation");
    jmethodID *ids;
    jint n;

    if (continuation == NULL) {
        (*jni)->ExceptionClear(jni);
        return;
    }
    ids = make_ids(env, continuation, &n);
    for (jint i = 0; i < n && border_count < BORDERS_MAX; i++)
        borders[border_count++] = ids[i];
    forget_ids(env, ids);
}

static void JNICALL on_init(jvmtiEnv *env, JNIEnv *jni, jthread thread)
{
    jclass *classes = NULL;
    jint n = 0;
    jint m;

    (void)thread;
    if ((*env)->GetLoadedClasses(env, &n, &classes) == JVMTI_ERROR_NONE) {
        for (jint i = 0; i < n; i++) {
            forget_ids(env, make_ids(env, classes[i], &m));
            (*jni)->DeleteLocalRef(jni, classes[i]);
        }
        (*env)->Deallocate(env, (unsigned char *)classes);
    }
    find_borders(env, jni);
    atomic_store(&ready, true);
}

static void JNICALL on_death(jvmtiEnv *env, JNIEnv *jni)
{
    const char *path = getenv("AGCT_OUT");

    (void)env;
    (void)jni;
    atomic_store(&ready, false);
    if (path != NULL)
        report(path);
}

FB_EXPORT jint JNICALL Agent_OnLoad(JavaVM *given, char *options, void *reserved)
{
    union {
        void *object;
        trace_fn function;
    } symbol = {.object = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace")};
    jvmtiEventCallbacks callbacks = {.VMInit = on_init,
                                     .VMDeath = on_death,
                                     .ClassLoad = on_class_load,
                                     .ClassPrepare = on_class_prepare,
                                     .DynamicCodeGenerated = on_code};
    static const jvmtiEvent events[] = {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                        JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
                                        JVMTI_EVENT_DYNAMIC_CODE_GENERATED};
    jvmtiEnv *env;

    (void)options;
    (void)reserved;
    vm = given;
    trace = symbol.function;
    if (trace == NULL || (*vm)->GetEnv(vm, (void **)&env, JVMTI_VERSION_1_2) != JNI_OK)
        return JNI_ERR;
    (*env)->SetEventCallbacks(env, &callbacks, sizeof callbacks);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if ((*env)->SetEventNotificationMode(env, JVMTI_ENABLE, events[i], NULL) !=
            JVMTI_ERROR_NONE)
            return JNI_ERR;
    return JNI_OK;
}
