#include "profile/read/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "profile/read/firefox_file.h"
#include "profile/read/json_kind.h"
#include "profile/read/tree_rows.h"
#include "profile/types.h"

bool fb_firefox_sniff(const void *head, size_t n)
{
    return fb_json_profile_kind(head, n) == FB_JSON_PROFILE_FIREFOX;
}

/* One thread with the tables that it uses, its own or the shared ones. */
struct view {
    struct fb_profile *p;
    const struct fb_firefox_thread *thread;
    const struct fb_firefox_part *part;
    const struct fb_columns *stacks, *frames, *funcs, *resources, *symbols, *sources;
    const struct fb_firefox_strings *strings;
    const struct fb_firefox_libs *libs;
};

static const struct fb_columns *either(const struct fb_columns *own,
                                       const struct fb_columns *shared)
{
    return own->is_set ? own : shared;
}

static struct view view_of(const struct fb_firefox_file *f, const struct fb_firefox_thread *t)
{
    const struct fb_firefox_part *part = &f->parts[t->part];
    const struct fb_firefox_tables *own = &t->tables, *shared = &part->shared;

    return (struct view){
        .p = f->p,
        .thread = t,
        .part = part,
        .stacks = either(&own->stacks, &shared->stacks),
        .frames = either(&own->frames, &shared->frames),
        .funcs = either(&own->funcs, &shared->funcs),
        .resources = either(&own->resources, &shared->resources),
        .symbols = either(&own->symbols, &shared->symbols),
        .sources = either(&own->sources, &shared->sources),
        .strings = own->strings.is_set ? &own->strings : &shared->strings,
        .libs = t->libs.count > 0 ? &t->libs : &part->libs,
    };
}

/* ---- frames ---- */

static uint32_t string_at(const struct view *v, const struct fb_columns *c, size_t column,
                          size_t row)
{
    uint32_t index = fb_column_index(c, column, row, v->strings->count);

    return index == UINT32_MAX ? 0 : v->strings->items[index];
}

static uint32_t line_at(const struct fb_columns *c, size_t column, size_t row)
{
    uint32_t line = fb_column_index(c, column, row, UINT32_MAX);

    return line == UINT32_MAX ? 0 : line;
}

/* "0x1f3e" as a number. */
static bool hex_name(const char *name, uint64_t *ret_v)
{
    char *end;

    if (name[0] != '0' || name[1] != 'x' || name[2] == '\0')
        return false;
    *ret_v = strtoull(name + 2, &end, 16);
    return *end == '\0';
}

/* An address while the program ran, as one of the library that was there. */
static void address_place(const struct view *v, uint64_t address, struct fb_frame *frame)
{
    for (size_t i = 0; i < v->libs->count; i++) {
        const struct fb_firefox_lib *lib = &v->libs->items[i];

        if (address >= lib->start && address < lib->end) {
            frame->module = lib->module;
            frame->address = address - lib->start;
            return;
        }
    }
    frame->address = address;
}

/* Digits at the end of text[0..*len), behind a ':', taken off. */
static bool take_number_off(const char *text, size_t *len, uint32_t *ret_v)
{
    size_t at = *len;
    uint64_t v = 0, factor = 1;

    for (; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && factor < 1000000000; at--) {
        v += (uint64_t)(text[at - 1] - '0') * factor;
        factor *= 10;
    }
    if (at == *len || at < 2 || text[at - 1] != ':')
        return false;
    *len = at - 1;
    *ret_v = (uint32_t)v;
    return true;
}

/* "name (file:line)" or "name (file:line:column)": a JavaScript function. */
static bool location_split(struct fb_profile *p, const struct fb_string *s, struct fb_frame *frame)
{
    const char *open = NULL;
    size_t len;
    uint32_t last, line;

    if (s->len < 5 || s->text[s->len - 1] != ')')
        return false;
    for (const char *c = s->text; (c = memmem(c, s->len - (size_t)(c - s->text), " (", 2));
         c += 2) {
        open = c;
        break; /* names have no blank before a bracket; files may */
    }
    if (!open)
        return false;
    len = s->len - 1 - (size_t)(open + 2 - s->text);
    if (!take_number_off(open + 2, &len, &last))
        return false;
    line = last;
    (void)take_number_off(open + 2, &len, &line);
    frame->kind = FB_FRAME_JS;
    frame->file = fb_strings_put(&p->strings, open + 2, len);
    frame->line = line;
    frame->name = fb_strings_put(&p->strings, s->text, (size_t)(open - s->text));
    return true;
}

/* A frame of a gecko profile: all that is known is in one string. */
static void frame_of_location(const struct view *v, size_t row, struct fb_frame *frame)
{
    uint32_t location = string_at(v, v->frames, FB_FRAME_LOCATION, row);
    uint32_t line = line_at(v->frames, FB_FRAME_LINE, row);
    uint64_t address;

    if (hex_name(fb_profile_text(v->p, location), &address)) {
        address_place(v, address, frame);
        return;
    }
    /* by value: putting strings moves the array of them */
    struct fb_string text = v->p->strings.items[location];

    if (!location_split(v->p, &text, frame)) {
        frame->name = location;
        frame->line = line;
    }
}

static uint32_t lib_of(const struct view *v, size_t row, uint32_t func)
{
    uint32_t symbol = fb_column_index(v->frames, FB_FRAME_SYMBOL, row, v->symbols->rows), lib;

    if (symbol != UINT32_MAX) {
        lib = fb_column_index(v->symbols, 0, symbol, v->libs->count);
        if (lib != UINT32_MAX)
            return lib;
    }
    lib = fb_column_index(v->frames, FB_FRAME_LIB, row, v->libs->count);
    if (lib != UINT32_MAX)
        return lib;
    if (func != UINT32_MAX) {
        uint32_t resource = fb_column_index(v->funcs, FB_FUNC_RESOURCE, func, v->resources->rows);

        if (resource != UINT32_MAX)
            return fb_column_index(v->resources, 0, resource, v->libs->count);
    }
    return UINT32_MAX;
}

/* What the category says of a frame: that it is the kernel's, or (as the writer of this project
 * has it in subcategories) its kind and tier, "java c1". */
static void category_take(const struct view *v, size_t row, struct fb_frame *frame)
{
    const struct fb_firefox_part *part = v->part;
    uint32_t c = fb_column_index(v->frames, FB_FRAME_CATEGORY, row, part->categories_count), sub;
    const struct fb_firefox_strings *subs;
    struct fb_json_text kind = {"", 0}, tier = {"", 0};
    const char *text, *blank;

    if (c == UINT32_MAX)
        return;
    if (strcasecmp(fb_profile_text(v->p, part->categories[c].name), "kernel") == 0)
        frame->kind = FB_FRAME_KERNEL;
    subs = &part->categories[c].subcategories;
    sub = fb_column_index(v->frames, FB_FRAME_SUBCATEGORY, row, subs->count);
    if (sub == UINT32_MAX || sub == 0) /* the first is that of all others */
        return;
    text = fb_profile_text(v->p, subs->items[sub]);
    blank = strchr(text, ' ');
    kind = (struct fb_json_text){text, blank ? (size_t)(blank - text) : strlen(text)};
    if (blank)
        tier = (struct fb_json_text){blank + 1, strlen(blank + 1)};
    fb_frame_words_take(frame, &kind, &tier);
}

static void frame_of_func(const struct view *v, size_t row, struct fb_frame *frame)
{
    uint32_t func = fb_column_index(v->frames, FB_FRAME_FUNC, row, v->funcs->rows);
    uint32_t lib = lib_of(v, row, func);
    double address = fb_column(v->frames, FB_FRAME_ADDRESS, row);
    uint64_t named;

    if (lib != UINT32_MAX)
        frame->module = v->libs->items[lib].module;
    if (address >= 0 && address < 1.8e19)
        frame->address = (uint64_t)address;
    frame->line = line_at(v->frames, FB_FRAME_LINE, row);
    if (fb_column(v->frames, FB_FRAME_DEPTH, row) > 0)
        frame->kind = FB_FRAME_INLINED;
    if (func == UINT32_MAX)
        return;
    frame->name = string_at(v, v->funcs, FB_FUNC_NAME, func);
    frame->file = string_at(v, v->funcs, FB_FUNC_FILE, func);
    if (frame->file == 0) {
        uint32_t source = fb_column_index(v->funcs, FB_FUNC_SOURCE, func, v->sources->rows);

        if (source != UINT32_MAX)
            frame->file = string_at(v, v->sources, 0, source);
    }
    if (frame->line == 0)
        frame->line = line_at(v->funcs, FB_FUNC_LINE, func);
    if (fb_column(v->funcs, FB_FUNC_IS_JS, func) == 1)
        frame->kind = FB_FRAME_JS;
    category_take(v, row, frame);
    if (frame->module != FB_NO_MODULE && hex_name(fb_profile_text(v->p, frame->name), &named))
        frame->name = 0; /* an address that nobody has named yet */
}

/* Frames of the profile by row of the frame table. */
static uint32_t *frames_of(const struct view *v)
{
    uint32_t *frames = fb_alloc_array(v->frames->rows, sizeof *frames);
    bool has_funcs = v->funcs->is_set;

    for (size_t i = 0; i < v->frames->rows; i++) {
        struct fb_frame frame = {.kind = FB_FRAME_NATIVE};

        if (has_funcs)
            frame_of_func(v, i, &frame);
        else
            frame_of_location(v, i, &frame);
        frames[i] = fb_profile_frame_put(v->p, &frame).n;
    }
    return frames;
}

/* The outermost frame of Firefox's own stacks, which is no function. */
static bool is_root(const struct view *v, uint32_t frame)
{
    return strcmp(fb_profile_text(v->p, v->p->frames[frame].name), "(root)") == 0;
}

/* ---- stacks and samples ---- */

static uint32_t *stacks_of(const struct view *v, const char *name, struct fb_err *err)
{
    size_t n = v->stacks->rows;
    uint32_t *frames = frames_of(v), *parent = fb_alloc_array(n, sizeof *parent);
    uint32_t *frame = fb_alloc_array(n, sizeof *frame), *stacks = NULL;
    bool by_offset = v->stacks->items[FB_STACK_OFFSET].count > 0;
    size_t bad = SIZE_MAX;

    for (size_t i = 0; i < n && bad == SIZE_MAX; i++) {
        uint32_t row = fb_column_index(v->stacks, FB_STACK_FRAME, i, v->frames->rows);
        double offset = fb_column(v->stacks, FB_STACK_OFFSET, i);

        if (row == UINT32_MAX)
            bad = i;
        else
            frame[i] = frames[row];
        parent[i] = fb_column_index(v->stacks, FB_STACK_PREFIX, i, n);
        if (by_offset)
            parent[i] =
                offset >= 1 && offset <= (double)i ? (uint32_t)i - (uint32_t)offset : UINT32_MAX;
        if (parent[i] == UINT32_MAX && is_root(v, frame[i]))
            frame[i] = 0;
    }
    if (bad != SIZE_MAX)
        (void)fb_fail(err, FB_EFORMAT, "%s: thread '%s': stack %zu has no frame of the %zu", name,
                      fb_profile_text(v->p, v->thread->name), bad, v->frames->rows);
    else if (!(stacks = fb_stacks_of_nodes(v->p, parent, frame, n)))
        (void)fb_fail(err, FB_EFORMAT, "%s: thread '%s': a stack is its own ancestor", name,
                      fb_profile_text(v->p, v->thread->name));
    free(frames);
    free(parent);
    free(frame);
    return stacks;
}

struct losses {
    uint64_t no_stack, negative;
};

static double ms_at(const struct fb_columns *samples, size_t i, double last)
{
    double v = fb_column(samples, FB_SAMPLE_TIME, i);

    if (!isnan(v))
        return v;
    v = fb_column(samples, FB_SAMPLE_DELTA, i);
    return isnan(v) ? last : last + v;
}

static int64_t ns_of(double ms)
{
    double whole = floor(ms);

    if (!(ms > -4.6e12 && ms < 4.6e12))
        return 0;
    return (int64_t)whole * 1000000 + (int64_t)nearbyint((ms - whole) * 1e6);
}

/* Milliseconds are counted from the start of the process, which is itself a time with fractions:
 * both are rounded for themselves, since their sum has no more nanoseconds in a double. */
static int64_t unix_ns(const struct view *v, double ms)
{
    return ns_of(v->part->start_ms) + ns_of(ms);
}

static double weight_of(const struct view *v, size_t i, double ms, double next_ms,
                        enum fb_weight_by by)
{
    double weight = fb_column(&v->thread->samples, FB_SAMPLE_WEIGHT, i);

    if (by == FB_WEIGHT_SAMPLES)
        return 1;
    if (by == FB_WEIGHT_PERIOD)
        return fmax(0, (next_ms - ms) * 1e6);
    if (isnan(weight))
        return 1;
    return strcmp(v->thread->weight_type, "tracing-ms") == 0 ? weight * 1e6 : weight;
}

static void put_samples(const struct view *v, const uint32_t *stacks, uint32_t thread,
                        enum fb_weight_by by, struct losses *losses)
{
    const struct fb_columns *samples = &v->thread->samples;
    struct fb_rounding rounding = {0};
    double next = ms_at(samples, 0, 0);

    for (size_t i = 0; i < samples->rows; i++) {
        uint32_t row = fb_column_index(samples, FB_SAMPLE_STACK, i, v->stacks->rows);
        double ms = next, weight;

        next = i + 1 < samples->rows ? ms_at(samples, i + 1, ms) : ms;
        weight = weight_of(v, i, ms, next, by);
        if (row == UINT32_MAX)
            losses->no_stack++;
        else if (weight < 0)
            losses->negative++;
        else
            fb_profile_sample_add(v->p, unix_ns(v, ms), thread, (fb_stack_id){stacks[row]},
                                  fb_round_next(&rounding, weight));
    }
}

/* ---- the file ---- */

static const char *type_of(const struct fb_firefox_thread *t)
{
    return t->weight_type[0] ? t->weight_type : "samples";
}

static enum fb_status choose(const struct fb_firefox_file *f, const char *name,
                             const struct fb_read_options *options, const char **ret_type,
                             struct fb_err *err)
{
    struct fb_value_type types[3] = {{.name = "samples", .unit = ""},
                                     {.name = "tracing-ms", .unit = ""},
                                     {.name = "bytes", .unit = ""}};
    size_t chosen = 0, n = 0;
    enum fb_status r;

    for (size_t i = 0; i < f->threads_count; i++) {
        for (size_t k = 0; k < 3; k++) {
            if (strcmp(types[k].name, type_of(&f->threads[i])) == 0)
                types[k].samples += f->threads[i].samples.rows;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        if (types[k].samples > 0)
            types[n++] = types[k];
    }
    if (n == 0)
        return fb_fail(err, FB_EFORMAT, "%s: has no thread with samples", name);
    r = fb_types_choose(name, types, n, options->type, FB_TYPES_NO_DEFAULT, &chosen, err);
    if (r == FB_OK)
        *ret_type = types[chosen].name;
    return r;
}

static void set_facts(struct fb_firefox_file *f, const char *type,
                      const struct fb_read_options *options)
{
    struct fb_profile *p = f->p;
    double interval = f->parts[0].interval_ms;
    uint32_t product = f->parts[0].product;
    const char *unit = "samples";

    for (size_t i = 1; i < f->parts_count && !(interval > 0); i++) {
        interval = f->parts[i].interval_ms;
        product = f->parts[i].product;
    }
    if (options->weight == FB_WEIGHT_PERIOD ||
        (options->weight == FB_WEIGHT_AS_FORMAT && strcmp(type, "tracing-ms") == 0))
        unit = "nanoseconds";
    else if (options->weight == FB_WEIGHT_AS_FORMAT && strcmp(type, "bytes") == 0)
        unit = "bytes";
    p->unit = fb_strings_put_z(&p->strings, unit);
    if (interval > 0 && interval < 1e6 && !f->parts[0].no_interval)
        p->interval_ns = (uint64_t)nearbyint(interval * 1e6);
    if (product != 0)
        fb_profile_manifest_set(p, "product", fb_profile_text(p, product));
    if (strcmp(fb_profile_text(p, product), "Firefox") == 0)
        fb_profile_manifest_set(p, "clock_got", "wall"); /* it looks at waiting threads as well */
    p->has_times = p->ended = true;
    fb_profile_span_update(p);
    if (p->samples.count > 1 && p->first_ns == p->last_ns) { /* it has a column, and no times */
        p->has_times = false;
        fb_profile_span_update(p);
    }
}

static enum fb_status put_thread(struct fb_firefox_file *f, const struct fb_firefox_thread *t,
                                 const char *name, enum fb_weight_by by, struct losses *losses,
                                 struct fb_err *err)
{
    struct view v = view_of(f, t);
    uint32_t *stacks = stacks_of(&v, name, err), thread;

    if (!stacks)
        return FB_EFORMAT;
    thread = fb_profile_thread_add(f->p, t->tid, t->name);
    f->p->threads[thread].pid = t->pid;
    put_samples(&v, stacks, thread, by, losses);
    free(stacks);
    return FB_OK;
}

static enum fb_status file_finish(struct fb_firefox_file *f, const char *name,
                                  const struct fb_read_options *options,
                                  struct fb_read_report *report, struct fb_err *err)
{
    const char *type = NULL;
    struct losses losses = {0};
    enum fb_status r = choose(f, name, options, &type, err);

    for (size_t i = 0; i < f->threads_count && r == FB_OK; i++) {
        const struct fb_firefox_thread *t = &f->threads[i];

        if (t->samples.rows > 0 && strcmp(type_of(t), type) == 0)
            r = put_thread(f, t, name, options->weight, &losses, err);
    }
    if (r != FB_OK)
        return r;
    set_facts(f, type, options);
    report->samples_in = f->p->samples.count + losses.no_stack + losses.negative;
    if (losses.no_stack > 0)
        fb_report_loss(report, "samples without a stack", losses.no_stack);
    if (losses.negative > 0)
        fb_report_loss(report, "samples of negative weight", losses.negative);
    return FB_OK;
}

enum fb_status fb_firefox_read(struct fb_source *source, const struct fb_read_options *options,
                               struct fb_profile **ret_p, struct fb_read_report *report,
                               struct fb_err *err)
{
    const char *name = fb_source_name(source);
    struct fb_profile *p = fb_profile_new();
    struct fb_firefox_file f;
    struct fb_json_in in;
    enum fb_status r;

    fb_firefox_file_init(&f, p);
    fb_json_in_start_source(&in, source);
    fb_firefox_file_take(&f, &in);
    r = fb_json_in_failed(&in) ? fb_json_in_fail(&in, name, err)
                               : file_finish(&f, name, options, report, err);
    fb_json_in_done(&in);
    fb_firefox_file_done(&f);
    if (r == FB_OK)
        *ret_p = p;
    else
        fb_profile_free(p);
    return r;
}
