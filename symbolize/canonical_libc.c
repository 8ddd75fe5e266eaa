/* Rules for the names that glibc and the kernel give to one function. */
#include <string.h>

#include "symbolize/canonical.h"
#include "symbolize/canonical_text.h"

enum { ISA_BASE_MAX = 12 }; /* the longest name of which there are variants has 11 */

static bool is_one_of(const char *const *words, size_t count, const char *text, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (words[i][0] == text[0] && strlen(words[i]) == n && memcmp(words[i], text, n) == 0)
            return true;
    return false;
}

#define ONE_OF(words, text, n) is_one_of(words, sizeof(words) / sizeof(words)[0], text, n)

bool fb_rule_libc_alias(struct fb_buf *text)
{
    if (!fb_text_begins(text, "__GI_"))
        return false;
    fb_text_cut(text, 0, 5);
    return true;
}

/* "__open64_nocancel", "__clock_nanosleep_time64": the same call without a cancellation point, and
 * with 64-bit times. */
static bool cut_variant(struct fb_buf *text)
{
    return fb_text_truncate(text,
                            (size_t)((char *)memrchr(text->data, '_', text->len) - text->data));
}

/* Public functions whose code glibc also calls by one or two other names: __write, __libc_write,
 * ___pthread_mutex_lock.  A list, because "__f" and "f" are two functions in general. */
bool fb_rule_libc_public(struct fb_buf *text)
{
    static const char *const names[] = {
        "accept",    "accept4", "calloc",      "clock_gettime", "clock_nanosleep",
        "close",     "connect", "epoll_wait",  "fcntl",         "fcntl64",
        "fdatasync", "fork",    "free",        "fsync",         "ioctl",
        "lseek",     "lseek64", "madvise",     "malloc",        "memalign",
        "mmap",      "mmap64",  "mprotect",    "msync",         "munmap",
        "nanosleep", "open",    "open64",      "openat",        "openat64",
        "poll",      "ppoll",   "pread",       "pread64",       "preadv",
        "pselect",   "pvalloc", "pwrite",      "pwrite64",      "pwritev",
        "read",      "readv",   "realloc",     "recv",          "recvfrom",
        "recvmmsg",  "recvmsg", "sched_yield", "select",        "send",
        "sendmmsg",  "sendmsg", "sendto",      "sigaction",     "splice",
        "tee",       "usleep",  "valloc",      "wait4",         "waitpid",
        "write",     "writev",
    };
    static const char *const families[] = {
        "pthread_mutex_", "pthread_cond_",       "pthread_rwlock_",    "pthread_spin_",
        "pthread_once",   "pthread_getspecific", "pthread_setspecific"};
    size_t at = strspn(text->data, "_");

    if (at < 2 || at > 3)
        return false;
    if (fb_text_ends(text, "_nocancel") || fb_text_ends(text, "_time64"))
        return cut_variant(text);
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strncmp(text->data + at, families[i], strlen(families[i])) == 0) {
            fb_text_cut(text, 0, at);
            return true;
        }
    }
    if (strncmp(text->data + at, "libc_", 5) == 0)
        at += 5;
    if (!ONE_OF(names, text->data + at, text->len - at))
        return false;
    fb_text_cut(text, 0, at);
    return true;
}

/* The length of the function's name at the start of s if glibc has variants of it, else 0. */
static size_t isa_base(const char *s)
{
    static const char *const strings[] = {
        "memchr",    "memcmp",    "memcmpeq", "memcpy",  "memmove",    "mempcpy",     "memrchr",
        "memset",    "rawmemchr", "stpcpy",   "stpncpy", "strcasecmp", "strcat",      "strchr",
        "strchrnul", "strcmp",    "strcpy",   "strcspn", "strlen",     "strncasecmp", "strncat",
        "strncmp",   "strncpy",   "strnlen",  "strpbrk", "strrchr",    "strspn",      "strstr",
        "wcschr",    "wcscmp",    "wcscpy",   "wcslen",  "wcsncmp",    "wcsnlen",     "wcsrchr",
        "wmemchr",   "wmemcmp",   "wmemset",
    };
    static const char *const math[] = {"atan",  "atan2",  "ceil",  "cos",   "exp",
                                       "exp10", "exp2",   "floor", "fma",   "log",
                                       "log10", "log2",   "pow",   "rint",  "nearbyint",
                                       "sin",   "sincos", "tan",   "trunc", "roundeven"};
    size_t n = 0, plain;

    while (n < ISA_BASE_MAX && s[n] && s[n] != '_')
        n++;
    if (s[n] != '_' || n == 0)
        return 0;
    plain = n > 1 && s[n - 1] == 'f' ? n - 1 : n;
    if (ONE_OF(strings, s, n)) {
        if (strncmp(s + n, "_chk_", 5) == 0)
            return n + 4;
        return strncmp(s + n, "_l_", 3) == 0 ? n + 2 : n;
    }
    return ONE_OF(math, s, n) || ONE_OF(math, s, plain) ? n : 0;
}

/* Whether the whole of s is words of instruction sets, "_avx_unaligned_erms", the first of them
 * the name of one; *ret_x86: of x86. */
static bool is_isa_suffix(const char *s, bool *ret_x86)
{
    static const char *const x86[] = {"sse2", "ssse3", "sse4",    "sse41",  "sse42", "avx",
                                      "avx2", "evex",  "evex512", "avx512", "fma",   "fma4"};
    static const char *const others[] = {"generic", "thunderx", "thunderx2", "falkor", "a64fx",
                                         "simd",    "asimd",    "mte",       "nosimd", "zva64",
                                         "kunpeng", "emag",     "sve",       "mops",   "oryon1"};
    static const char *const details[] = {"unaligned", "erms",  "rtm",   "back", "no", "bsf",
                                          "pminub",    "movbe", "1",     "2",    "no", "vzeroupper",
                                          "avx512vl",  "bmi2",  "lzcnt", "slow", "bw"};
    bool first = true;

    for (*ret_x86 = false; *s == '_'; first = false) {
        size_t n = strcspn(++s, "_");
        bool is_x86 = ONE_OF(x86, s, n);

        if (!is_x86 && !ONE_OF(others, s, n) && (first || !ONE_OF(details, s, n)))
            return false;
        *ret_x86 |= is_x86;
        s += n;
    }
    return *s == 0 && !first;
}

bool fb_rule_isa(struct fb_buf *text)
{
    size_t at = strncmp(text->data, "__", 2) == 0 ? 2 : 0, n = isa_base(text->data + at);
    bool x86;

    if (n == 0 || !is_isa_suffix(text->data + at + n, &x86))
        return false;
    fb_text_truncate(text, at + n);
    if (at > 0 && !fb_text_ends(text, "_chk"))
        fb_text_cut(text, 0, at);
    /* On x86 memcpy is an alias of memmove: which name an address has is chance. */
    if (x86 && strcmp(text->data, "memcpy") == 0)
        fb_text_replace(text, 0, text->len, "memmove");
    return true;
}

bool fb_rule_syscall(struct fb_buf *text)
{
    static const char *const machines[] = {"x64", "ia32", "arm64", "riscv", "s390x", "se", "do"};
    size_t n;

    if (!fb_text_begins(text, "__"))
        return false;
    n = strcspn(text->data + 2, "_");
    if (!ONE_OF(machines, text->data + 2, n) ||
        (strncmp(text->data + 2 + n, "_sys_", 5) != 0 &&
         strncmp(text->data + 2 + n, "_compat_sys_", 12) != 0))
        return false;
    fb_text_cut(text, 0, 2 + n + 1);
    return true;
}

bool fb_rule_bpf(struct fb_buf *text)
{
    if (!fb_text_begins(text, "bpf_prog_") || fb_text_hex(text, 9) != 16 ||
        (text->data[25] != '_' && text->data[25] != 0))
        return false;
    fb_text_cut(text, 8, 17);
    return true;
}
