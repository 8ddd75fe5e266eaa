#include "cli/gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"

/* "frame:REGEX=NAME": the name is the pattern, without what ends it. */
char *fb_gate_sum_text(const char *pattern)
{
    char *text = fb_format("frame:%s=%s", pattern, pattern);

    for (char *at = text + strlen("frame:") + strlen(pattern) + 1; *at != '\0'; at++)
        if (*at == '=')
            *at = '~';
    return text;
}

enum fb_status fb_gates_parse(const struct fb_args *args, struct fb_gates *ret_gates,
                              struct fb_err *err)
{
    struct fb_gates g = {0};
    enum fb_status r = FB_OK;
    size_t given = 0;

    while (fb_args_nth(args, "fail-if", given))
        given++;
    if (given == 0 && (fb_args_has(args, "strict") || fb_args_has(args, "junit")))
        return fb_fail(err, FB_EUSAGE, "'--strict' and '--junit' need a '--fail-if'");
    g.items = fb_alloc_array(given, sizeof *g.items);
    g.sums = fb_alloc_array(given, sizeof *g.sums);
    for (size_t i = 0; i < given && r == FB_OK; i++) {
        r = fb_gate_parse(fb_args_nth(args, "fail-if", i), &g.items[i], err);
        if (r != FB_OK) {
            r = fb_within(err, "--fail-if");
            break;
        }
        g.count++;
        if (g.items[i].subject == FB_GATE_FRAME)
            g.sums[g.sums_count++] = fb_gate_sum_text(g.items[i].name);
    }
    if (r != FB_OK)
        fb_gates_done(&g);
    *ret_gates = g;
    return r;
}

void fb_gates_done(struct fb_gates *gates)
{
    for (size_t i = 0; i < gates->count; i++)
        fb_gate_done(&gates->items[i]);
    for (size_t i = 0; i < gates->sums_count; i++)
        free(gates->sums[i]);
    free(gates->items);
    free(gates->sums);
    *gates = (struct fb_gates){0};
}

static void sums_place(struct fb_gates *gates, size_t next)
{
    for (size_t i = 0; i < gates->count; i++)
        if (gates->items[i].subject == FB_GATE_FRAME)
            gates->items[i].sum = next++;
}

static enum fb_status junit_write(const char *path, const struct fb_gate_row *rows, size_t count,
                                  struct fb_err *err)
{
    struct fb_buf out = {0};
    enum fb_status r;

    fb_render_junit(rows, count, &out);
    r = fb_file_write(path, out.data, out.len, err);
    fb_buf_done(&out);
    return r;
}

enum fb_status fb_gates_judge(struct fb_gates *gates, const struct fb_args *args,
                              const struct fb_diff *diff, size_t first_sum,
                              const bool *wanted_steps, struct fb_table **ret_table,
                              struct fb_err *err)
{
    struct fb_gate_row *rows = fb_alloc_array(gates->count * diff->steps_count, sizeof *rows);
    bool is_strict = fb_args_has(args, "strict");
    enum fb_status r = FB_OK;
    size_t n = 0;

    sums_place(gates, first_sum);
    for (size_t c = 0; c < gates->count; c++) {
        for (size_t s = 0; s < diff->steps_count && r == FB_OK; s++) {
            if (!wanted_steps[s] || (diff->steps[s].health & FB_STEP_WARMUP))
                continue;
            rows[n].condition = &gates->items[c];
            rows[n].step = diff->steps[s].name;
            r = fb_gate_judge(diff, s, &gates->items[c], is_strict, &rows[n].result, err);
            if (r != FB_OK)
                r = fb_within(err, "--fail-if");
            gates->failed += rows[n].result.outcome == FB_GATE_FAIL;
            gates->judged += rows[n++].result.outcome != FB_GATE_NOT_JUDGED;
        }
    }
    if (r == FB_OK && fb_args_has(args, "junit"))
        r = junit_write(fb_args_get(args, "junit"), rows, n, err);
    if (r == FB_OK)
        *ret_table = fb_render_gate(rows, n, is_strict);
    free(rows);
    return r;
}
