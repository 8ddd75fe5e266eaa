/* utf8.h - texts of a JVM as UTF-8.
 *
 *     n = fb_jvm_utf8_letter(0x20ac, bytes);      one letter, 1 to 4 bytes
 *     n = fb_jvm_utf8_text(text, n, to);          to: n bytes, may be text itself
 *
 * Context: the helper thread.
 *
 * Names in classes are in "modified UTF-8": NUL is two bytes, and what is beyond 16 bits is two
 * surrogates of three bytes each, which no reader of UTF-8 takes.  Names are also cut at a byte.
 * What is no letter becomes one: a surrogate without its other half U+FFFD; NUL, and bytes that are
 * no whole letter, '?'.  So a text never grows. */
#ifndef FB_SAMPLER_JVM_UTF8_H
#define FB_SAMPLER_JVM_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { FB_JVM_UTF8_MAX = 4 };

size_t fb_jvm_utf8_letter(uint32_t c, char ret_bytes[FB_JVM_UTF8_MAX]);
size_t fb_jvm_utf8_text(const char *text, size_t n, char *ret_text);

#endif
