/* class_path.h - the jars that a JVM was started with, for the bank's manifest.
 *
 *   KEY                    VALUE
 *   jvm.jars               how many files the class path and the module path name; "0" is said
 *   jvm.jar.N              each, from 1: "PATH BYTES crc32:xxxxxxxx", the hash that of jar.h; or
 *                          "PATH BYTES" where it has none or the work would have been too much
 *
 * The paths are those of the command line (-cp, -classpath, --class-path, -p, --module-path, -jar),
 * else of CLASSPATH in the environment; of "dir/" with a star behind it all jars of that folder.
 * Class-Path headers within jars and argument files (@file) are not followed: their jars are not
 * there.  At most FB_CLASS_PATH_JARS files and FB_CLASS_PATH_READ bytes of their directories.
 *
 * Context: the helper thread, once, when the JVM has read its options. */
#ifndef FB_SAMPLER_JVM_CLASS_PATH_H
#define FB_SAMPLER_JVM_CLASS_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "sampler/sink.h"

enum { FB_CLASS_PATH_JARS = 1000, FB_CLASS_PATH_READ = 16 << 20 };

struct fb_class_path_from {
    const char *words; /* of the command line, a NUL behind each */
    size_t words_size;
    const char *environment; /* "K=V", a NUL behind each */
    size_t environment_size;
    const char *cwd; /* of relative paths */
};

/* The items of MANIFEST. */
void fb_class_path_put(const struct fb_class_path_from *from, const uint32_t crc_table[256],
                       struct fb_chunk *chunk);

/* The same of this process: its command line, and the rest of `from` as given. */
void fb_class_path_put_own(const struct fb_class_path_from *from, const uint32_t crc_table[256],
                           struct fb_chunk *chunk);

#endif
