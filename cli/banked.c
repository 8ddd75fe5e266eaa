#include "cli/banked.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vec.h"

enum { FILES_MAX = 10000 };

struct banked { /* one file */
    char *path, *label, *service;
    double rate;
    int64_t from_ns, until_ns;
};

struct folder {
    char *path;            /* of the folder                     */
    char *label, *service; /* that are wanted; NULL any         */
    struct banked *files;
    size_t count, room;
};

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The argument's folder, and what stands behind its last slash; yours. */
static char *parent_of(const char *argument, const char **ret_rest)
{
    const char *slash = strrchr(argument, '/');

    *ret_rest = slash ? slash + 1 : argument;
    return slash ? fb_format("%.*s", (int)(slash - argument + (slash == argument)), argument)
                 : fb_strdup(".");
}

/* ---- names ---- */

static char *cut(const char *from, const char *to)
{
    return fb_format("%.*s", (int)(to - from), from);
}

/* "1788725520-1788725631" up to a '.' or the end. */
static bool span_read(const char *at, int64_t *ret_from_ns, int64_t *ret_until_ns)
{
    char from[24], until[24];
    int n = 0;

    if (sscanf(at, "%23[0-9]-%23[0-9]%n", from, until, &n) != 2 || (at[n] != '.' && at[n] != '\0'))
        return false;
    return fb_steps_time(from, ret_from_ns) && fb_steps_time(until, ret_until_ns) &&
           *ret_until_ns > *ret_from_ns;
}

/* False for a name that is none of ours. */
static bool name_read(const char *folder, const char *name, struct banked *ret)
{
    const char *rps = strstr(name, ".rps"), *service, *dot;
    size_t digits = rps ? strspn(rps + 4, "0123456789") : 0;

    if (!rps || rps == name || digits == 0 || digits > 12 || rps[4 + digits] != '.')
        return false;
    ret->rate = strtod(rps + 4, NULL);
    service = rps + 4 + digits + 1;
    for (dot = strchr(service, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (!span_read(dot + 1, &ret->from_ns, &ret->until_ns))
            continue;
        ret->label = cut(name, rps);
        ret->service = cut(service, dot);
        ret->path = fb_format("%s/%s", folder, name);
        return true;
    }
    return false;
}

static void banked_done(struct banked *b)
{
    free(b->path);
    free(b->label);
    free(b->service);
}

static void folder_done(struct folder *f)
{
    for (size_t i = 0; i < f->count; i++)
        banked_done(&f->files[i]);
    free(f->files);
    free(f->path);
    free(f->label);
    free(f->service);
}

static bool is_wanted(const struct folder *f, const struct banked *b)
{
    return (!f->label || strcmp(f->label, b->label) == 0) &&
           (!f->service || strcmp(f->service, b->service) == 0);
}

static int by_time(const void *a, const void *b)
{
    const struct banked *x = a, *y = b;

    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static enum fb_status files_list(struct folder *f, struct fb_err *err)
{
    DIR *dir = opendir(f->path);
    struct dirent *entry;

    if (!dir)
        return fb_fail_errno(err, "%s: cannot be listed", f->path);
    while ((entry = readdir(dir)) != NULL && f->count < FILES_MAX) {
        struct banked b = {0};

        if (!name_read(f->path, entry->d_name, &b))
            continue;
        if (!is_wanted(f, &b)) {
            banked_done(&b);
            continue;
        }
        fb_vec_reserve(&f->files, &f->room, f->count + 1, sizeof *f->files);
        f->files[f->count++] = b;
    }
    (void)closedir(dir);
    if (f->count == FILES_MAX)
        return fb_fail(err, FB_ELIMIT, "%s: %d profiles or more", f->path, FILES_MAX);
    if (f->count > 0)
        qsort(f->files, f->count, sizeof *f->files, by_time);
    return FB_OK;
}

/* ---- one arm ---- */

/* The words of a kind, each once: "a, b"; yours. */
static char *words_of(const struct folder *f, bool services, size_t *ret_count)
{
    struct fb_buf out = {0};

    *ret_count = 0;
    for (size_t i = 0; i < f->count; i++) {
        const char *word = services ? f->files[i].service : f->files[i].label;
        bool seen = false;

        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(services ? f->files[k].service : f->files[k].label, word) == 0;
        if (seen)
            continue;
        fb_buf_printf(&out, "%s%s", *ret_count > 0 ? ", " : "", word);
        ++*ret_count;
    }
    return fb_buf_take(&out);
}

static enum fb_status one_arm_check(const struct folder *f, const char *argument,
                                    struct fb_err *err)
{
    size_t labels, services;
    char *label_words = words_of(f, false, &labels), *service_words = words_of(f, true, &services);
    enum fb_status r = FB_OK;

    if (f->count == 0)
        r = fb_fail(
            err, FB_ENOTFOUND,
            "%s: no profile of a step was found; names LABEL.rpsN.SERVICE.FROM-UNTIL.json.gz "
            "were expected in '%s'",
            argument, f->path);
    else if (labels > 1)
        r = fb_fail(err, FB_EUSAGE, "%s: holds the labels %s; %s/LABEL was expected", argument,
                    label_words, f->path);
    else if (services > 1)
        r = fb_fail(err, FB_EUSAGE, "%s: holds the services %s; %s/%s@SERVICE was expected",
                    argument, service_words, f->path, f->files[0].label);
    free(label_words);
    free(service_words);
    return r;
}

static enum fb_status file_take(const struct fb_args *args, const struct banked *b,
                                struct fb_profile *all, struct fb_err *err)
{
    struct fb_profile *p;
    enum fb_status r = fb_load_profile(args, b->path, NULL, &p, err);

    if (r != FB_OK)
        return r;
    r = fb_profile_join(all, p, b->from_ns + (b->until_ns - b->from_ns) / 2,
                        b->until_ns - b->from_ns, err);
    fb_profile_free(p);
    return r == FB_OK ? r : fb_within(err, "%s", b->path);
}

static struct fb_steps *steps_of(const struct folder *f, const char *argument)
{
    struct fb_step_span *spans = fb_alloc_array(f->count, sizeof *spans);
    struct fb_steps *steps;

    for (size_t i = 0; i < f->count; i++)
        spans[i] = (struct fb_step_span){f->files[i].from_ns, f->files[i].until_ns,
                                         f->files[i].rate, f->files[i].path};
    steps = fb_steps_of_spans(argument, spans, f->count);
    free(spans);
    return steps;
}

bool fb_banked_is(const char *argument)
{
    const char *rest;
    struct stat st;
    char *parent;
    bool is;

    if (stat(argument, &st) == 0)
        return S_ISDIR(st.st_mode);
    if (errno != ENOENT || strchr(argument, '/') == NULL)
        return false;
    parent = parent_of(argument, &rest);
    is = *rest != '\0' && is_folder(parent);
    free(parent);
    return is;
}

static void folder_init(struct folder *f, const char *argument)
{
    const char *rest, *at;

    *f = (struct folder){0};
    if (is_folder(argument)) {
        f->path = fb_strdup(argument);
        return;
    }
    f->path = parent_of(argument, &rest);
    at = strchr(rest, '@');
    if (!at || at > rest)
        f->label = at ? cut(rest, at) : fb_strdup(rest);
    if (at && at[1] != '\0')
        f->service = fb_strdup(at + 1);
}

enum fb_status fb_banked_load(const struct fb_args *args, const char *argument,
                              struct fb_profile **ret_p, struct fb_steps **ret_steps,
                              struct fb_err *err)
{
    struct fb_profile *all = fb_profile_new();
    struct folder f;
    enum fb_status r;

    folder_init(&f, argument);
    r = files_list(&f, err);
    if (r == FB_OK)
        r = one_arm_check(&f, argument, err);
    for (size_t i = 0; i < f.count && r == FB_OK; i++)
        r = file_take(args, &f.files[i], all, err);
    if (r == FB_OK) {
        *ret_p = all;
        *ret_steps = steps_of(&f, argument);
    } else {
        fb_profile_free(all);
    }
    folder_done(&f);
    return r;
}
