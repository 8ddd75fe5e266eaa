/* Copies [vdso] out of our own memory; its extent is the line in /proc/self/maps. */
#include "symbolize/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { VDSO_BYTES_MAX = 1 << 20 };

static bool vdso_extent(uintptr_t *ret_start, size_t *ret_size)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false;

    while (maps && !found && fgets(line, sizeof line, maps)) {
        uintptr_t start, end;

        if (strstr(line, "[vdso]") && sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2 &&
            start < end && end - start <= VDSO_BYTES_MAX) {
            *ret_start = start;
            *ret_size = end - start;
            found = true;
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

enum fb_status fb_vdso_open(const char *build_id, struct fb_elf_file **ret_file, struct fb_err *err)
{
    uintptr_t start;
    size_t size;
    void *image;
    enum fb_status r;

    if (!vdso_extent(&start, &size))
        return fb_fail(err, FB_ENOTFOUND, "this process has no '[vdso]' to read");
    image = fb_alloc(size);
    memcpy(image, (const void *)start, size);
    r = fb_elf_file_take(image, size, "[vdso]", ret_file, err);
    if (r != FB_OK)
        return r;
    if (build_id[0] && strcmp((*ret_file)->build_id, build_id) == 0)
        return FB_OK;
    fb_fail(err, FB_ENOTFOUND,
            "'[vdso]' was build ID %.16s, and this kernel's is %.16s: symbolize on the machine and "
            "kernel of the run",
            build_id[0] ? build_id : "(none)", (*ret_file)->build_id);
    fb_elf_file_close(*ret_file);
    *ret_file = NULL;
    return FB_ENOTFOUND;
}
