/* thread.c - see thread.h. */
#include "sampler/jvm/signal/thread.h"

#include "sampler/jvm/signal/vm.h"

#include "sampler/signal/sigsafe.h"

enum { LIST_MAX = 16384 };

/* Do its id and its stack say that it is this thread? */
static bool is_own(uint64_t thread, int32_t tid, uint64_t sp)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t system;
    uint64_t base;
    uint64_t size;
    uint32_t id;

    return fb_jvm_is_pointer(thread) && fb_jvm_field_64(thread, l->thread_osthread, &system) &&
           fb_jvm_is_pointer(system) && fb_jvm_field_32(system, l->osthread_tid, &id) &&
           (int32_t)id == tid && fb_jvm_field_64(thread, l->thread_stack_base, &base) &&
           fb_jvm_field_64(thread, l->thread_stack_size, &size) && sp < base && base - sp <= size;
}

bool fb_jvm_members_begin(struct fb_jvm_members *m, uint64_t list)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;

    *m = (struct fb_jvm_members){list, LIST_MAX, l->list_length >= 0};
    if (!fb_jvm_is_pointer(list))
        return false;
    if (!m->is_array)
        return true;
    if (!fb_jvm_field_32(list, l->list_length, &m->left) ||
        !fb_jvm_field_64(list, l->list_threads, &m->next) || !fb_jvm_is_pointer(m->next))
        return false;
    if (m->left > LIST_MAX)
        m->left = LIST_MAX;
    return true;
}

bool fb_jvm_members_next(struct fb_jvm_members *m, uint64_t *ret_thread)
{
    if (m->left == 0)
        return false;
    m->left--;
    if (m->is_array) {
        m->next += 8;
        return fb_jvm_read_64(m->next - 8, ret_thread);
    }
    *ret_thread = m->next;
    return fb_jvm_is_pointer(m->next) &&
           fb_jvm_field_64(m->next, fb_jvm.layout.thread_next, &m->next);
}

/* A member of the list at hand; with a hint, that one first. */
static uint64_t search(const struct fb_jvm_seat *seat, uint64_t list, uint64_t hint, uint64_t sp)
{
    bool hinted = hint != 0 && is_own(hint, seat->tid, sp);
    struct fb_jvm_members members;
    uint64_t thread;

    if (!fb_jvm_members_begin(&members, list))
        return 0;
    while (fb_jvm_members_next(&members, &thread))
        if (hinted ? thread == hint : is_own(thread, seat->tid, sp))
            return thread;
    return 0;
}

static uint64_t thread_find(struct fb_jvm_seat *seat, uint64_t hint, uint64_t sp)
{
    uint64_t vtable;
    uint64_t list;

    if (seat->tid == 0)
        return 0;
    if (seat->thread != 0 && fb_jvm_read_64(seat->thread, &vtable) && vtable == seat->vtable &&
        is_own(seat->thread, seat->tid, sp))
        return seat->thread;
    if (!fb_jvm_read_64(fb_jvm.layout.thread_list_at, &list) ||
        (list == seat->list && seat->thread == 0 && hint == 0))
        return 0;
    seat->list = list;
    seat->thread = search(seat, list, hint, sp);
    if (seat->thread != 0 && !fb_jvm_read_64(seat->thread, &seat->vtable))
        seat->thread = 0;
    return seat->thread;
}

/* An anchor is good if its sp is set: that is what HotSpot sets last and clears first. */
static void anchor_read(struct fb_jvm_view *view)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t anchor = view->thread + (uint32_t)l->thread_anchor;

    if (!fb_jvm_field_64(anchor, l->anchor_sp, &view->anchor_sp) ||
        !fb_jvm_field_64(anchor, l->anchor_pc, &view->anchor_pc) ||
        !fb_jvm_field_64(anchor, l->anchor_fp, &view->anchor_fp))
        view->anchor_sp = 0;
}

/* While a frame is taken apart its caller is kept as HotSpot's class frame has it: sp, pc, ... and
 * fp and another sp at the end. */
static void deoptimisation_read(struct fb_jvm_view *view)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t vframes;
    uint64_t caller;
    int32_t size = l->vframes_caller - l->vframes_original;

    if (!fb_jvm_field_64(view->thread, l->thread_vframes, &vframes) ||
        !fb_jvm_is_pointer(vframes) || l->vframes_caller < 0 || size < 32 || size > 128)
        return;
    caller = vframes + (uint32_t)l->vframes_caller;
    if (!fb_jvm_read_64(vframes + (uint32_t)l->vframes_original + 8, &view->taken_pc) ||
        !fb_jvm_read_64(caller, &view->caller_sp) ||
        !fb_jvm_read_64(caller + 8, &view->caller_pc) ||
        !fb_jvm_read_64(caller + (uint32_t)size - 16, &view->caller_fp))
        view->caller_sp = 0;
}

void fb_jvm_view_take(struct fb_jvm_view *view, struct fb_jvm_seat *seat, uint64_t hint,
                      uint64_t sp)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;

    *view =
        (struct fb_jvm_view){.thread = thread_find(seat, hint, sp), .unloads = fb_jvm_unloads()};
    if (view->thread == 0)
        return;
    anchor_read(view);
    deoptimisation_read(view);
    if (!fb_jvm_field_64(view->thread, l->thread_continuation, &view->continuation))
        view->continuation = 0;
}
