/* export.h - what the host's programs find in libflamebank.so before the C library.
 *
 * Every FB_EXPORT name is also in preload.map, and in the list that
 * tests/checks/preload_symbols compares. */
#ifndef FB_SAMPLER_EXPORT_H
#define FB_SAMPLER_EXPORT_H

#define FB_EXPORT __attribute__((visibility("default")))

#endif
