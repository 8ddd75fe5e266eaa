/* The format (single or double) may stand behind the levels, and the names as well, so levels are
 * kept as they come, as varints: a quarter of their text.  Rows are then walked once, each beside
 * the one above it: both are in order of x, so the parent of a bar is never searched for. */
#include "profile/read/flamebearer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "base/vec.h"
#include "profile/read/json_kind.h"
#include "profile/types.h"

/* A sum of totals stays below it, so that no addition overflows. */
#define MOST_TICKS ((uint64_t)1 << 62)

struct file {
    struct fb_profile *p;
    uint32_t *names; /* strings of p */
    size_t names_count, names_room;
    size_t *levels; /* how many numbers each has */
    size_t levels_count, levels_room;
    uint8_t *numbers; /* varints */
    size_t numbers_len, numbers_room;
    char format[16], units[32];
    double sample_rate;
    int64_t version, ticks;
    bool has_names, has_levels;
};

bool fb_flamebearer_sniff(const void *head, size_t n)
{
    return fb_json_profile_kind(head, n) == FB_JSON_PROFILE_FLAMEBEARER;
}

/* ---- the JSON ---- */

static void take_names(struct fb_json_in *in, struct file *f)
{
    struct fb_json_text text;

    f->has_names = true;
    for (fb_json_in_array(in); fb_json_in_item(in);) {
        if (!fb_json_in_string(in, &text))
            return;
        fb_vec_reserve(&f->names, &f->names_room, f->names_count + 1, sizeof *f->names);
        f->names[f->names_count++] = fb_strings_put(&f->p->strings, text.text, text.len);
    }
}

static void take_level(struct fb_json_in *in, struct file *f)
{
    size_t count = 0;
    int64_t signed_v;

    fb_json_in_array(in);
    while (fb_json_in_next_int(in, &signed_v)) {
        uint64_t v = (uint64_t)signed_v;

        if (signed_v < 0) {
            fb_json_in_wrong(in, "a level holds %lld, numbers of 0 and more were expected",
                             (long long)signed_v);
            return;
        }
        fb_vec_reserve(&f->numbers, &f->numbers_room, f->numbers_len + 10, 1);
        for (; v >= 0x80; v >>= 7)
            f->numbers[f->numbers_len++] = (uint8_t)(v | 0x80);
        f->numbers[f->numbers_len++] = (uint8_t)v;
        count++;
    }
    fb_vec_reserve(&f->levels, &f->levels_room, f->levels_count + 1, sizeof *f->levels);
    f->levels[f->levels_count++] = count;
}

static void copy_text(char *to, size_t room, const struct fb_json_text *text)
{
    size_t n = text->len < room ? text->len : room - 1;

    memcpy(to, text->text, n);
    to[n] = '\0';
}

static void manifest_put(struct fb_profile *p, const char *key, const struct fb_json_text *value)
{
    char *copy = fb_strndup(value->text, value->len);

    if (value->len > 0)
        fb_profile_manifest_set(p, key, copy);
    free(copy);
}

/* What the metadata says; old files have it beside the names and levels. */
static bool take_fact(struct fb_json_in *in, struct file *f, const struct fb_json_text *key)
{
    static const char *const kept[] = {"name", "appName", "spyName", "query"};
    struct fb_json_text text;

    if (fb_json_text_is(key, "sampleRate")) {
        f->sample_rate = fb_json_in_double_or(in, 0);
        return true;
    }
    if (fb_json_text_is(key, "format") || fb_json_text_is(key, "units")) {
        bool is_format = fb_json_text_is(key, "format");

        fb_json_in_string_or(in, &text);
        copy_text(is_format ? f->format : f->units, is_format ? sizeof f->format : sizeof f->units,
                  &text);
        return true;
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (fb_json_text_is(key, kept[i])) {
            fb_json_in_string_or(in, &text);
            manifest_put(f->p, kept[i], &text);
            return true;
        }
    }
    return false;
}

static bool take_tree_member(struct fb_json_in *in, struct file *f, const struct fb_json_text *key)
{
    if (fb_json_text_is(key, "names")) {
        if (f->has_names)
            fb_json_in_wrong(in, "'names' is given twice");
        take_names(in, f);
    } else if (fb_json_text_is(key, "levels")) {
        if (f->has_levels)
            fb_json_in_wrong(in, "'levels' is given twice");
        f->has_levels = true;
        for (fb_json_in_array(in); fb_json_in_item(in);)
            take_level(in, f);
    } else if (fb_json_text_is(key, "numTicks")) {
        f->ticks = fb_json_in_int_or(in, -1);
    } else {
        return take_fact(in, f, key);
    }
    return true;
}

static void take_object(struct fb_json_in *in, struct file *f)
{
    struct fb_json_text key;

    if (fb_json_in_peek(in) != FB_JSON_OBJECT) {
        fb_json_in_skip(in);
        return;
    }
    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (!take_tree_member(in, f, &key))
            fb_json_in_skip(in);
    }
}

static void take_file(struct fb_json_in *in, struct file *f)
{
    struct fb_json_text key;

    for (fb_json_in_object(in); fb_json_in_key(in, &key);) {
        if (fb_json_text_is(&key, "flamebearer") || fb_json_text_is(&key, "metadata"))
            take_object(in, f);
        else if (fb_json_text_is(&key, "version"))
            f->version = fb_json_in_int_or(in, -1);
        else if (!take_tree_member(in, f, &key))
            fb_json_in_skip(in);
    }
    fb_json_in_end(in);
}

/* ---- the tree ---- */

struct bar {
    uint64_t at, end; /* where it lies: the sum of both sides in a double */
    uint64_t rest;    /* of the chosen side: total - self - children */
    uint32_t stack;
};

struct row {
    struct bar *bars;
    size_t count, room;
};

struct tree {
    struct file *f;
    const char *name;
    const uint8_t *next;    /* number */
    uint32_t *frame;        /* by name, 0: not made yet */
    uint64_t unequal, sum;  /* bars whose total is not self + children; selfs of the chosen side */
    size_t sides, side;     /* 1 or 2; the chosen one */
    uint32_t other;         /* the string "other", UINT32_MAX: there is none */
    fb_frame_id other_mark; /* 0 until needed */
};

static uint64_t next_number(struct tree *t)
{
    uint64_t v = 0;
    unsigned shift = 0;

    for (; *t->next >= 0x80; shift += 7)
        v |= (uint64_t)(*t->next++ & 0x7f) << shift;
    return v | (uint64_t)*t->next++ << shift;
}

static fb_frame_id frame_of(struct tree *t, uint64_t name, bool is_leaf)
{
    struct fb_profile *p = t->f->p;
    struct fb_frame frame = {.kind = FB_FRAME_NATIVE, .name = t->f->names[name]};

    if (is_leaf && frame.name == t->other) {
        frame.kind = FB_FRAME_MARK;
        if (t->other_mark.n == 0)
            t->other_mark = fb_profile_frame_put(p, &frame);
        return t->other_mark;
    }
    if (t->frame[name] == 0)
        t->frame[name] = fb_profile_frame_put(p, &frame).n;
    return (fb_frame_id){t->frame[name]};
}

/* One side of a bar: gap, total, self. */
struct side {
    uint64_t gap, total, self;
};

static enum fb_status bar_wrong(const struct tree *t, size_t level, size_t bar, const char *what,
                                struct fb_err *err)
{
    return fb_fail(err, FB_EFORMAT, "%s: level %zu, bar %zu: %s", t->name, level, bar, what);
}

/* Reads the next bar, ends[] being where the one before it ended on each side. */
static enum fb_status bar_read(struct tree *t, size_t level, size_t i, uint64_t *ends,
                               struct side *sides, uint64_t *ret_name, struct bar *ret_bar,
                               struct fb_err *err)
{
    *ret_bar = (struct bar){0};
    for (size_t s = 0; s < t->sides; s++) {
        uint64_t gap = next_number(t), total = next_number(t), self = next_number(t);

        if (gap > MOST_TICKS - ends[s] || total > MOST_TICKS - ends[s] - gap)
            return bar_wrong(t, level, i, "ends beyond 2^62 ticks", err);
        sides[s] = (struct side){gap, total, self};
        ret_bar->at += ends[s] + gap;
        ends[s] += gap + total;
        ret_bar->end += ends[s];
    }
    *ret_name = next_number(t);
    if (*ret_name >= t->f->names_count)
        return fb_fail(err, FB_EFORMAT, "%s: level %zu, bar %zu: name %llu of %zu does not exist",
                       t->name, level, i, (unsigned long long)*ret_name, t->f->names_count);
    return FB_OK;
}

/* The bar's own samples, and what its children should add up to. */
static enum fb_status bar_account(struct tree *t, size_t level, size_t i, const struct side *sides,
                                  struct bar *bar, struct fb_err *err)
{
    const struct side *mine = &sides[t->side];

    if (mine->self > MOST_TICKS - t->sum)
        return bar_wrong(t, level, i, "selfs of at most 2^62 ticks in all were expected", err);
    t->sum += mine->self;
    bar->rest =
        mine->total - mine->self; /* wraps where self > total: then it is not 0 at the end */
    if (mine->self > 0)
        fb_profile_sample_add(t->f->p, 0, FB_NO_THREAD, (fb_stack_id){bar->stack}, mine->self);
    return FB_OK;
}

static enum fb_status row_read(struct tree *t, size_t level, size_t bars, struct row *above,
                               struct row *row, struct fb_err *err)
{
    uint64_t ends[2] = {0, 0}, name = 0;
    struct side sides[2] = {{0}};
    size_t k = 0;

    fb_vec_reserve(&row->bars, &row->room, bars, sizeof *row->bars);
    row->count = 0;
    for (size_t i = 0; i < bars; i++) {
        struct bar *bar = &row->bars[i];
        enum fb_status r = bar_read(t, level, i, ends, sides, &name, bar, err);

        if (r != FB_OK)
            return r;
        if (level > 0) { /* the bars of level 0 are the root, and no frame */
            struct bar *parent;
            bool is_leaf = sides[0].total == sides[0].self &&
                           sides[t->sides - 1].total == sides[t->sides - 1].self;

            while (k + 1 < above->count && above->bars[k + 1].at <= bar->at)
                k++;
            parent = above->count > 0 ? &above->bars[k] : NULL;
            if (!parent || bar->at < parent->at || bar->end > parent->end)
                return bar_wrong(t, level, i, "lies under no bar of the level above", err);
            parent->rest -= sides[t->side].total;
            bar->stack = fb_profile_stack_append(t->f->p, (fb_stack_id){parent->stack},
                                                 frame_of(t, name, is_leaf))
                             .n;
        }
        row->count = i + 1;
        r = bar_account(t, level, i, sides, bar, err);
        if (r != FB_OK)
            return r;
    }
    return FB_OK;
}

static enum fb_status rows_read(struct tree *t, struct fb_err *err)
{
    size_t group = t->sides * 3 + 1;
    struct row rows[2] = {{0}};
    enum fb_status r = FB_OK;

    for (size_t level = 0; level <= t->f->levels_count && r == FB_OK; level++) {
        struct row *above = &rows[(level + 1) % 2], *row = &rows[level % 2];
        size_t numbers = level < t->f->levels_count ? t->f->levels[level] : 0;

        if (numbers % group != 0)
            r = fb_fail(err, FB_EFORMAT,
                        "%s: level %zu has %zu numbers, a multiple of %zu was expected", t->name,
                        level, numbers, group);
        else
            r = row_read(t, level, numbers / group, above, row, err);
        for (size_t i = 0; i < above->count; i++)
            t->unequal += above->bars[i].rest != 0;
    }
    free(rows[0].bars);
    free(rows[1].bars);
    return r;
}

/* ---- what it means ---- */

static enum fb_status choose_side(const struct file *f, const char *name, const char *type,
                                  struct tree *t, struct fb_err *err)
{
    static const char *const sides[] = {"left", "right"};

    t->sides = strcmp(f->format, "double") == 0 ? 2 : 1;
    if (t->sides == 1 && f->format[0] && strcmp(f->format, "single") != 0)
        return fb_fail(err, FB_EFORMAT,
                       "%s: is a flamebearer of format '%s', 'single' or 'double' was expected",
                       name, f->format);
    if (t->sides == 1 && type && strcmp(type, f->units) != 0)
        return fb_fail(err, FB_ENOTFOUND, "%s: has no type '%s' (it holds one profile, of '%s')",
                       name, type, f->units[0] ? f->units : "samples");
    if (t->sides == 1)
        return FB_OK;
    for (t->side = 0; t->side < 2; t->side++) {
        if (type && strcmp(type, sides[t->side]) == 0)
            return FB_OK;
    }
    if (type)
        return fb_fail(err, FB_ENOTFOUND,
                       "%s: has no type '%s' (a double flamebearer has 'left' and 'right')", name,
                       type);
    return fb_fail(err, FB_EFORMAT,
                   "%s: holds two profiles, choose one with --type: 'left' (the baseline) or "
                   "'right'",
                   name);
}

static void set_unit(struct fb_profile *p, const struct file *f, const struct tree *t)
{
    static const struct {
        const char *units, *unit, *type;
    } rows[] = {{"", "samples", ""},
                {"lock_samples", "samples", "lock"},
                {"lock_nanoseconds", "nanoseconds", "lock"}};
    const char *unit = f->units, *type = "";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(f->units, rows[i].units) == 0) {
            unit = rows[i].unit;
            type = rows[i].type;
        }
    }
    if (strcmp(unit, "samples") == 0 && f->sample_rate == 1e9)
        unit = "nanoseconds";
    else if (strcmp(unit, "samples") == 0 && f->sample_rate > 1e-6 && f->sample_rate <= 1e9)
        p->interval_ns = (uint64_t)nearbyint(1e9 / f->sample_rate);
    p->unit = fb_strings_put_z(&p->strings, unit);
    if (t->sides == 2)
        type = t->side == 0 ? "left" : "right";
    p->type = fb_strings_put_z(&p->strings, type);
    p->rows_merged = 1;
    p->ended = true;
}

static void report_account(const struct tree *t, struct fb_read_report *report)
{
    report->samples_in = t->f->p->samples.count;
    if (t->unequal > 0)
        (void)snprintf(report->note, sizeof report->note,
                       "%llu bars have a total that is not their self and their children: selfs "
                       "are what is read",
                       (unsigned long long)t->unequal);
    else if (t->sides == 1 && t->f->ticks >= 0 && (uint64_t)t->f->ticks != t->sum)
        (void)snprintf(report->note, sizeof report->note,
                       "numTicks says %lld, the bars have %llu: the bars are what is read",
                       (long long)t->f->ticks, (unsigned long long)t->sum);
}

static enum fb_status file_check(const struct file *f, const char *name, struct fb_err *err)
{
    if (f->version < 0 || f->version > 1)
        return fb_fail(err, FB_EUNSUPPORTED,
                       "%s: is a flamebearer of version %lld, 1 or none was expected", name,
                       (long long)f->version);
    if (f->names_count == 0 || f->levels_count == 0)
        return fb_fail(err, FB_EFORMAT, "%s: has no %s, a flamebearer was expected", name,
                       f->names_count == 0 ? "names" : "levels");
    return FB_OK;
}

static enum fb_status file_take(struct file *f, const char *name,
                                const struct fb_read_options *options,
                                struct fb_read_report *report, struct fb_err *err)
{
    struct tree t = {.f = f, .name = name, .next = f->numbers};
    enum fb_status r = file_check(f, name, err);

    if (r == FB_OK)
        r = choose_side(f, name, options->type, &t, err);
    if (r != FB_OK)
        return r;
    t.frame = fb_alloc_array(f->names_count, sizeof *t.frame);
    t.other = fb_strings_find(&f->p->strings, "other", 5);
    r = rows_read(&t, err);
    if (r == FB_OK) {
        set_unit(f->p, f, &t);
        report_account(&t, report);
    }
    free(t.frame);
    return r;
}

enum fb_status fb_flamebearer_read(struct fb_source *source, const struct fb_read_options *options,
                                   struct fb_profile **ret_p, struct fb_read_report *report,
                                   struct fb_err *err)
{
    const char *name = fb_source_name(source);
    struct file f = {.p = fb_profile_new(), .ticks = -1};
    struct fb_json_in in;
    enum fb_status r;

    fb_json_in_start_source(&in, source);
    take_file(&in, &f);
    r = fb_json_in_failed(&in) ? fb_json_in_fail(&in, name, err)
                               : file_take(&f, name, options, report, err);
    fb_json_in_done(&in);
    free(f.names);
    free(f.levels);
    free(f.numbers);
    if (r == FB_OK)
        *ret_p = f.p;
    else
        fb_profile_free(f.p);
    return r;
}
