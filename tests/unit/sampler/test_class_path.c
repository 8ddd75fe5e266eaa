/* The jars of a JVM's command line, and what their hash is of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crc32.h"
#include "base/wire.h"
#include "sampler/jvm/class_path.h"
#include "sampler/jvm/jar.h"

static char folder[64];
static uint32_t table[256];

/* ---- a zip file ---- */

struct zip {
    uint8_t bytes[4096];
    struct fb_wire_out out;
};

struct entry {
    const char *name;
    uint32_t crc, size, time;
};

/* Something in front, the directory, its end with a comment. */
static void zip_make(struct zip *z, const char *front, const struct entry *entries, size_t count,
                     const char *comment)
{
    size_t start;

    z->out = (struct fb_wire_out){.data = z->bytes, .cap = sizeof z->bytes};
    fb_wire_put_bytes(&z->out, front, strlen(front));
    start = z->out.len;
    for (size_t i = 0; i < count; i++) {
        const struct entry *e = &entries[i];

        fb_wire_put_le(&z->out, 0x02014b50, 4);
        fb_wire_put_le(&z->out, 0, 8);
        fb_wire_put_le(&z->out, e->time, 4);
        fb_wire_put_le(&z->out, e->crc, 4);
        fb_wire_put_le(&z->out, e->size / 2, 4);
        fb_wire_put_le(&z->out, e->size, 4);
        fb_wire_put_le(&z->out, strlen(e->name), 2);
        fb_wire_put_le(&z->out, 3, 2); /* bytes of an extra field */
        fb_wire_put_le(&z->out, 0, 8);
        fb_wire_put_le(&z->out, 0, 6);
        fb_wire_put_bytes(&z->out, e->name, strlen(e->name));
        fb_wire_put_bytes(&z->out, "xyz", 3);
    }
    fb_wire_put_le(&z->out, 0x06054b50, 4);
    fb_wire_put_le(&z->out, 0, 4);
    fb_wire_put_le(&z->out, count, 2);
    fb_wire_put_le(&z->out, count, 2);
    fb_wire_put_le(&z->out, z->out.len - 12 - start, 4);
    fb_wire_put_le(&z->out, 0, 4); /* where it says that the directory is: not believed */
    fb_wire_put_le(&z->out, strlen(comment), 2);
    fb_wire_put_bytes(&z->out, comment, strlen(comment));
    assert_false(z->out.overflow);
}

static void path_of(char path[128], const char *name)
{
    (void)snprintf(path, 128, "%s/%s", folder, name);
}

static void file_put(const char *name, const uint8_t *bytes, size_t n)
{
    char path[128];
    FILE *f;

    path_of(path, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static bool hash_of(const uint8_t *bytes, size_t n, uint64_t left, uint32_t *ret_hash)
{
    static uint8_t buffer[FB_JAR_BUFFER];
    struct fb_jar_reader r = {.buffer = buffer, .left = left, .crc_table = table};
    FILE *f = tmpfile();
    bool is_hashed;

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fflush(f), 0);
    is_hashed = fb_jar_hash(&r, fileno(f), n, ret_hash);
    assert_int_equal(fclose(f), 0);
    return is_hashed;
}

static const struct entry entries[] = {{"META-INF/MANIFEST.MF", 0x11, 100, 7},
                                       {"A.class", 2, 9, 7}};

static void hash_is_of_what_is_in_it_and_not_of_when_it_was_packed(void **state)
{
    struct entry other[] = {entries[0], entries[1]};
    uint32_t hash, again;
    struct zip z;

    (void)state;
    zip_make(&z, "", entries, 2, "");
    assert_true(hash_of(z.bytes, z.out.len, 1 << 20, &hash));
    other[0].time = 8;
    zip_make(&z, "#!/bin/sh\n", other, 2, "a comment, PK\5\6 in it");
    assert_true(hash_of(z.bytes, z.out.len, 1 << 20, &again));
    assert_int_equal(again, hash);
    other[1].crc = 3;
    zip_make(&z, "", other, 2, "");
    assert_true(hash_of(z.bytes, z.out.len, 1 << 20, &again));
    assert_int_not_equal(again, hash);
    other[1] = (struct entry){"B.class", 2, 9, 7};
    zip_make(&z, "", other, 2, "");
    assert_true(hash_of(z.bytes, z.out.len, 1 << 20, &again));
    assert_int_not_equal(again, hash);
}

/* No read outside the file (a sanitizer looks), and no hash of a part. */
static void what_is_cut_or_flipped_is_read_with_care(void **state)
{
    uint32_t hash;
    struct zip z;

    (void)state;
    zip_make(&z, "x", entries, 2, "c");
    for (size_t n = 0; n < z.out.len; n++)
        assert_false(hash_of(z.bytes, n, 1 << 20, &hash));
    for (size_t i = 0; i < z.out.len; i++) {
        z.bytes[i] ^= 0xff;
        (void)hash_of(z.bytes, z.out.len, 1 << 20, &hash);
        z.bytes[i] ^= 0xff;
    }
    assert_false(hash_of(z.bytes, z.out.len, 20, &hash)); /* too much work */
    assert_true(hash_of(z.bytes, z.out.len, 2 * z.out.len, &hash));
}

/* A directory that is larger than the buffer is read in pieces, each entry whole. */
static void large_directories_are_read_in_pieces(void **state)
{
    enum { COUNT = 3000 };
    static uint8_t bytes[COUNT * 60 + 64];
    struct fb_wire_out out = {.data = bytes, .cap = sizeof bytes};
    uint32_t hash, want = 0;

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint8_t facts[8] = {0};

        fb_wire_put_le(&out, 0x02014b50, 4);
        fb_wire_put_le(&out, 0, 8);
        fb_wire_put_le(&out, 0, 4);
        fb_wire_put_le(&out, i, 4);
        fb_wire_put_le(&out, 0, 4);
        fb_wire_put_le(&out, 5, 4);
        fb_wire_put_le(&out, 6, 2);
        fb_wire_put_le(&out, 0, 8);
        fb_wire_put_le(&out, 0, 8);
        fb_wire_put_bytes(&out, "a/b/cd", 6);
        fb_wire_store_le(facts, i, 4);
        fb_wire_store_le(facts + 4, 5, 4);
        want = fb_crc32(table, want, facts, 8);
        want = fb_crc32(table, want, "a/b/cd", 6);
    }
    fb_wire_put_le(&out, 0x06054b50, 4);
    fb_wire_put_le(&out, 0, 8);
    fb_wire_put_le(&out, out.len - 12, 4);
    fb_wire_put_le(&out, 0, 6);
    assert_true(hash_of(bytes, out.len, 1 << 20, &hash));
    assert_int_equal(hash, want);
}

/* ---- the command line ---- */

/* The items as "key=value", one a line. */
static void items_of(const char *words, size_t words_size, const char *environment,
                     size_t environment_size, char text[4096])
{
    static uint8_t memory[64 << 10];
    struct fb_class_path_from from = {words, words_size, environment, environment_size, folder};
    struct fb_chunk chunk = {.body = {.data = memory, .cap = sizeof memory}};
    struct fb_wire_in in;
    size_t len = 0;

    fb_class_path_put(&from, table, &chunk);
    assert_false(chunk.body.overflow);
    in = (struct fb_wire_in){.data = memory, .len = chunk.body.len};
    text[0] = '\0';
    for (uint64_t i = 0; i < 2 * chunk.count; i++) {
        size_t n = (size_t)fb_wire_get_varint(&in);

        assert_true(!in.bad && n <= in.len - in.pos && len + n + 2 < 4096);
        memcpy(text + len, in.data + in.pos, n);
        len += n;
        in.pos += n;
        text[len++] = i % 2 == 0 ? '=' : '\n';
        text[len] = '\0';
    }
}

#define WORDS(text) (text), sizeof(text)

static void items_are(const char *words, size_t words_size, const char *environment,
                      size_t environment_size, const char *first, const char *second)
{
    char text[4096], want[4096];
    size_t count = (size_t)(first != NULL) + (size_t)(second != NULL);

    items_of(words, words_size, environment, environment_size, text);
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(want, sizeof want, "=%s/%s ", folder, i == 0 ? first : second);
        if (strstr(text, want) == NULL)
            fail_msg("'%s' is not in '%s'", want, text);
    }
    (void)snprintf(want, sizeof want, "jvm.jars=%zu\n", count);
    if (strstr(text, want) == NULL)
        fail_msg("'%s' is not in '%s'", want, text);
}

static void jars_are_those_of_the_command_line(void **state)
{
    (void)state;
    items_are(WORDS("java\0-Xmx1g\0-cp\0a.jar:none.jar:lib/b.jar:classes\0Main\0-cp\0c.jar"),
              WORDS("CLASSPATH=c.jar"), "a.jar", "lib/b.jar");
    items_are(WORDS("java\0--class-path=a.jar"), NULL, 0, "a.jar", NULL);
    items_are(WORDS("java\0--add-opens\0x=y\0-classpath\0a.jar\0Main"), NULL, 0, "a.jar", NULL);
    items_are(WORDS("java\0-cp\0a.jar\0-jar\0lib/b.jar\0-cp\0a.jar"), NULL, 0, "lib/b.jar", NULL);
    items_are(WORDS("java\0-p\0lib\0-cp\0a.jar\0-m\0x/y"), NULL, 0, "a.jar", "lib/b.jar");
    items_are(WORDS("java\0-cp\0lib/*:a.jar\0Main"), NULL, 0, "lib/b.jar", "a.jar");
    items_are(WORDS("java\0Main"), WORDS("X=1\0CLASSPATH=:a.jar:"), "a.jar", NULL);
    items_are(WORDS("java\0-cp"), NULL, 0, NULL, NULL);
    items_are(WORDS("java"), NULL, 0, NULL, NULL);
    items_are(NULL, 0, NULL, 0, NULL, NULL);
}

static void item_says_size_and_hash_or_size_alone(void **state)
{
    char text[4096], want[256];
    uint32_t hash;
    struct zip z;

    (void)state;
    zip_make(&z, "", entries, 2, "");
    assert_true(hash_of(z.bytes, z.out.len, 1 << 20, &hash));
    items_of(WORDS("java\0-cp\0a.jar:lib/b.jar"), NULL, 0, text);
    (void)snprintf(want, sizeof want,
                   "jvm.jar.1=%s/a.jar %zu crc32:%08x\njvm.jar.2=%s/lib/b.jar 3\n", folder,
                   z.out.len, hash, folder);
    if (strncmp(text, want, strlen(want)) != 0)
        fail_msg("'%s' is not '%s'", text, want);
}

static int setup(void **state)
{
    char path[128];
    struct zip z;

    (void)state;
    fb_crc32_init(table);
    (void)snprintf(folder, sizeof folder, "/tmp/class_path.XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    path_of(path, "lib");
    if (mkdir(path, 0700) != 0)
        return -1;
    path_of(path, "classes");
    if (mkdir(path, 0700) != 0)
        return -1;
    zip_make(&z, "", entries, 2, "");
    file_put("a.jar", z.bytes, z.out.len);
    file_put("c.jar", z.bytes, z.out.len);
    file_put("lib/b.jar", (const uint8_t *)"abc", 3);
    file_put("lib/readme.txt", (const uint8_t *)"abc", 3);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"a.jar",          "c.jar", "lib/b.jar",
                                        "lib/readme.txt", "lib",   "classes"};
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        path_of(path, names[i]);
        (void)remove(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_of_what_is_in_it_and_not_of_when_it_was_packed),
        cmocka_unit_test(what_is_cut_or_flipped_is_read_with_care),
        cmocka_unit_test(large_directories_are_read_in_pieces),
        cmocka_unit_test(jars_are_those_of_the_command_line),
        cmocka_unit_test(item_says_size_and_hash_or_size_alone),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
