/* The name of a thread as the outermost frame, "[pool-3-thread-17 tid=812]": the numbers of a
 * pool's threads differ from run to run, those that are part of a word ("C2", "G1") do not.  A long
 * number is no part of a word: "qtp1559783274-16" has the hash of a pool. */
#include <ctype.h>
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

enum { WORDS_DIGITS_MAX = 4 };

static bool cut_tid(struct fb_buf *text)
{
    char *tid = strstr(text->data, " tid=");
    size_t at, n;

    if (!tid)
        return false;
    at = (size_t)(tid - text->data);
    n = fb_text_digits(text, at + 5);
    if (n == 0 || at + 5 + n + 1 != text->len)
        return false;
    fb_text_cut(text, at, 5 + n);
    return true;
}

bool fb_rule_thread(struct fb_buf *text)
{
    struct fb_edit e = {.text = text};
    bool changed;

    if (text->len < 3 || text->data[0] != '[' || text->data[text->len - 1] != ']')
        return false;
    changed = cut_tid(text);
    for (size_t at = 1; at < text->len; at++) {
        size_t n = fb_text_digits(text, at);
        char before = text->data[at - 1];

        if (n == 0)
            continue;
        if (!isalpha((unsigned char)before) || at + n + 1 == text->len || n > WORDS_DIGITS_MAX)
            fb_edit_replace(&e, at, n, before == '#' ? "" : "#");
        at += n - 1;
    }
    return fb_edit_done(&e) || changed;
}
