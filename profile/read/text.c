#include "profile/read/text.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { BLOCK_BYTES = 512 * 1024 };

/* What a block has become: rows of one part. */
struct block_rows {
    uint32_t part;
    struct fb_text_range range;
    uint64_t lines, skipped, first_skipped;
    const char *why;
};

struct worker {
    pthread_t thread;
    struct reading *reading;
    struct fb_text_part part;
    struct fb_block block;
    size_t number; /* of the block */
    bool is_busy, is_started;
};

struct reading {
    const struct fb_text_format *format;
    struct worker *workers;
    size_t count;
    pthread_mutex_t lock;
    pthread_cond_t given, taken; /* a block to a worker, or a worker's block is done */
    bool is_over;
    struct block_rows *blocks;
    size_t blocks_count, blocks_room;
};

static void part_start(struct fb_text_part *part, const struct fb_text_format *format,
                       const void *arg)
{
    *part = (struct fb_text_part){.p = fb_profile_new(), .arg = arg};
    part->state = fb_alloc(format->state_bytes);
}

static void part_done(struct fb_text_part *part, const struct fb_text_format *format)
{
    if (part->state && format->done)
        format->done(part->state);
    free(part->state);
    free(part->fractions);
    fb_index_done(&part->row_of_stack);
    fb_index_done(&part->threads);
    fb_index_done(&part->modules);
}

static struct block_rows take_block(struct fb_text_part *part, const struct fb_text_format *format,
                                    const struct fb_block *block)
{
    struct block_rows rows = {
        .range = {.first = part->p->samples.count, .first_fraction = part->fractions_count}};

    part->lines = part->skipped = part->first_skipped = 0;
    format->take(part, block->text, block->len);
    rows.range.end = part->p->samples.count;
    rows.range.end_fraction = part->fractions_count;
    rows.lines = part->lines;
    rows.skipped = part->skipped;
    rows.first_skipped = part->first_skipped;
    rows.why = part->why;
    return rows;
}

/* ---- several threads ---- */

static void *work(void *arg)
{
    struct worker *w = arg;
    struct reading *r = w->reading;

    (void)pthread_mutex_lock(&r->lock);
    for (;;) {
        struct block_rows rows;

        while (!w->is_busy && !r->is_over)
            (void)pthread_cond_wait(&r->given, &r->lock);
        if (!w->is_busy)
            break;
        (void)pthread_mutex_unlock(&r->lock);
        rows = take_block(&w->part, r->format, &w->block);
        rows.part = (uint32_t)(w - r->workers);
        (void)pthread_mutex_lock(&r->lock);
        r->blocks[w->number] = rows;
        w->is_busy = false;
        (void)pthread_cond_signal(&r->taken);
    }
    (void)pthread_mutex_unlock(&r->lock);
    return NULL;
}

static struct worker *idle_worker(struct reading *r)
{
    for (;;) {
        for (size_t i = 0; i < r->count; i++) {
            if (!r->workers[i].is_busy)
                return &r->workers[i];
        }
        (void)pthread_cond_wait(&r->taken, &r->lock);
    }
}

/* A block to whoever is idle; the spare one is read meanwhile. */
static void give(struct reading *r, struct fb_block *spare)
{
    struct worker *w;
    struct fb_block empty;

    (void)pthread_mutex_lock(&r->lock);
    w = idle_worker(r);
    empty = w->block;
    w->block = *spare;
    *spare = empty;
    w->number = r->blocks_count;
    w->is_busy = true;
    fb_vec_reserve(&r->blocks, &r->blocks_room, r->blocks_count + 1, sizeof *r->blocks);
    r->blocks_count++;
    (void)pthread_cond_broadcast(&r->given);
    (void)pthread_mutex_unlock(&r->lock);
}

static enum fb_status read_blocks(struct reading *r, struct fb_source *in, struct fb_err *err)
{
    struct fb_block block = {0};
    enum fb_status status;

    for (;;) {
        status = fb_source_block(in, BLOCK_BYTES, r->format->cut, &block, err);
        if (status != FB_OK || block.len == 0)
            break;
        if (r->workers[0].is_started) {
            give(r, &block);
        } else {
            fb_vec_reserve(&r->blocks, &r->blocks_room, r->blocks_count + 1, sizeof *r->blocks);
            r->blocks[r->blocks_count++] = take_block(&r->workers[0].part, r->format, &block);
        }
    }
    fb_block_done(&block);
    return status;
}

static void workers_start(struct reading *r, const void *arg)
{
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)pthread_cond_init(&r->given, NULL);
    (void)pthread_cond_init(&r->taken, NULL);
    for (size_t i = 0; i < r->count; i++) {
        struct worker *w = &r->workers[i];

        w->reading = r;
        part_start(&w->part, r->format, arg);
        /* One job, or no thread to be had: the blocks are taken here, one after another. */
        if (r->count > 1 && (i == 0 || r->workers[i - 1].is_started))
            w->is_started = pthread_create(&w->thread, NULL, work, w) == 0;
        if (!w->is_started)
            r->count = i > 0 ? i : 1;
    }
}

static void workers_end(struct reading *r)
{
    (void)pthread_mutex_lock(&r->lock);
    r->is_over = true;
    (void)pthread_cond_broadcast(&r->given);
    (void)pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < r->count; i++) {
        if (r->workers[i].is_started)
            (void)pthread_join(r->workers[i].thread, NULL);
        fb_block_done(&r->workers[i].block);
    }
    (void)pthread_mutex_destroy(&r->lock);
    (void)pthread_cond_destroy(&r->given);
    (void)pthread_cond_destroy(&r->taken);
}

/* ---- one profile of all ---- */

/* Weights that are no whole numbers, in the order of their rows: what rounding adds to one is taken
 * from those after it, so that the sum stays right within one. */
static void round_fractions(struct fb_text_part *part)
{
    double carry = 0;

    for (size_t i = 0; i < part->fractions_count; i++) {
        double want = part->fractions[i].weight + carry, whole = fmax(0, nearbyint(want));

        carry = want - whole;
        fb_text_weight_add(part, part->fractions[i].row, (uint64_t)whole);
    }
    part->fractions_count = 0;
}

static struct fb_profile *put_together(struct reading *r)
{
    struct fb_text_part all = {.p = fb_profile_new()};
    struct fb_text_maps *maps = fb_alloc_array(r->count, sizeof *maps);

    for (size_t i = 0; i < r->blocks_count; i++) {
        const struct block_rows *b = &r->blocks[i];

        fb_text_merge(&all, r->format->merges_rows, &r->workers[b->part].part, &maps[b->part],
                      &b->range);
    }
    round_fractions(&all);
    for (size_t i = 0; i < r->count; i++)
        fb_text_maps_done(&maps[i]);
    free(maps);
    part_done(&all, r->format);
    return all.p;
}

static void tell_lines(const struct reading *r, struct fb_text *text)
{
    for (size_t i = 0; i < r->blocks_count; i++) {
        const struct block_rows *b = &r->blocks[i];

        if (b->skipped > 0 && text->skipped == 0)
            (void)snprintf(text->first_skipped, sizeof text->first_skipped, "line %llu: %s",
                           (unsigned long long)(text->lines + b->first_skipped), b->why);
        text->lines += b->lines;
        text->skipped += b->skipped;
    }
}

enum fb_status fb_text_read(struct fb_source *in, const struct fb_text_format *format,
                            const void *arg, unsigned jobs, struct fb_text *ret_text,
                            struct fb_err *err)
{
    struct reading r = {.format = format, .count = jobs > 1 ? jobs : 1};
    struct fb_text text = {.format = format};
    enum fb_status status;

    r.workers = fb_alloc_array(r.count, sizeof *r.workers);
    workers_start(&r, arg);
    status = read_blocks(&r, in, err);
    workers_end(&r);
    text.parts = fb_alloc_array(r.count, sizeof *text.parts);
    text.parts_count = r.count;
    if (r.count == 1)
        round_fractions(&r.workers[0].part);
    text.p = r.count == 1 ? r.workers[0].part.p : put_together(&r);
    for (size_t i = 0; i < r.count; i++) {
        if (text.p != r.workers[i].part.p)
            fb_profile_free(r.workers[i].part.p);
        r.workers[i].part.p = NULL;
        text.parts[i] = r.workers[i].part;
    }
    tell_lines(&r, &text);
    free(r.workers);
    free(r.blocks);
    if (status != FB_OK) {
        fb_profile_free(text.p);
        fb_text_done(&text);
        return status;
    }
    *ret_text = text;
    return FB_OK;
}

enum fb_status fb_text_check(struct fb_text *text, struct fb_source *in, const char *empty,
                             struct fb_profile **ret_p, struct fb_err *err)
{
    const struct fb_samples *s = &text->p->samples;
    double sum = 0;
    enum fb_status r = FB_OK;

    for (size_t i = 0; i < s->count; i++)
        sum += (double)s->weight[i];
    if (s->count == 0)
        r = fb_fail(err, FB_EFORMAT, "%s: %s", fb_source_name(in),
                    text->skipped ? text->first_skipped : empty);
    else if (sum > 9e18)
        r = fb_fail(err, FB_ELIMIT, "%s: the weights add up to more than 9e18", fb_source_name(in));
    if (r == FB_OK)
        *ret_p = text->p;
    else
        fb_profile_free(text->p);
    text->p = NULL;
    return r;
}

void fb_text_done(struct fb_text *text)
{
    for (size_t i = 0; i < text->parts_count; i++)
        part_done(&text->parts[i], text->format);
    free(text->parts);
    *text = (struct fb_text){0};
}

void fb_text_report(const struct fb_text *text, struct fb_read_report *report)
{
    report->samples_in = text->p->samples.count;
    report->lines = text->lines;
    report->skipped_lines = text->skipped;
    memcpy(report->first_skipped, text->first_skipped, sizeof report->first_skipped);
}

void fb_text_sample_add(struct fb_text_part *part, bool merges_rows, int64_t time_ns,
                        uint32_t thread, fb_stack_id stack, double weight)
{
    uint64_t whole = (uint64_t)weight;
    size_t row = part->p->samples.count;

    if (merges_rows)
        row = fb_text_row_of_stack(part, stack);
    else
        fb_profile_sample_add(part->p, time_ns, thread, stack, 0);
    if ((double)whole == weight) {
        fb_text_weight_add(part, row, whole);
        return;
    }
    fb_vec_reserve(&part->fractions, &part->fractions_room, part->fractions_count + 1,
                   sizeof *part->fractions);
    part->fractions[part->fractions_count++] = (struct fb_text_fraction){row, weight};
}
