#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/vec.h"
#include "cli/account.h"
#include "cli/commands.h"
#include "cli/load.h"
#include "cli/say.h"
#include "layers/layers.h"
#include "symbolize/symbolize.h"

/* What the profile has and the format of OUT has no place for. */
static void say_unheld(const struct fb_profile *p, const struct fb_writer *writer, const char *path)
{
    unsigned unheld = fb_profile_holds(p) & ~writer->holds;
    struct fb_buf text = {0};

    fb_holds_text(unheld, &text);
    if (unheld != 0)
        fb_say("%s: %s cannot hold: %s", path, writer->name, text.data);
    fb_buf_done(&text);
}

static fb_canonical_fn names_of(const struct fb_args *args)
{
    return fb_args_has(args, "raw-names") ? NULL : fb_name_canonical;
}

/* Writes with the layers of the rules as the format's categories. */
static enum fb_status write_layers(const struct fb_args *args, struct fb_profile *p,
                                   const struct fb_layer_writer *writer, struct fb_buf *out,
                                   struct fb_err *err)
{
    const char *rules = fb_args_get(args, "rules");
    struct fb_layers *layers;
    enum fb_status r = fb_layers_load(rules ? rules : "native", &layers, err);
    struct fb_functions fns;
    struct fb_calltree tree;
    struct fb_layers_applied applied = {0};
    uint32_t *function_of_frame, *node_of_stack;

    if (r != FB_OK)
        return r;
    if (fb_layers_need_threads(layers))
        fb_profile_root_threads(p);
    fb_functions_init(&fns);
    fb_calltree_init(&tree);
    function_of_frame = fb_functions_add(&fns, p, names_of(args));
    node_of_stack = fb_calltree_add(&tree, p, function_of_frame);
    r = fb_layers_apply(layers, &tree, &fns, NULL, &applied, err);
    if (r == FB_OK) {
        struct fb_write_layers in = {.count = fb_layers_count(layers)};
        const char **names = fb_alloc_array(in.count, sizeof *names);
        uint16_t *of_stack = fb_alloc_array(p->stacks_count, sizeof *of_stack);

        for (size_t i = 0; i < in.count; i++)
            names[i] = fb_layers_get(layers, i)->name;
        for (size_t i = 0; i < p->stacks_count; i++)
            of_stack[i] = applied.layer[node_of_stack[i]];
        in.names = names;
        in.of_stack = of_stack;
        writer->write(p, names_of(args), &in, out);
        free(names);
        free(of_stack);
        fb_layers_applied_done(&applied);
    }
    free(node_of_stack);
    free(function_of_frame);
    fb_calltree_done(&tree);
    fb_functions_done(&fns);
    fb_layers_free(layers);
    return r;
}

static enum fb_status write_one(const struct fb_args *args, struct fb_profile *p,
                                const struct fb_writer *writer, struct fb_buf *out,
                                struct fb_err *err)
{
    for (const struct fb_layer_writer *w = fb_layer_writers; w->name; w++) {
        if (strcmp(w->name, writer->name) == 0)
            return write_layers(args, p, w, out, err);
    }
    if (fb_args_has(args, "rules"))
        return fb_fail(err, FB_EUSAGE, "%s has no categories that --rules could fill",
                       writer->name);
    writer->write(p, names_of(args), out);
    return FB_OK;
}

static void say_written(const struct fb_profile *p, const struct fb_writer *writer,
                        const char *path, const char *as)
{
    fb_say("%s: %zu samples of weight %llu written as %s", path, p->samples.count,
           (unsigned long long)fb_profile_weight(p), as);
    say_unheld(p, writer, path);
}

/* Two profiles in one file, for the formats that have a place for a difference. */
static enum fb_status write_pair(const struct fb_args *args, const struct fb_writer *writer,
                                 struct fb_profile *const profiles[2], struct fb_buf *out,
                                 struct fb_err *err)
{
    for (const struct fb_pair_writer *w = fb_pair_writers; w->name; w++) {
        if (strcmp(w->name, writer->name) == 0)
            return w->write(profiles[0], profiles[1], names_of(args), out, err);
    }
    return fb_fail(err, FB_EUSAGE, "%s holds one profile, flamebearer was expected for two",
                   writer->name);
}

/* Writes OUT; writers that drain their text need no memory for it. */
static enum fb_status write_out(const struct fb_args *args, const struct fb_writer *writer,
                                struct fb_profile *const profiles[2], size_t inputs,
                                const char *path, struct fb_err *err)
{
    struct fb_file_out file;
    struct fb_buf out = {.drain = fb_file_out_put, .drain_arg = &file};
    enum fb_status r = fb_file_out_open(&file, path, err), closed;
    struct fb_err close_err;

    if (r != FB_OK)
        return r;
    r = inputs == 2 ? write_pair(args, writer, profiles, &out, err)
                    : write_one(args, profiles[0], writer, &out, err);
    if (r == FB_OK)
        fb_file_out_put(&file, out.data ? out.data : "", out.len);
    closed = fb_file_out_close(&file, r == FB_OK, &close_err);
    fb_buf_done(&out);
    if (r == FB_OK && closed != FB_OK) {
        *err = close_err;
        r = closed;
    }
    return r;
}

static int run(const struct fb_args *args)
{
    size_t inputs = args->count - 1;
    const char *out_path = args->items[inputs];
    const struct fb_writer *writer;
    struct fb_profile *profiles[2] = {NULL, NULL};
    struct fb_err err;
    enum fb_status r = fb_writer_find(fb_args_get(args, "to"), out_path, &writer, &err);

    for (size_t i = 0; i < inputs && r == FB_OK; i++) {
        r = fb_load_profile(args, args->items[i], fb_args_get(args, "from"), &profiles[i], &err);
        if (r == FB_OK)
            fb_account_say(profiles[i], args->items[i]);
    }
    if (r == FB_OK)
        r = write_out(args, writer, profiles, inputs, out_path, &err);
    if (r == FB_OK)
        say_written(profiles[0], writer, out_path, inputs == 2 ? "the left side" : writer->name);
    if (r == FB_OK && inputs == 2)
        say_written(profiles[1], writer, out_path, "the right side");
    fb_profile_free(profiles[0]);
    fb_profile_free(profiles[1]);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

static const struct fb_option options[] = {
    {"from", 0, "FORMAT", "format of IN (default: told by its content)"},
    {"to", 0, "FORMAT", "format of OUT (default: told by its ending)"},
    FB_OPTIONS_READ,
    {"rules", 'r', "RULES", "firefox: layers as categories, a preset or a JSON file (native)"},
    FB_OPTIONS_NAMES,
    {0}};

const struct fb_command fb_command_convert = {
    .name = "convert",
    .usage = "IN OUT | CONTROL VARIANT OUT [--from FORMAT] [--to FORMAT]",
    .what = "a profile from any format that is read to any that is written",
    .text = "Reads IN ('-' is standard input; gzip and zstd are unpacked) and writes OUT ('-' with "
            "--to is standard output). Says how many samples were read and written, what was left "
            "out, and what the profile has that the format of OUT cannot hold. A bank written so "
            "is packed. 'flamebank help formats' lists the formats.\n\n"
            "Two profiles become one file where its format has a place for a difference: "
            "flamebearer, as 'double', CONTROL left.\n\n"
            "A file may hold several events or values of its samples: they are never added up. "
            "--type reads one; without it, it is the only one, or the one that the format itself "
            "names as its default, which is said; else they are listed.",
    .options = options,
    .example = "flamebank convert cpu.pb.gz cpu.folded --type samples",
    .least = 2,
    .most = 3,
    .run = run,
};
