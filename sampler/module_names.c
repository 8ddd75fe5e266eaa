/* module_names.c - what is wanted, module by module.  See module_names.h. */
#include "sampler/module_names.h"

#include <string.h>
#include <time.h>

#include "sampler/clock.h"
#include "sampler/modules.h"
#include "sampler/symbol_scan.h"

static const uint64_t second_ns = 1000000000u;
static const uint64_t cpu_max_ns = 40000000u;   /* of one look                              */
static const uint64_t patience_ns = 150000000u; /* a process that ends waits for us so long */
static const uint64_t free_ns = 2000000u;
enum { SHARE = 500 }; /* of the process's CPU time: 0.2 % */

static const unsigned look_seconds[] = {2, 10, 30, 60}; /* then every 60 */
enum { LOOKS = sizeof look_seconds / sizeof look_seconds[0] };

static uint64_t cpu_now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void fb_module_names_want(struct fb_module_names *m, uint32_t frame, uint32_t module,
                          uint64_t address)
{
    struct fb_symbol_want *wants;

    if (m->count == FB_MODULE_NAMES_MAX ||
        !fb_pages_reserve(&m->pages, (m->count + 1) * sizeof *wants))
        return;
    wants = m->pages.data;
    wants[m->count++] =
        (struct fb_symbol_want){.address = address, .module = module, .frame = frame};
}

bool fb_module_names_due(struct fb_module_names *m, uint64_t now_ns, bool last)
{
    if (m->begin_ns == 0) {
        m->begin_ns = now_ns;
        m->next_ns = now_ns + look_seconds[0] * second_ns;
    }
    if (m->count == 0)
        return false;
    if (last)
        return true;
    return now_ns >= m->next_ns &&
           m->spent_ns <= free_ns + cpu_now(CLOCK_PROCESS_CPUTIME_ID) / SHARE;
}

static bool is_before(const struct fb_symbol_want *a, const struct fb_symbol_want *b)
{
    return a->module != b->module ? a->module < b->module : a->address < b->address;
}

static void wants_sort(struct fb_symbol_want *wants, uint32_t count)
{
    for (uint32_t gap = count / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            struct fb_symbol_want moved = wants[i];
            uint32_t at = i;

            for (; at >= gap && is_before(&moved, &wants[at - gap]); at -= gap)
                wants[at] = wants[at - gap];
            wants[at] = moved;
        }
}

/* The code of an IFUNC's symbol chooses the function, and is not it. */
static void resolver_mark(char name[FB_MODULE_NAME])
{
    static const char mark[] = ".resolver";
    size_t n = strcspn(name, "@");

    if (n + sizeof mark <= FB_MODULE_NAME)
        memcpy(name + n, mark, sizeof mark);
}

static void names_give(const struct fb_module_file *file, const struct fb_symbol_want *wants,
                       uint32_t n, fb_module_name_fn on_name, void *ctx)
{
    char name[FB_MODULE_NAME];
    uint64_t given = 0; /* where the name in hand is in the file */

    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = wants[i].covering.name_at;

        if (at != given && !fb_symbol_scan_name(file, &wants[i], name, sizeof name))
            at = 0;
        if (at != 0 && wants[i].covering.kind == 1 && at != given)
            resolver_mark(name);
        if (at != 0)
            on_name(ctx, wants[i].frame, name, at == given);
        given = at;
    }
}

/* False: the time is over. */
static bool module_find(struct fb_symbol_want *wants, uint32_t n,
                        const struct fb_symbol_limit *limit, fb_module_name_fn on_name, void *ctx)
{
    struct fb_module_file file;
    bool in_time;

    if (!fb_modules_file_open(wants[0].module, &file))
        return true;
    in_time = fb_symbol_scan(&file, wants, n, limit);
    if (in_time)
        names_give(&file, wants, n, on_name, ctx);
    fb_modules_file_close(&file);
    return in_time;
}

/* When the next look is. */
static void next_set(struct fb_module_names *m, uint64_t now_ns)
{
    unsigned seconds = look_seconds[LOOKS - 1];

    m->looks++;
    if (m->looks < LOOKS)
        m->next_ns = m->begin_ns + look_seconds[m->looks] * second_ns;
    if (m->looks >= LOOKS || m->next_ns <= now_ns)
        m->next_ns = now_ns + seconds * second_ns;
}

void fb_module_names_find(struct fb_module_names *m, bool last, fb_module_name_fn on_name,
                          void *ctx)
{
    struct fb_symbol_want *wants = m->pages.data;
    uint64_t cpu = cpu_now(CLOCK_THREAD_CPUTIME_ID);
    uint64_t now_ns = fb_clock_now();
    struct fb_symbol_limit limit = {now_ns + (last ? patience_ns : second_ns), cpu + cpu_max_ns};
    uint32_t end;
    uint32_t at = 0;

    wants_sort(wants, m->count);
    for (; at < m->count && !fb_symbol_limit_over(&limit); at = end) {
        for (end = at + 1; end < m->count && wants[end].module == wants[at].module;)
            end++;
        if (!module_find(wants + at, end - at, &limit, on_name, ctx) && last)
            break; /* else it is too large for any look, and the others are not */
    }
    for (uint32_t i = at; i < m->count; i++)
        wants[i - at] = (struct fb_symbol_want){
            .address = wants[i].address, .module = wants[i].module, .frame = wants[i].frame};
    m->count -= at;
    next_set(m, now_ns);
    m->spent_ns += cpu_now(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

void fb_module_names_forget(struct fb_module_names *m)
{
    m->count = 0;
}
