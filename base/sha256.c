#include "base/sha256.h"

#include <sha256.h>

void fb_sha256_text(const void *bytes, size_t n, char ret_text[FB_SHA256_TEXT])
{
    SHA256Data((const uint8_t *)bytes, n, ret_text);
}
