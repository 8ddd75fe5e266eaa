/* The batch: frames by module and address, each symbol named once. */
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/banked.h"
#include "symbolize/kernel.h"
#include "symbolize/module.h"
#include "symbolize/naming.h"

/* A module that was asked for, kept for the next profile: two arms share libc. */
struct known_module {
    char *path, *build_id;
    struct fb_symbols *symbols; /* NULL: it could not be opened, and this is why: */
    char *reason;
};

struct fb_symbolizer {
    char *debug_dir, *root;
    struct fb_elf_places places;
    char *not_fetched; /* why nothing can be fetched, though it was wanted */
    bool again, no_inlined;
    struct known_module *modules;
    size_t count, room;
    struct fb_banked banked; /* of the profile at hand */
};

/* A frame to be named.  Sorted, those of a module and of a symbol are neighbours. */
struct request {
    uint32_t module, frame;
    uint64_t address;
};

struct requests {
    struct request *items;
    size_t count, room;
};

struct fb_symbolizer *fb_symbolizer_new(const struct fb_symbolizer_options *options)
{
    struct fb_symbolizer *s = fb_alloc(sizeof *s);

    struct fb_fetch_options fetch = {.seconds = options->debuginfod_seconds,
                                     .progress = options->progress,
                                     .data = options->progress_data};
    struct fb_err err;

    s->debug_dir = options->debug_dir ? fb_strdup(options->debug_dir) : NULL;
    s->root = options->root ? fb_strdup(options->root) : NULL;
    s->places = (struct fb_elf_places){.debug_dir = s->debug_dir, .root = s->root};
    if (fetch.seconds > 0 && fb_fetch_open(&fetch, &s->places.fetch, &err) != FB_OK)
        s->not_fetched = fb_strdup(err.text);
    s->again = options->again;
    s->no_inlined = options->no_inlined;
    return s;
}

void fb_symbolizer_free(struct fb_symbolizer *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++) {
        free(s->modules[i].path);
        free(s->modules[i].build_id);
        free(s->modules[i].reason);
        fb_symbols_free(s->modules[i].symbols);
    }
    free(s->modules);
    fb_fetch_close(s->places.fetch);
    free(s->not_fetched);
    free(s->root);
    free(s->debug_dir);
    free(s);
}

/* Borrowed until the next call. */
static struct known_module *find_module(struct fb_symbolizer *s, const char *path,
                                        const char *build_id)
{
    struct known_module *m;
    struct fb_err err;

    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->modules[i].path, path) == 0 && strcmp(s->modules[i].build_id, build_id) == 0)
            return &s->modules[i];
    fb_vec_reserve(&s->modules, &s->room, s->count + 1, sizeof *s->modules);
    m = &s->modules[s->count++];
    *m = (struct known_module){.path = fb_strdup(path), .build_id = fb_strdup(build_id)};
    if (fb_symbols_open(&s->places, path, build_id, &m->symbols, &err) != FB_OK)
        m->reason = fb_strdup(err.text);
    return m;
}

static int by_module_and_address(const void *a, const void *b)
{
    const struct request *x = a, *y = b;

    if (x->module != y->module)
        return x->module > y->module ? 1 : -1;
    if (x->address != y->address)
        return x->address > y->address ? 1 : -1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* For each module the first one with the same file: a library that was loaded twice, or by several
 * processes of a run, is one batch and one note.  Free it. */
static uint32_t *first_of_same_file(const struct fb_profile *p)
{
    uint32_t *first = fb_alloc_array(p->modules_count, sizeof *first);

    for (uint32_t i = 0; i < p->modules_count; i++) {
        const struct fb_module *m = &p->modules[i];

        while (first[i] < i && (p->modules[first[i]].path != m->path ||
                                p->modules[first[i]].build_id != m->build_id))
            first[i]++;
    }
    return first;
}

/* The frames to look up; counts all that have an address. */
static void collect(const struct fb_symbolizer *s, const struct fb_profile *p,
                    struct requests *requests, struct fb_symbolize_report *report)
{
    uint32_t *first = first_of_same_file(p);

    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];

        if (f->address == 0 || f->kind == FB_FRAME_INLINED)
            continue;
        report->frames++;
        if (f->name != 0)
            report->already_named++;
        if (f->module == FB_NO_MODULE || f->module >= p->modules_count ||
            (f->name != 0 && !s->again))
            continue;
        fb_vec_reserve(&requests->items, &requests->room, requests->count + 1,
                       sizeof *requests->items);
        requests->items[requests->count++] =
            (struct request){first[f->module], (uint32_t)i, f->address};
    }
    free(first);
    if (requests->count > 0)
        qsort(requests->items, requests->count, sizeof *requests->items, by_module_and_address);
}

/* A module whose reader knew no header of its file: now that there is one, the offsets of its
 * frames become addresses.  What is in no segment stays, and gets no name. */
static void settle_module(struct fb_profile *p, uint32_t index, const struct fb_symbols *symbols)
{
    struct fb_module *m = &p->modules[index];
    uint64_t address;

    for (size_t i = 1; i < p->frames_count; i++) {
        struct fb_frame *f = &p->frames[i];

        if (f->module == index && f->address != 0 &&
            fb_symbols_address(symbols, f->address, &address))
            f->address = address;
    }
    if (fb_symbols_address(symbols, m->offset, &address))
        m->bias = m->start - address;
    m->by_offset = false;
}

static void settle_modules(struct fb_profile *p, const struct fb_symbols *symbols,
                           struct request *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct fb_frame *f = &p->frames[requests[i].frame];

        if (p->modules[f->module].by_offset)
            settle_module(p, f->module, symbols);
        requests[i].address = f->address;
    }
}

/* Names the n frames of one module; returns how many got none. */
static size_t name_frames(struct fb_symbolizer *s, struct fb_profile *p, struct fb_symbols *symbols,
                          struct fb_inlined_chains *chains, const struct request *requests,
                          size_t n)
{
    struct fb_naming naming = {.p = p, .chains = chains, .with_inlined = !s->no_inlined};
    size_t missed = 0;

    fb_naming_begin(&naming, symbols);
    for (size_t i = 0; i < n; i++)
        missed += !fb_naming_frame(&naming, requests[i].frame) &&
                  p->frames[requests[i].frame].name == 0 &&
                  !fb_banked_has(&s->banked, requests[i].frame);
    fb_naming_done(&naming);
    return missed;
}

static void add_note(struct fb_symbolize_report *report, char *note)
{
    fb_vec_reserve(&report->notes, &report->notes_room, report->notes_count + 1,
                   sizeof *report->notes);
    report->notes[report->notes_count++] = note;
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "es";
}

/* A module without a file. */
static void note_missing(const struct fb_symbolizer *s, const struct fb_profile *p,
                         const char *reason, const struct request *requests, size_t n,
                         struct fb_symbolize_report *report)
{
    size_t banked = 0, had = 0;

    for (size_t i = 0; i < n; i++) {
        banked += fb_banked_has(&s->banked, requests[i].frame);
        had += p->frames[requests[i].frame].name != 0;
    }
    if (had > 0)
        add_note(report, fb_format("%s; %zu address%s of %zu keep%s the name of before", reason,
                                   had, plural(had), n, had == 1 ? "s" : ""));
    else if (banked > 0)
        add_note(report,
                 fb_format("%s; %zu address%s of %zu %s the name that was taken while the "
                           "arm ran, without inlined functions and lines",
                           reason, banked, plural(banked), n, banked == 1 ? "has" : "have"));
    else
        add_note(report, fb_format("%s; %zu address%s without a name", reason, n, plural(n)));
}

static void name_module(struct fb_symbolizer *s, struct fb_profile *p,
                        struct fb_inlined_chains *chains, struct request *requests, size_t n,
                        struct fb_symbolize_report *report)
{
    const struct fb_module *module = &p->modules[requests[0].module];
    const char *path = fb_profile_text(p, module->path);
    const struct known_module *known;
    char *missing;
    size_t missed;

    if (strcmp(path, "[kernel.kallsyms]") == 0) /* no file: fb_kernel_name_frames() was there */
        return;
    known = find_module(s, path, fb_profile_text(p, module->build_id));

    if (!known->symbols) {
        note_missing(s, p, known->reason, requests, n, report);
        return;
    }
    settle_modules(p, known->symbols, requests, n);
    missed = name_frames(s, p, known->symbols, chains, requests, n);
    missing = fb_symbols_missing(known->symbols);
    if (missing)
        add_note(report, fb_format("'%s': %s", path, missing));
    free(missing);
    if (missed > 0 && !fb_symbols_whole(known->symbols))
        add_note(report, fb_format("'%s' is stripped: %zu of %zu address%s without a name (its "
                                   "debug symbols have build ID %s)",
                                   path, missed, n, plural(n),
                                   known->build_id[0] ? known->build_id : "unknown"));
}

/* The weight of the samples whose leaf has no name, and of all. */
static double unknown_weight(const struct fb_profile *p, double *ret_all)
{
    double all = 0, unknown = 0;

    for (size_t i = 0; i < p->samples.count; i++) {
        const struct fb_frame *leaf = &p->frames[p->stacks[p->samples.stack[i]].frame.n];

        all += (double)p->samples.weight[i];
        if (leaf->address != 0 && leaf->name == 0)
            unknown += (double)p->samples.weight[i];
    }
    *ret_all = all;
    return unknown;
}

static void count_lines(const struct fb_profile *p, size_t *ret_lines, size_t *ret_inlined)
{
    *ret_lines = *ret_inlined = 0;
    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];

        if (f->address == 0)
            continue;
        *ret_inlined += f->kind == FB_FRAME_INLINED;
        *ret_lines += f->kind != FB_FRAME_INLINED && f->file != 0;
    }
}

static void count_before(const struct fb_profile *p, struct fb_symbolize_report *report)
{
    count_lines(p, &report->lines_before, &report->inlined_before);
    report->unknown_samples_before = unknown_weight(p, &report->samples);
}

/* What is named now, and the weight of the samples by that. */
static void count_results(const struct fb_profile *p, struct fb_symbolize_report *report)
{
    size_t nowhere = 0;

    for (size_t i = 1; i < p->frames_count; i++) {
        const struct fb_frame *f = &p->frames[i];

        if (f->address != 0 && f->name == 0 && f->kind != FB_FRAME_INLINED) {
            report->unknown++;
            nowhere += f->module == FB_NO_MODULE || f->module >= p->modules_count;
        }
    }
    report->named = report->frames - report->unknown - report->already_named;
    if (nowhere > 0)
        add_note(report, fb_format("%zu address%s in no module: generated, unloaded or kernel code",
                                   nowhere, plural(nowhere)));
    count_lines(p, &report->lines, &report->inlined);
    report->unknown_samples = unknown_weight(p, &report->samples);
}

/* Inlined frames are new in the profile only where some address has any, or had some. */
static void set_inlined(struct fb_profile *p, const struct fb_inlined_chains *chains)
{
    bool had = false;

    for (size_t i = 1; i < chains->frames_count && !had; i++)
        had = p->frames[i].kind == FB_FRAME_INLINED && p->frames[i].address != 0;
    if (had || chains->ids_count > 0)
        fb_profile_inlined_set(p, chains);
}

/* Of the arm, in its own namespace of pids: whether a process of that number here has the file is
 * told by the build ID. */
static long pid_of(const struct fb_profile *p)
{
    const char *pid = fb_profile_manifest_get(p, "pid");

    return pid ? strtol(pid, NULL, 10) : 0;
}

static void note_fetch(const struct fb_symbolizer *s, struct fb_symbolize_report *report)
{
    struct fb_fetch_counts counts;

    if (s->not_fetched)
        add_note(report, fb_strdup(s->not_fetched));
    if (!s->places.fetch)
        return;
    counts = fb_fetch_counts(s->places.fetch);
    if (counts.late > 0)
        add_note(report,
                 fb_format("debuginfod had %u of %u files; %u more were given up, since the "
                           "time for fetching was over (--fetch-seconds)",
                           counts.found, counts.asked, counts.late));
    else
        add_note(report, fb_format("debuginfod had %u of %u files that were asked for",
                                   counts.found, counts.asked));
}

void fb_symbolize_profile(struct fb_symbolizer *s, struct fb_profile *p,
                          struct fb_symbolize_report *ret_report)
{
    struct fb_inlined_chains chains = {.frames_count = p->frames_count};
    struct requests requests = {0};
    struct fb_err err;
    size_t kernel, banked;

    memset(ret_report, 0, sizeof *ret_report);
    s->places.pid = pid_of(p);
    count_before(p, ret_report);
    if (fb_kernel_name_frames(p, &kernel, &err) != FB_OK)
        add_note(ret_report, fb_format("%s; its addresses stay without a name", err.text));
    banked = fb_banked_take(p, &s->banked);
    collect(s, p, &requests, ret_report);
    ret_report->already_named += banked;
    chains.of_frame = fb_alloc_array(chains.frames_count, sizeof *chains.of_frame);
    for (size_t i = 0, end; i < requests.count; i = end) {
        for (end = i + 1;
             end < requests.count && requests.items[end].module == requests.items[i].module;)
            end++;
        name_module(s, p, &chains, requests.items + i, end - i, ret_report);
    }
    fb_banked_give(p, &s->banked);
    fb_banked_done(&s->banked);
    set_inlined(p, &chains);
    note_fetch(s, ret_report);
    ret_report->already_named -= kernel; /* by us, just before the others */
    count_results(p, ret_report);
    free(requests.items);
    free(chains.of_frame);
    free(chains.ids);
}

void fb_symbolize_report_done(struct fb_symbolize_report *report)
{
    for (size_t i = 0; i < report->notes_count; i++)
        free(report->notes[i]);
    free(report->notes);
    memset(report, 0, sizeof *report);
}
