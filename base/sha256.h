/* sha256.h - SHA-256 of bytes: the wrapper of libmd. */
#ifndef FB_BASE_SHA256_H
#define FB_BASE_SHA256_H

#include <stddef.h>

enum { FB_SHA256_TEXT = 65 };

/* 64 lower-case hex digits and a NUL. */
void fb_sha256_text(const void *bytes, size_t n, char ret_text[FB_SHA256_TEXT]);

#endif
