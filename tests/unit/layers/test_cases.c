/* Every tests/layers/PRESET.cases: a stack and the layer that the preset puts it into.
 *
 * A case costs two lines and an empty one:
 *
 *     stack: main;libz.so!deflate;libc.so!memcpy
 *     layer: runtime
 *
 * More lines where they are needed: `thread: C2 CompilerThre0` (the stack's thread), `module: X`
 * and `kind: X` (kernel, stub, inlined, jit: of the leaf), `charge: caller`, `kernel: fold`,
 * `boundary: NAME` (is on the stack; repeatable).  Lines with # are comments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dirent.h>

#include "stack.h"
#include "symbolize/symbolize.h"

#define CASES FB_FIXTURES "/../tests/layers"

struct record {
    char *stack, *thread, *module, *kind, *layer, *boundaries[8];
    size_t boundaries_count, line;
    struct fb_layers_options options;
    bool is_bad;
};

static void record_done(struct record *r)
{
    free(r->stack);
    free(r->thread);
    free(r->module);
    free(r->kind);
    free(r->layer);
    for (size_t i = 0; i < r->boundaries_count; i++)
        free(r->boundaries[i]);
    *r = (struct record){0};
}

static void record_take(struct record *r, const char *key, const char *value)
{
    char **text = strcmp(key, "stack") == 0    ? &r->stack
                  : strcmp(key, "thread") == 0 ? &r->thread
                  : strcmp(key, "module") == 0 ? &r->module
                  : strcmp(key, "kind") == 0   ? &r->kind
                  : strcmp(key, "layer") == 0  ? &r->layer
                                               : NULL;

    if (text && !*text)
        *text = fb_strdup(value);
    else if (strcmp(key, "charge") == 0 && strcmp(value, "caller") == 0)
        r->options.charge = FB_CHARGE_CALLER;
    else if (strcmp(key, "charge") == 0 && strcmp(value, "self") == 0)
        r->options.charge = FB_CHARGE_SELF;
    else if (strcmp(key, "kernel") == 0 && strcmp(value, "fold") == 0)
        r->options.fold_kernel = true;
    else if (strcmp(key, "boundary") == 0 && r->boundaries_count < 8)
        r->boundaries[r->boundaries_count++] = fb_strdup(value);
    else
        r->is_bad = true;
}

/* The stack with its thread in front, and module and kind on its leaf, as fb_layers_stack_put()
 * wants it. */
static char *record_stack(const struct record *r)
{
    static const struct {
        const char *word, *suffix;
    } kinds[] = {{"kernel", "_[k]"}, {"stub", "_[s]"}, {"inlined", "_[i]"}, {"jit", "_[j]"}};
    const char *leaf = strrchr(r->stack, ';'), *suffix = "";

    leaf = leaf ? leaf + 1 : r->stack;
    for (size_t i = 0; r->kind && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].word, r->kind) == 0)
            suffix = kinds[i].suffix;
    return fb_format("%s%s%s%.*s%s%s%s%s", r->thread ? "[" : "", r->thread ? r->thread : "",
                     r->thread ? "];" : "", (int)(leaf - r->stack), r->stack,
                     r->module ? r->module : "", r->module ? "!" : "", leaf, suffix);
}

static int boundaries_check(const struct fb_layers *layers, const struct record *r,
                            const char *stack, const char *file)
{
    struct fb_functions fns;
    struct fb_calltree tree;
    uint64_t *bits;
    uint32_t node;
    int wrong = 0;

    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    node = fb_layers_stack_put(&tree, &fns, stack, fb_name_canonical);
    bits = fb_layers_boundaries(layers, &tree, &fns);
    for (size_t i = 0; i < r->boundaries_count; i++) {
        bool is_there = false;

        for (size_t b = 0; b < fb_layers_boundaries_count(layers); b++)
            is_there |= (bits[node] >> b & 1) &&
                        strcmp(fb_layers_boundary(layers, b)->name, r->boundaries[i]) == 0;
        if (!is_there) {
            print_error("%s:%zu: %s: not in boundary '%s'\n", file, r->line, stack,
                        r->boundaries[i]);
            wrong++;
        }
    }
    free(bits);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    return wrong;
}

static int record_check(const struct fb_layers *layers, const struct record *r, const char *file)
{
    char *stack;
    const char *layer;
    int wrong;

    if (!r->stack || !r->layer || r->is_bad) {
        print_error("%s:%zu: no case: stack: and layer: were expected\n", file, r->line);
        return 1;
    }
    stack = record_stack(r);
    layer = stack_layer_as(layers, stack, fb_name_canonical, &r->options);
    wrong = strcmp(layer, r->layer) != 0;
    if (wrong)
        print_error("%s:%zu: %s: expected %s, got %s\n", file, r->line, stack, r->layer, layer);
    wrong += boundaries_check(layers, r, stack, file);
    free(stack);
    return wrong;
}

static int file_check(const char *file, int *ret_cases)
{
    char *path = fb_format("%s/%s", CASES, file), *preset = fb_strdup(file), *line = NULL;
    struct fb_layers *layers = NULL;
    struct record r = {0};
    struct fb_err err;
    size_t room = 0, number = 0;
    FILE *in = fopen(path, "r");
    int wrong = 0;
    bool is_more = true;

    *strrchr(preset, '.') = '\0';
    if (!in || fb_layers_load(preset, &layers, &err) != FB_OK)
        fail_msg("%s: %s", file, in ? err.text : "cannot be read");
    while (is_more) {
        char *colon;

        is_more = getline(&line, &room, in) >= 0;
        number++;
        if (is_more)
            line[strcspn(line, "\r\n")] = '\0';
        if (is_more && line[0] == '#')
            continue;
        if ((!is_more || line[0] == '\0') && r.line > 0) {
            wrong += record_check(layers, &r, file);
            ++*ret_cases;
            record_done(&r);
        }
        if (!is_more || line[0] == '\0')
            continue;
        colon = strstr(line, ": ");
        r.line = r.line ? r.line : number;
        if (colon)
            *colon = '\0';
        record_take(&r, line, colon ? colon + 2 : "");
    }
    fclose(in);
    free(line);
    free(path);
    free(preset);
    fb_layers_free(layers);
    return wrong;
}

static void every_case_falls_where_it_says(void **state)
{
    DIR *dir = opendir(CASES);
    int wrong = 0, cases = 0, files = 0;

    (void)state;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *end = strrchr(e->d_name, '.');

        if (!end || strcmp(end, ".cases") != 0)
            continue;
        wrong += file_check(e->d_name, &cases);
        files++;
    }
    closedir(dir);
    print_message("%d cases of %d presets\n", cases, files);
    assert_true(cases > 0);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_falls_where_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
