/* jar.h - a hash of what a jar holds, out of its directory alone.
 *
 * The directory at the end of a zip file names each entry with its size and the checksum of its
 * bytes.  The hash is CRC-32 over checksum, size and name of all entries in their order; times and
 * places are left out, so that the same classes packed anew have the same hash.
 *
 * Context: the helper thread.  The file is another's: every offset is checked. */
#ifndef FB_SAMPLER_JVM_JAR_H
#define FB_SAMPLER_JVM_JAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FB_JAR_BUFFER = 70 << 10 }; /* the longest end of a zip file, with its comment */

struct fb_jar_reader {
    uint8_t *buffer; /* FB_JAR_BUFFER bytes */
    uint64_t left;   /* bytes that may still be read, of all jars */
    const uint32_t *crc_table;
};

/* False: it is no zip file, is damaged, has 2^32 bytes or more, or the bytes that may be read are
 * used up. */
bool fb_jar_hash(struct fb_jar_reader *r, int fd, uint64_t size, uint32_t *ret_hash);

#endif
