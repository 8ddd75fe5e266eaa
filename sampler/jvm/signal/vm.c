/* vm.c - see vm.h. */
#include "sampler/jvm/signal/vm.h"

#include <stddef.h>

#include "sampler/signal/sigsafe.h"

struct fb_jvm fb_jvm;
_Atomic bool fb_jvm_is_active;
_Thread_local bool fb_jvm_thread_open __attribute__((tls_model("initial-exec")));

static _Atomic uint64_t unloads_at;

void fb_jvm_unloads_publish(uint64_t address)
{
    atomic_store_explicit(&unloads_at, address, memory_order_relaxed);
}

uint64_t fb_jvm_unloads(void)
{
    uint64_t at = atomic_load_explicit(&unloads_at, memory_order_relaxed);
    uint64_t count;

    return at != 0 && fb_jvm_read_64(at, &count) ? count : UINT64_MAX;
}

static _Atomic(const struct fb_jvm_stubs *) current_stubs;

void fb_jvm_stubs_publish(const struct fb_jvm_stubs *stubs)
{
    atomic_store_explicit(&current_stubs, stubs, memory_order_release);
}

uint64_t fb_jvm_stub_name(uint64_t pc)
{
    const struct fb_jvm_stubs *stubs = atomic_load_explicit(&current_stubs, memory_order_acquire);
    uint32_t low = 0;
    uint32_t high = stubs != NULL ? stubs->count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (stubs->items[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && pc < stubs->items[low - 1].end ? stubs->items[low - 1].name : 0;
}

void fb_jvm_activate(bool active)
{
    atomic_store_explicit(&fb_jvm_is_active, active, memory_order_release);
}
