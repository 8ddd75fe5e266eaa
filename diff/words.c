/* See words.h. */
#include "diff/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/vec.h"

void fb_words_done(struct fb_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->items[i]);
    free(w->items);
    *w = (struct fb_words){0};
}

/* One word at text, quotes taken off if they count; what is behind it, NULL where one stays open.
 */
static const char *word_take(const char *text, bool is_quoted, struct fb_buf *out)
{
    char quote = '\0';

    for (; *text != '\0' && (quote != '\0' || strchr(" \t\n", *text) == NULL); text++) {
        if (is_quoted && quote == '\0' && text[0] == '\\' && text[1] == '\'')
            fb_buf_putc(out, *++text);
        else if (is_quoted && (quote != '\0' ? *text == quote : *text == '\'' || *text == '"'))
            quote = quote != '\0' ? '\0' : *text;
        else
            fb_buf_putc(out, *text);
    }
    return quote != '\0' ? NULL : text;
}

static bool words_split(const char *text, bool is_quoted, struct fb_words *ret_words)
{
    struct fb_words w = {0};

    for (text += strspn(text, " \t\n"); *text != '\0'; text += strspn(text, " \t\n")) {
        struct fb_buf out = {0};

        text = word_take(text, is_quoted, &out);
        if (text == NULL) {
            fb_buf_done(&out);
            fb_words_done(&w);
            return false;
        }
        fb_vec_reserve(&w.items, &w.room, w.count + 1, sizeof *w.items);
        w.items[w.count++] = fb_buf_take(&out);
    }
    *ret_words = w;
    return true;
}

static bool is_shell(const char *program)
{
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash"};
    const char *slash = strrchr(program, '/');

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(slash != NULL ? slash + 1 : program, shells[i]) == 0)
            return true;
    return false;
}

/* Whether a shell's script lies in pieces: "sh -c", "bash -euc", and no blank in what follows. */
static bool is_in_pieces(const struct fb_words *w)
{
    size_t n = w->count > 3 ? strlen(w->items[1]) : 0;

    return n >= 2 && is_shell(w->items[0]) && w->items[1][0] == '-' && w->items[1][n - 1] == 'c' &&
           strpbrk(w->items[2], " \t\n") == NULL;
}

static void script_join(struct fb_words *w)
{
    struct fb_buf script = {0};

    for (size_t i = 2; i < w->count; i++) {
        fb_buf_printf(&script, "%s%s", i > 2 ? " " : "", w->items[i]);
        free(w->items[i]);
    }
    w->items[2] = fb_buf_take(&script);
    w->count = 3;
}

void fb_words_split(const char *command, struct fb_words *ret_words)
{
    struct fb_words w = {0};

    if (!words_split(command, true, &w))
        (void)words_split(command, false, &w);
    if (is_in_pieces(&w))
        script_join(&w);
    *ret_words = w;
}
