/* code_map.c - one pointer, one count of readers, one flag. */
#include "sampler/signal/code_map.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/signal/sigsafe.h"

enum { WAKE_PRIVATE = 1 | 128 }; /* of <linux/futex.h>, which musl's compiler does not see */

static const struct fb_rule rule_none = {.cfa = FB_CFA_NONE};
static const struct fb_rule rule_pending = {.cfa = FB_CFA_PENDING};
static const struct fb_code_map empty_map = {.generation = 1};

static _Atomic(const struct fb_code_map *) current_map = &empty_map;
static _Atomic uint32_t reader_count;
static _Atomic(_Atomic uint32_t *) bell;
static _Atomic bool unknown_said;
static _Atomic bool ring_due;

const struct fb_code_map *fb_code_map_enter(void)
{
    atomic_fetch_add(&reader_count, 1);
    return atomic_load(&current_map);
}

void fb_code_map_leave(void)
{
    atomic_fetch_sub(&reader_count, 1);
}

const struct fb_code_module *fb_code_map_find(const struct fb_code_map *map, uint64_t pc)
{
    uint32_t low = 0;
    uint32_t high = map->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (map->modules[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || pc >= map->modules[low - 1].end)
        return NULL;
    return &map->modules[low - 1];
}

/* errno is the caller's to keep: the handler does it for all of its calls. */
void fb_code_map_ring(void)
{
    _Atomic uint32_t *word = atomic_load_explicit(&bell, memory_order_relaxed);

    if (word == NULL || !atomic_load_explicit(&ring_due, memory_order_relaxed) ||
        !atomic_exchange(&ring_due, false))
        return;
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const struct fb_rule *block_rule(struct fb_code_blocks *blocks, uint32_t offset)
{
    uint32_t block = offset >> FB_BLOCK_SHIFT;
    uint64_t bit = UINT64_C(1) << block % 64;
    const struct fb_rows *rows;

    if (block >= blocks->count)
        return &rule_none;
    rows = atomic_load_explicit(&blocks->rows[block], memory_order_acquire);
    if (rows != NULL)
        return fb_rows_find(rows, offset & ((1u << FB_BLOCK_SHIFT) - 1));
    if ((atomic_fetch_or(&blocks->wanted[block / 64], bit) & bit) == 0) {
        atomic_store(&blocks->any_wanted, true);
        atomic_store(&ring_due, true);
    }
    return &rule_pending;
}

const struct fb_rule *fb_code_module_rule(const struct fb_code_module *module, uint64_t pc)
{
    const struct fb_rule *rule;

    if (module->blocks != NULL)
        rule = block_rule(module->blocks, (uint32_t)(pc - module->start));
    else
        rule = fb_rows_find(&module->rows, (uint32_t)(pc - module->start));
    return rule != NULL ? rule : &rule_none;
}

void fb_code_map_unknown_say(void)
{
    if (!atomic_load_explicit(&unknown_said, memory_order_relaxed) &&
        !atomic_exchange(&unknown_said, true))
        atomic_store(&ring_due, true);
}

bool fb_code_map_unknown_take(void)
{
    return atomic_exchange(&unknown_said, false);
}

void fb_code_map_bell_set(_Atomic uint32_t *word)
{
    atomic_store(&bell, word);
}

void fb_code_map_publish(const struct fb_code_map *map)
{
    atomic_store(&current_map, map);
    /* quiet() reads after this store: emulators of arm64 let that load overtake it. */
    atomic_thread_fence(memory_order_seq_cst);
}

bool fb_code_map_quiet(void)
{
    return atomic_load(&reader_count) == 0;
}

void fb_code_map_forget_readers(void)
{
    atomic_store(&reader_count, 0);
}
