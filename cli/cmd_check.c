#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/say.h"

/* The decoder has enforced ids, counts and order; what is left are laws of the whole. */
static unsigned check_counters(const struct fb_profile *p, struct fb_buf *out)
{
    unsigned bad = 0;

    for (size_t r = 1; r < p->counters.rows; r++) {
        if (p->counters.time_ns[r] < p->counters.time_ns[r - 1] && bad++ == 0)
            fb_buf_printf(out, "counter row %zu is older than the one before it\n", r);
    }
    for (size_t i = 0; i < p->counters.count; i++) {
        const struct fb_counter *c = &p->counters.items[i];
        int64_t last = FB_COUNTER_ABSENT;

        for (size_t r = 0; c->kind == FB_COUNTER_CUMULATIVE && r < p->counters.rows; r++) {
            if (c->values[r] == FB_COUNTER_ABSENT)
                continue;
            if (c->values[r] < last) {
                fb_buf_printf(out, "counter %s falls at row %zu\n", fb_profile_text(p, c->name), r);
                bad++;
                break;
            }
            last = c->values[r];
        }
    }
    return bad;
}

static unsigned check_damage(const struct fb_bank_damage *d, struct fb_buf *out)
{
    static const struct {
        size_t at;
        const char *what;
    } rows[] = {
        {offsetof(struct fb_bank_damage, skipped_bytes), "bytes belong to no valid chunk"},
        {offsetof(struct fb_bank_damage, missing_chunks), "chunks are missing"},
        {offsetof(struct fb_bank_damage, bad_payloads), "chunks break a rule of their type"},
        {offsetof(struct fb_bank_damage, orphan_samples), "samples lost a definition"},
        {offsetof(struct fb_bank_damage, unwritten_samples), "samples were written but are lost"},
    };
    unsigned bad = 0;

    if (d->first[0] != '\0')
        fb_buf_printf(out, "first damage: %s\n", d->first);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t n;

        memcpy(&n, (const char *)d + rows[i].at, sizeof n);
        if (n > 0)
            fb_buf_printf(out, "%llu %s\n", (unsigned long long)n, rows[i].what);
        bad += n > 0;
    }
    return bad;
}

static int run(const struct fb_args *args)
{
    const char *path = args->items[0];
    struct fb_bank_damage damage;
    struct fb_profile *p;
    struct fb_buf out = {0};
    struct fb_err err;
    unsigned bad;
    int status;

    if (fb_bank_read(path, &p, &damage, &err) != FB_OK)
        return fb_say_error(&err);
    bad = check_damage(&damage, &out) + check_counters(p, &out);
    if (damage.torn_tail)
        fb_buf_printf(&out, "torn tail: the last %llu bytes are an unfinished chunk\n",
                      (unsigned long long)damage.torn_bytes);
    if (!p->ended)
        fb_buf_puts(&out, "no end mark: the run was killed or is still going on\n");
    if (damage.unknown_chunks > 0)
        fb_buf_printf(&out, "%llu chunks of unknown types were skipped\n",
                      (unsigned long long)damage.unknown_chunks);
    fb_buf_printf(&out, "%s: %s: %zu samples of weight %llu, %zu stacks, %zu frames, %zu threads\n",
                  path, bad ? "damaged" : "whole", p->samples.count,
                  (unsigned long long)fb_profile_weight(p), p->stacks_count - 1,
                  p->frames_count - 1, p->threads_count - 1);
    status = fb_say_bytes(out.data, out.len);
    fb_buf_done(&out);
    fb_profile_free(p);
    return status != FB_EXIT_DONE ? status : bad ? FB_EXIT_NO : FB_EXIT_DONE;
}

const struct fb_command fb_command_check = {
    .name = "check",
    .usage = "FILE",
    .what = "test every invariant of a bank; exit 0 only if it is whole",
    .text = "Reads the whole file and names everything that is not as docs/bank-format.md says. A "
            "torn tail, as a killed run leaves it, is named and is no damage. Exit status 1: "
            "damaged; 3: not a bank at all.",
    .example = "flamebank check run.fbank",
    .least = 1,
    .most = 1,
    .run = run,
};
