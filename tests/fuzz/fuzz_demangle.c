/* Any bytes as a mangled name, behind each of the beginnings that the demanglers know: what comes
 * out is within its cap. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const heads[] = {"", "_Z", "_R", "_D", "_ZN", "_RNv", "_Z1fI"};
    struct fb_buf out = {0};
    const char *head;
    char *name;

    if (n < 1)
        return 0;
    head = heads[bytes[0] % (sizeof heads / sizeof heads[0])];
    name = fb_alloc(strlen(head) + n);
    memcpy(name, head, strlen(head));
    memcpy(name + strlen(head), bytes + 1, n - 1);
    name[strlen(head) + n - 1] = 0;
    if (fb_name_demangle(name, &out)) {
        /* the suffix behind a name is kept, whatever its length */
        if (out.len == 0 || out.len > (64u << 10) + n + 16 || strlen(out.data) != out.len)
            abort();
    } else if (out.len != 0) {
        abort();
    }
    fb_buf_done(&out);
    free(name);
    return 0;
}
