#include "base/vec.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one place of the libraries that ends the process: see vec.h. */
static _Noreturn void out_of_memory(void)
{
    static const char text[] = "flamebank: out of memory\n";

    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(3);
}

void fb_vec_reserve(void *items, size_t *room, size_t need, size_t element_size)
{
    void *old, *grown;
    size_t wanted;

    if (need <= *room)
        return;
    wanted = *room < 16 ? 16 : *room * 2;
    if (wanted < need)
        wanted = need;
    if (wanted > SIZE_MAX / 2 / element_size)
        out_of_memory();
    memcpy(&old, items, sizeof old);
    grown = realloc(old, wanted * element_size);
    if (!grown)
        out_of_memory();
    memcpy(items, &grown, sizeof grown);
    *room = wanted;
}

void *fb_alloc(size_t bytes)
{
    return fb_alloc_array(bytes ? bytes : 1, 1);
}

void *fb_alloc_array(size_t count, size_t element_size)
{
    void *p = calloc(count ? count : 1, element_size ? element_size : 1);

    if (!p)
        out_of_memory();
    return p;
}

char *fb_strndup(const char *text, size_t n)
{
    char *copy = fb_alloc(n + 1);

    memcpy(copy, text, n);
    return copy;
}

char *fb_strdup(const char *text)
{
    return fb_strndup(text, strlen(text));
}

char *fb_format(const char *fmt, ...)
{
    va_list ap, again;
    char *text;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    text = fb_alloc((size_t)(n < 0 ? 0 : n) + 1);
    if (n >= 0)
        (void)vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text;
}
