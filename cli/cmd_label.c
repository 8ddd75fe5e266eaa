#include <ctype.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/say.h"
#include "profile/profile.h"

enum { LABEL_MAX = 4096 };

/* A key is a word, as in --label of record. */
static enum fb_status check(const char *label, struct fb_err *err)
{
    const char *equals = strchr(label, '=');

    if (equals == NULL || equals == label || strlen(label) > LABEL_MAX)
        return fb_fail(err, FB_EUSAGE, "'%.100s': K=V of at most %d bytes was expected", label,
                       LABEL_MAX);
    for (const char *at = label; at < equals; at++)
        if (!isalnum((unsigned char)*at) && strchr("_-./", *at) == NULL)
            return fb_fail(err, FB_EUSAGE,
                           "'%.100s': a key of letters, digits and _ - . / was expected", label);
    return FB_OK;
}

static int run(const struct fb_args *args)
{
    struct fb_err err;
    enum fb_status r = FB_OK;

    for (size_t i = 1; i < args->count && r == FB_OK; i++)
        r = check(args->items[i], &err);
    if (r == FB_OK)
        r = fb_bank_label(args->items[0], args->items + 1, args->count - 1, &err);
    return r == FB_OK ? FB_EXIT_DONE : fb_say_error(&err);
}

const struct fb_command fb_command_label = {
    .name = "label",
    .usage = "FILE K=V...",
    .what = "add facts to a bank that its arm could not know",
    .text =
        "Appends labels to the manifest of a bank, whether its arm is running or has ended: the "
        "digest of the image, which a pod cannot see itself, the commit, the node. `flamebank "
        "diff` "
        "compares them: 'image', 'image_digest' and 'digest' stand for everything that is in an "
        "image. A label that is there already gets the new value.",
    .example = "flamebank label run.fbank image_digest=sha256:0123 commit=4f1d",
    .least = 2,
    .most = 64,
    .run = run,
};
