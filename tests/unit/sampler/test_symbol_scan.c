/* Names that the sampler banks are those that `symbolize` finds in the same file, address by
 * address: the C library's, this program's own, and of larger ones where they are installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "sampler/symbol_scan.h"
#include "symbolize/module.h"

enum { ADDRESSES = 4000, NAME = 8192, HEADER_BYTES = 4096 };

static const struct fb_symbol_limit no_limit = {UINT64_MAX, UINT64_MAX};

static bool file_open(const char *path, struct fb_module_file *ret_file)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) phdrs[64];
    struct fb_image image = {.build_id_size = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    assert_int_equal(pread(fd, &header, sizeof header, 0), (ssize_t)sizeof header);
    assert_true(header.e_phnum <= 64);
    assert_true(pread(fd, phdrs, header.e_phnum * sizeof phdrs[0], (off_t)header.e_phoff) > 0);
    close(fd);
    return fb_module_file_open(path, &image, phdrs, header.e_phnum, ret_file);
}

/* Evenly over all executable sections. */
static uint32_t addresses_make(const struct fb_module_file *file, struct fb_symbol_want *wants)
{
    uint64_t bytes = 0;
    uint64_t at = 0;
    uint32_t n = 0;
    ElfW(Shdr) s;

    for (unsigned i = 0; i < file->section_count; i++)
        if (fb_module_file_section(file, i, &s) && (s.sh_flags & SHF_EXECINSTR))
            bytes += s.sh_size;
    for (unsigned i = 0; i < file->section_count; i++) {
        if (!fb_module_file_section(file, i, &s) || !(s.sh_flags & SHF_EXECINSTR))
            continue;
        for (; at < s.sh_size && n < ADDRESSES; at += bytes / ADDRESSES + 1)
            wants[n++] = (struct fb_symbol_want){.address = s.sh_addr + at};
        at = at > s.sh_size ? at - s.sh_size : 0;
    }
    return n;
}

/* Of what both name nothing differs; a stub of the PLT is in no table. */
static void compare(const char *path)
{
    struct fb_symbol_want *wants = calloc(ADDRESSES, sizeof *wants);
    uint32_t n, both = 0, differ = 0, here_only = 0, there_only = 0;
    struct fb_module_file file;
    struct fb_symbols *symbols;
    char name[NAME];
    void *image;
    size_t size;
    struct fb_err err;

    if (!file_open(path, &file)) {
        print_message("skipped: there is no %s\n", path);
        free(wants);
        return;
    }
    n = addresses_make(&file, wants);
    assert_true(fb_symbol_scan(&file, wants, n, &no_limit));
    size = (size_t)lseek(file.fd, 0, SEEK_END);
    image = malloc(size); /* from memory, so that no debug file is found */
    assert_true(image != NULL && fb_module_file_read(&file, image, size, 0));
    assert_int_equal(fb_symbols_open_memory(image, size, path, &symbols, &err), FB_OK);
    for (uint32_t i = 0; i < n; i++) {
        const struct fb_symbol *there = fb_symbols_find(symbols, wants[i].address);
        bool here = fb_symbol_scan_name(&file, &wants[i], name, sizeof name);

        if (there != NULL && there->kind == FB_SYMBOL_STUB)
            there = NULL;
        both += here && there != NULL;
        here_only += here && there == NULL;
        there_only += !here && there != NULL;
        if (here && there != NULL && strcmp(name, there->name) != 0 && differ++ < 5)
            print_error("%s, %#lx: %s and %s\n", path, (unsigned long)wants[i].address, name,
                        there->name);
    }
    print_message("%s: %u of %u named, %u here only, %u there only\n", path, both, n, here_only,
                  there_only);
    assert_int_equal(differ, 0);
    assert_true(both > 0);
    assert_true(here_only * 200 <= n && there_only * 200 <= n);
    fb_symbols_free(symbols);
    fb_module_file_close(&file);
    free(wants);
}

static void the_c_library(void **state)
{
    Dl_info info;

    (void)state;
    assert_true(dladdr((const void *)(uintptr_t)strtol, &info) != 0);
    compare(info.dli_fname);
}

static void this_program(void **state)
{
    (void)state;
    compare("/proc/self/exe");
}

static void large_ones(void **state)
{
    (void)state;
    compare("/usr/bin/node");
    compare("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
    compare("/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so");
}

static void no_time_is_no_answer(void **state)
{
    static const struct fb_symbol_limit over = {0, 0};
    struct fb_symbol_want *wants = calloc(ADDRESSES, sizeof *wants);
    struct fb_module_file file;
    uint32_t n;

    (void)state;
    assert_true(file_open("/proc/self/exe", &file));
    n = addresses_make(&file, wants);
    assert_false(fb_symbol_scan(&file, wants, n, &over));
    fb_module_file_close(&file);
    free(wants);
}

/* A file that ends anywhere: no more than what was read is believed. */
static void any_cut_is_harmless(void **state)
{
    char path[] = "/tmp/fb-symbol-scan-XXXXXX";
    int fd = mkstemp(path);
    struct fb_module_file whole;
    char bytes[HEADER_BYTES];
    off_t size;

    (void)state;
    assert_true(file_open("/proc/self/exe", &whole));
    size = lseek(whole.fd, 0, SEEK_END);
    for (off_t at = 0; at < size; at += HEADER_BYTES) {
        size_t n = fb_module_file_read_some(&whole, bytes, sizeof bytes, (uint64_t)at);

        assert_int_equal(pwrite(fd, bytes, n, at), (ssize_t)n);
    }
    for (int i = 40; i > 0; i--) {
        struct fb_symbol_want want = {.address = whole.header.e_entry};
        struct fb_module_file cut;

        assert_int_equal(ftruncate(fd, size * i / 41), 0);
        cut = whole;
        cut.fd = fd;
        fb_symbol_scan(&cut, &want, 1, &no_limit);
        fb_symbol_scan_name(&cut, &want, bytes, sizeof bytes);
    }
    fb_module_file_close(&whole);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_c_library),       cmocka_unit_test(this_program),
        cmocka_unit_test(large_ones),          cmocka_unit_test(no_time_is_no_answer),
        cmocka_unit_test(any_cut_is_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
