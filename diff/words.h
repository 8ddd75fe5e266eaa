/* words.h - the words of a command line as a bank has it.
 *
 *     fb_words_split(command, &words);
 *     fb_words_done(&words);
 *
 * Words are separated by blanks and quoted as in a shell ('a b', "a b", \' outside of quotes), and
 * nothing else of one.  Where the quotes do not close, they are letters.  Banks once had no quotes:
 * the script behind a shell's -c is one word in them, too, with all that follows. */
#ifndef FB_DIFF_WORDS_H
#define FB_DIFF_WORDS_H

#include <stddef.h>

struct fb_words {
    char **items;
    size_t count, room;
};

void fb_words_split(const char *command, struct fb_words *ret_words);
void fb_words_done(struct fb_words *w);

#endif
