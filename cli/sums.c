#include "cli/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"
#include "cli/load.h"
#include "cli/options.h"

static enum fb_status row_find(const struct fb_keys *keys, const char *name, size_t len,
                               size_t *ret_key, struct fb_err *err)
{
    struct fb_buf all = {0};

    for (size_t k = 0; k < keys->count; k++) {
        if (strlen(keys->names[k]) == len && memcmp(keys->names[k], name, len) == 0) {
            *ret_key = k;
            fb_buf_done(&all);
            return FB_OK;
        }
        if (k < 20)
            fb_buf_printf(&all, "%s%s", k ? ", " : "", keys->names[k]);
    }
    (void)fb_fail(err, FB_EUSAGE, "'--sum': no row '%.*s'; there are %s%s", (int)len, name,
                  all.data ? all.data : "none", keys->count > 20 ? " and more" : "");
    fb_buf_done(&all);
    return FB_EUSAGE;
}

/* The length of the row's name at `at`: the longest row that it can be; else up to the next '+'. */
static size_t row_length(const struct fb_keys *keys, const char *at, size_t len)
{
    const char *plus = memchr(at, '+', len);
    size_t longest = 0;

    for (size_t k = 0; k < keys->count; k++) {
        size_t n = strlen(keys->names[k]);

        if (n > longest && n <= len && memcmp(keys->names[k], at, n) == 0 &&
            (n == len || at[n] == '+'))
            longest = n;
    }
    return longest > 0 ? longest : plus ? (size_t)(plus - at) : len;
}

enum fb_status fb_row_sum_parse(const char *text, const struct fb_keys *keys,
                                struct fb_row_sum *ret_sum, struct fb_err *err)
{
    const char *equals = strrchr(text, '='), *at = text;
    size_t *found = fb_alloc_array(strlen(text) + 1, sizeof *found), count = 0;
    enum fb_status r = FB_OK;

    if (!equals || equals == text || !equals[1])
        r = fb_fail(err, FB_EUSAGE, "'--sum %s': ROW+ROW=NAME was expected", text);
    while (r == FB_OK && at <= equals) {
        size_t len = row_length(keys, at, (size_t)(equals - at));

        r = row_find(keys, at, len, &found[count], err);
        for (size_t i = 0; i < count && r == FB_OK; i++)
            if (found[i] == found[count])
                r = fb_fail(err, FB_EUSAGE, "'--sum %s': '%.*s' is in it twice", text, (int)len,
                            at);
        count++;
        at += len + 1;
    }
    if (r != FB_OK) {
        free(found);
        return r;
    }
    *ret_sum = (struct fb_row_sum){fb_strdup(equals + 1), found, count};
    return FB_OK;
}

void fb_row_sum_done(struct fb_row_sum *sum)
{
    free(sum->name);
    free(sum->keys);
    *sum = (struct fb_row_sum){0};
}

/* ---- of a diff ---- */

static const char frame_prefix[] = "frame:";

static enum fb_status add_layers(const char *text, const struct fb_keys *keys,
                                 struct fb_pair_sums *sums, size_t nodes, struct fb_err *err)
{
    struct fb_row_sum *sum = &sums->rows[sums->count];
    enum fb_status r = fb_row_sum_parse(text, keys, sum, err);

    if (r != FB_OK)
        return r;
    for (size_t n = 0; n < nodes; n++)
        for (size_t k = 0; k < sum->count; k++)
            if (keys->of_node[n] == sum->keys[k])
                sums->of_node[n] |= (uint64_t)1 << sums->count;
    return FB_OK;
}

static enum fb_status add_frames(const char *text, const struct fb_view *view,
                                 struct fb_pair_sums *sums, struct fb_err *err)
{
    struct fb_row_sum *sum = &sums->rows[sums->count];
    const char *pattern = text + strlen(frame_prefix), *equals = strrchr(text, '=');
    uint8_t *matches = NULL;
    struct fb_err why;
    enum fb_status r;
    char *copy;

    if (equals == NULL || equals <= pattern || equals[1] == '\0')
        return fb_fail(err, FB_EUSAGE, "'--sum %s': frame:REGEX=NAME was expected", text);
    copy = fb_strndup(pattern, (size_t)(equals - pattern));
    r = fb_frames_match(copy, &view->fns, &matches, &why);
    free(copy);
    if (r != FB_OK) /* of --sum, of --fail-if, or of a prediction */
        return fb_fail(err, FB_EUSAGE, "%s", why.text);
    sum->name = fb_strdup(equals + 1);
    for (size_t n = 0; n < view->tree.count; n++)
        if (matches[view->tree.nodes[n].function])
            sums->of_node[n] |= (uint64_t)1 << sums->count;
    free(matches);
    return FB_OK;
}

static enum fb_status add(const char *text, const struct fb_view *view, const struct fb_keys *keys,
                          struct fb_pair_sums *sums, struct fb_err *err)
{
    bool of_frames = strncmp(text, frame_prefix, strlen(frame_prefix)) == 0;
    struct fb_row_sum *row = &sums->rows[sums->count];
    enum fb_status r = of_frames ? add_frames(text, view, sums, err)
                                 : add_layers(text, keys, sums, view->tree.count, err);

    if (r == FB_OK)
        sums->items[sums->count++] = (struct fb_diff_sum){row->name, row->keys, row->count};
    return r;
}

enum fb_status fb_pair_sums_get(const struct fb_args *args, const struct fb_view *view,
                                const char *const *more, size_t more_count,
                                struct fb_pair_sums *ret_sums, struct fb_err *err)
{
    struct fb_keys keys;
    size_t given = 0;
    enum fb_status r = FB_OK;

    while (fb_args_nth(args, "sum", given))
        given++;
    *ret_sums = (struct fb_pair_sums){0};
    if (given + more_count == 0)
        return FB_OK;
    if (given + more_count > FB_DIFF_SUMS_MAX)
        return fb_fail(err, FB_EUSAGE, "%zu sums: %d at most were expected", given + more_count,
                       FB_DIFF_SUMS_MAX);
    ret_sums->items = fb_alloc_array(given + more_count, sizeof *ret_sums->items);
    ret_sums->rows = fb_alloc_array(given + more_count, sizeof *ret_sums->rows);
    ret_sums->of_node = fb_alloc_array(view->tree.count, sizeof *ret_sums->of_node);
    fb_keys_make(&keys, FB_BY_LAYER, 0, view->layers, view->layer_of_node, &view->tree, &view->fns);
    for (size_t i = 0; i < given && r == FB_OK; i++)
        r = add(fb_args_nth(args, "sum", i), view, &keys, ret_sums, err);
    for (size_t i = 0; i < more_count && r == FB_OK; i++)
        r = add(more[i], view, &keys, ret_sums, err);
    fb_keys_done(&keys);
    if (r != FB_OK)
        fb_pair_sums_done(ret_sums);
    return r;
}

void fb_pair_sums_done(struct fb_pair_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        fb_row_sum_done(&sums->rows[i]);
    free(sums->items);
    free(sums->rows);
    free(sums->of_node);
    *sums = (struct fb_pair_sums){0};
}
