/* bank_facts.c - prints what tests of the sampler ask a bank about, one "key value" a line.
 *
 *     bank_facts FILE            all facts
 *     bank_facts FILE KEY        that one's value alone; exit 1 if there is none
 *
 * Keys: samples, weight, ended, damaged, torn, orphans, run_id, writer_id, threads, interval_ns,
 * deepest, falls (of cumulative counters), partial (weight under the mark [partial]), share.SYMBOL
 * is not here: symbols are the business of symbolize.  loss.N by cause, counter.NAME (last value),
 * counter_rows, manifest.KEY, thread.TID (name). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"

static const char *wanted;
static int found;

static void put_text(const char *key, const char *value)
{
    if (wanted == NULL)
        printf("%s %s\n", key, value);
    else if (strcmp(wanted, key) == 0)
        printf("%s\n", value);
    else
        return;
    found = 1;
}

static void put(const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put_text(key, text);
}

static uint64_t weight_under_mark(const struct fb_profile *p, const char *mark)
{
    uint64_t weight = 0;

    for (size_t i = 0; i < p->samples.count; i++) {
        uint32_t stack = p->samples.stack[i];
        const struct fb_frame *outer;

        if (stack == 0)
            continue;
        while (p->stacks[stack].parent.n != 0)
            stack = p->stacks[stack].parent.n;
        outer = &p->frames[p->stacks[stack].frame.n];
        if (outer->kind == FB_FRAME_MARK && strcmp(fb_profile_text(p, outer->name), mark) == 0)
            weight += p->samples.weight[i];
    }
    return weight;
}

static size_t deepest(const struct fb_profile *p)
{
    size_t best = 0;

    for (size_t i = 0; i < p->samples.count; i++) {
        size_t depth = 0;

        for (uint32_t s = p->samples.stack[i]; s != 0; s = p->stacks[s].parent.n)
            depth++;
        if (depth > best)
            best = depth;
    }
    return best;
}

/* Rows of cumulative counters that are less than the row before. */
static size_t falls(const struct fb_profile *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->counters.count; i++) {
        const struct fb_counter *c = &p->counters.items[i];

        int64_t before = FB_COUNTER_ABSENT;

        for (size_t row = 0; row < p->counters.rows; row++) {
            if (c->values[row] == FB_COUNTER_ABSENT)
                continue;
            n += c->kind == FB_COUNTER_CUMULATIVE && c->values[row] < before;
            before = c->values[row];
        }
    }
    return n;
}

static void print_samples(const struct fb_profile *p, const struct fb_bank_damage *damage)
{
    put("samples", p->samples.count);
    put("weight", fb_profile_weight(p));
    put("ended", p->ended);
    put("damaged", fb_bank_is_damaged(damage));
    put("torn", damage->torn_tail);
    put("orphans", damage->orphan_samples);
    put("run_id", p->run_id);
    put("writer_id", p->writer_id);
    put("interval_ns", p->interval_ns);
    put("threads", p->threads_count - 1);
    put("modules", p->modules_count - 1);
    put("deepest", deepest(p));
    put("falls", falls(p));
    put("marks", p->marks_count);
    put("events", p->events_count);
    put("paused_ms", (uint64_t)fb_profile_paused_ns(p, p->first_ns, p->last_ns) / 1000000);
    put("partial", weight_under_mark(p, "[partial]"));
    put("truncated", weight_under_mark(p, "[truncated]"));
}

static void print_tables(const struct fb_profile *p)
{
    char key[300];

    for (unsigned i = 0; i < FB_LOSS_CAUSE_COUNT; i++) {
        snprintf(key, sizeof key, "loss.%u", i);
        put(key, p->losses[i]);
    }
    put("counter_rows", p->counters.rows);
    for (size_t i = 0; i < p->counters.count; i++) {
        const struct fb_counter *c = &p->counters.items[i];

        snprintf(key, sizeof key, "counter.%s", fb_profile_text(p, c->name));
        if (p->counters.rows > 0)
            put(key, (uint64_t)c->values[p->counters.rows - 1]);
    }
    for (size_t i = 0; i < p->manifest_count; i++) {
        snprintf(key, sizeof key, "manifest.%s", fb_profile_text(p, p->manifest[i].key));
        put_text(key, fb_profile_text(p, p->manifest[i].value));
    }
    for (size_t i = 1; i < p->threads_count; i++) {
        snprintf(key, sizeof key, "thread.%u", p->threads[i].tid);
        put_text(key, fb_profile_text(p, p->threads[i].name));
    }
    for (size_t i = 1; i < p->modules_count; i++)
        put_text("module", fb_profile_text(p, p->modules[i].path));
}

int main(int argc, char **argv)
{
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_err err;

    if (argc < 2 || argc > 3)
        return 2;
    wanted = argc == 3 ? argv[2] : NULL;
    if (fb_bank_read(argv[1], &p, &damage, &err) != FB_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 3;
    }
    if (damage.first[0] != '\0')
        fprintf(stderr, "%s: %s\n", argv[1], damage.first);
    print_samples(p, &damage);
    print_tables(p);
    fb_profile_free(p);
    return found ? 0 : 1;
}
