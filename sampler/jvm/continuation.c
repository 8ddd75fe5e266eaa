/* continuation.c - two symbols and an instruction.  See continuation.h. */
#include "sampler/jvm/continuation.h"

#include <stdbool.h>
#include <stddef.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/signal/cpu.h"
#include "sampler/jvm/symbol.h"

static const char return_symbol[] = "_ZN17ContinuationEntry10_return_pcE";
static const char barrier_symbol[] = "_ZN12StubRoutines19_cont_returnBarrierE";

enum { THREAD_MAX = 1 << 14 }; /* bytes of a JavaThread */

static bool word_read(const struct fb_self_read *r, uint64_t at, uint64_t *ret_word)
{
    return fb_self_read(r, at, ret_word, sizeof *ret_word) == sizeof *ret_word;
}

void fb_jvm_continuation_find(const struct fb_self_read *reader, const char *path, uint64_t bias,
                              struct fb_jvm_layout *layout)
{
    uint64_t return_at;
    uint64_t barrier;
    uint64_t code;
    int32_t offset;

    if (layout->release < FB_JVM_RELEASE_CONTINUATIONS ||
        (layout->continuation_return_at != 0 && layout->thread_continuation != FB_JVM_ABSENT) ||
        !fb_jvm_symbol_find(path, return_symbol, &return_at) ||
        !fb_jvm_symbol_find(path, barrier_symbol, &barrier) ||
        !word_read(reader, barrier + bias, &barrier) || !word_read(reader, barrier, &code))
        return;
    offset = fb_jvm_cpu_barrier_entry(code);
    if (offset <= 0 || offset % 8 != 0 || offset >= THREAD_MAX)
        return;
    layout->continuation_return_at = return_at + bias;
    layout->thread_continuation = offset;
}
