/* Any bytes as a jit map, read in two goes: no crash, bounded memory, names and lines that end. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sampler/jit_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void look_up(const struct fb_jit_files *files, const struct fb_jit_codes *codes)
{
    const struct fb_jit_code *code = codes->pages.data;
    char text[1024];
    uint32_t line;

    for (uint32_t i = 0; i < codes->count; i++) {
        bool several;
        const struct fb_jit_code *found =
            fb_jit_codes_find(codes, code[i].start, UINT64_MAX, &several);

        if (code[i].end <= code[i].start ||
            (found != NULL && (found->start > code[i].start || found->end <= code[i].start)) ||
            fb_jit_files_name(files, &code[i], text, sizeof text) > sizeof text)
            abort();
        if (fb_jit_files_line(files, &code[i], code[i].start, text, sizeof text, &line) &&
            memchr(text, '\0', sizeof text) == NULL)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fb_jit_codes codes = {.count = 0};
    struct fb_jit_files files;
    int fd = memfd_create("jit", 0);

    if (fd < 0)
        return 0;
    fb_jit_files_init(&files);
    files.map.fd = fd;
    for (size_t part = 0; part < 2; part++) {
        size_t at = part * (n / 2);
        size_t size = part == 0 ? n / 2 : n - n / 2;

        if (pwrite(fd, data + at, size, (off_t)at) != (ssize_t)size)
            abort();
        fb_jit_map_read(&files, &codes);
        fb_jit_codes_settle(&codes);
        look_up(&files, &codes);
    }
    if (files.map.done > n)
        abort();
    fb_jit_files_rest(&files);
    fb_pages_free(&codes.pages);
    return 0;
}
