/* foreign.h - what another process asks of the sampler, by a chunk that it appended to the bank.
 *
 *     if (fb_sink_foreign(&sink, &from, &to))                    somebody has appended
 *         ask = fb_foreign_ask(fd, from, to, run_id, crc_table);
 *
 * Context: the helper thread alone.  Whoever may write the file may write anything: no byte of it
 * is believed before its checksum, lengths are compared with what is there, and a call reads at
 * most FB_FOREIGN_READS times FB_FOREIGN_CHUNK bytes.  What breaks a rule is passed over. */
#ifndef FB_SAMPLER_FOREIGN_H
#define FB_SAMPLER_FOREIGN_H

#include <stdint.h>

#include "profile/raw_format.h"

enum {
    FB_FOREIGN_CHUNK = 256,
    FB_FOREIGN_READS = 256,
};

/* The last question in bytes [from, to) of the file, FB_EVENT_ASK_PAUSE or _RESUME; 0: none. */
unsigned fb_foreign_ask(int fd, uint64_t from, uint64_t to, uint64_t run_id,
                        const uint32_t crc_table[256]);

#endif
