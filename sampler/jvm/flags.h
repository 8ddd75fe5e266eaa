/* flags.h - the JVM's table of flags.
 *
 *     fb_jvm_flags_want(false);                   FLAMEBANK_JVM_NONSAFEPOINTS=0, before the start
 *     fb_jvm_flags_begin(&reader, &layout);       as soon as the layout is known
 *     fb_jvm_flags_each(&reader, &layout, each, ctx);
 *     text = fb_jvm_nonsafepoints();              for the manifest
 *
 * Context: the helper thread.
 *
 * DebugNonSafepoints makes compilers note the byte code of every instruction, where they note those
 * of safepoints alone otherwise: without it the time of a loop's body is told of the next call.  It
 * is set in the JVM's memory, where -XX:+DebugNonSafepoints would have set it, before the first
 * method is compiled; never where the user has said something about it himself. */
#ifndef FB_SAMPLER_JVM_FLAGS_H
#define FB_SAMPLER_JVM_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "sampler/jvm/layout.h"
#include "sampler/self_read.h"

enum { FB_JVM_FLAG_NAME = 64, FB_JVM_FLAG_VALUE = 256 };

/* Who has set a flag: the JVM's own numbers, of 11 to 25. */
enum fb_jvm_flag_origin {
    FB_JVM_FLAG_DEFAULT = 0,
    FB_JVM_FLAG_COMMAND_LINE = 1,
    FB_JVM_FLAG_ENVIRONMENT = 2,
    FB_JVM_FLAG_CONFIG_FILE = 3,
    FB_JVM_FLAG_MANAGEMENT = 4,
    FB_JVM_FLAG_ERGONOMIC = 5,
    FB_JVM_FLAG_ATTACHED = 6,
    FB_JVM_FLAG_INTERNAL = 7,
    FB_JVM_FLAG_ORIGINS
};

struct fb_jvm_flag {
    char name[FB_JVM_FLAG_NAME];
    char value[FB_JVM_FLAG_VALUE]; /* as the java command writes it; "" for a string that is not set
                                    */
    enum fb_jvm_flag_origin origin;
};

void fb_jvm_flags_want(bool nonsafepoints);

/* At each look until the JVM runs: its tables may not be relocated at the first. */

/* At each look until the JVM runs: its tables may not be relocated at the first. */
void fb_jvm_flags_begin(const struct fb_self_read *reader, const struct fb_jvm_layout *layout);

/* Another JVM is on its way. */
void fb_jvm_flags_forget(void);

/* "set", or why not: "left as it is (...)"; NULL while there is no JVM. */
const char *fb_jvm_nonsafepoints(void);

/* A flag of type bool, whoever has set it.  False: there is none of that name. */
bool fb_jvm_flag_bool(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                      const char *name, bool *ret_value);

/* Every flag that somebody has set, the JVM's own ergonomics included.  False: the table cannot be
 * read. */
bool fb_jvm_flags_each(const struct fb_self_read *reader, const struct fb_jvm_layout *layout,
                       void (*each)(void *ctx, const struct fb_jvm_flag *flag), void *ctx);

#endif
