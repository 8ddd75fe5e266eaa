/* host HOW LIBRARY... : loads the libraries in a way that containers and runtimes have, and burns
 * CPU time in each. plain     as they are delete    removed once they are loaded replace   each
 * overwritten by the one after it, by rename, once it is loaded memfd     from a file that exists
 * in memory only anonymous the code of burn() copied to anonymous memory */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MS = 400 };

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "host: %s\n", dlerror());
        exit(1);
    }
    return library;
}

static void *load_memfd(const char *path)
{
    int from = open(path, O_RDONLY), to = memfd_create("generated", 0);
    struct stat st;
    char name[64];

    if (from < 0 || to < 0 || fstat(from, &st) != 0 ||
        sendfile(to, from, NULL, (size_t)st.st_size) != st.st_size)
        exit(1);
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    return load(name);
}

/* A function that needs nothing of its surroundings; x86_64 only. */
static void burn_anonymous(long rounds)
{
    static const unsigned char code[] = {0x48, 0xff, 0xcf,
                                         0x75, 0xfb, 0xc3}; /* dec rdi; jnz; ret */
    void *memory =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*run)(long);

    if (memory == MAP_FAILED)
        exit(1);
    memcpy(memory, code, sizeof code);
    memcpy(&run, &memory, sizeof run);
    run(rounds);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "anonymous") == 0) {
        burn_anonymous(1500000000);
        return 0;
    }
    if (argc < 3)
        return 2;
    for (int i = 2; i < argc; i++) {
        void *library = strcmp(argv[1], "memfd") == 0 ? load_memfd(argv[i]) : load(argv[i]);
        void (*burn)(long);

        *(void **)&burn = dlsym(library, "burn");
        if (!burn)
            return 1;
        if (strcmp(argv[1], "delete") == 0 && unlink(argv[i]) != 0)
            return 1;
        if (strcmp(argv[1], "replace") == 0 && i + 1 < argc) {
            if (rename(argv[i + 1], argv[i]) != 0)
                return 1;
            argc--;
        }
        burn(MS);
    }
    while (strcmp(argv[1], "hold") == 0 && getchar() != EOF)
        ;
    return 0;
}
