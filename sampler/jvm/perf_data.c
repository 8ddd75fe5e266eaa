/* perf_data.c - see perf_data.h.
 *
 * The table, version 2.0 of its format (JDK 5 to 25): a prologue, then entries, each with its own
 * length, offsets of its name and of its value, and the value's type. */
#include "sampler/jvm/perf_data.h"

#include <string.h>

#include "sampler/jvm/layout_known.h"
#include "sampler/jvm/reading.h"
#include "sampler/jvm/signal/vm.h"

enum {
    PLACES_MAX = 64,
    NAME_BYTES = 64,
    ENTRIES_MAX = 4096,
    TABLE_BYTES_MAX = 1 << 22,
    NS = 1000000000,
};

/* Names, a digit for each '#'.  Values of one counter are added up. */
static const struct {
    const char *name;
    enum fb_jvm_perf_value value;
    bool ticks; /* of the JVM's clock */
} wanted[] = {
    {"sun.gc.generation.#.space.#.used", FB_JVM_PERF_HEAP, false},
    {"sun.gc.generation.#.space.#.capacity", FB_JVM_PERF_COMMITTED, false},
    {"sun.gc.collector.0.invocations", FB_JVM_PERF_YOUNG_COUNT, false},
    {"sun.gc.collector.0.time", FB_JVM_PERF_YOUNG_NS, true},
    {"sun.gc.collector.1.invocations", FB_JVM_PERF_OLD_COUNT, false},
    {"sun.gc.collector.1.time", FB_JVM_PERF_OLD_NS, true},
    {"sun.gc.collector.2.invocations", FB_JVM_PERF_CYCLE_COUNT, false},
    {"sun.gc.collector.2.time", FB_JVM_PERF_CYCLE_NS, true},
    {"java.cls.loadedClasses", FB_JVM_PERF_CLASSES_LOADED, false},
    {"java.cls.sharedLoadedClasses", FB_JVM_PERF_CLASSES_LOADED, false},
    {"java.cls.unloadedClasses", FB_JVM_PERF_CLASSES_UNLOADED, false},
    {"java.cls.sharedUnloadedClasses", FB_JVM_PERF_CLASSES_UNLOADED, false},
    {"java.ci.totalTime", FB_JVM_PERF_COMPILE_NS, true},
    {"sun.rt.safepointTime", FB_JVM_PERF_SAFEPOINT_NS, true},
};

static const char frequency_name[] = "sun.os.hrt.frequency";
static const char unloads_name[] = "java.cls.unloadedClasses";

struct place {
    uint64_t address;
    uint8_t value;
    bool ticks;
};

static struct {
    uint32_t entries; /* of the table when it was searched */
    uint64_t table;
    uint32_t count;
    struct place places[PLACES_MAX];
    uint64_t frequency; /* of the JVM's clock */
} perf;

static const char *state;

static bool matches(const char *pattern, const char *name)
{
    for (; *pattern != '\0'; pattern++, name++)
        if (*pattern == '#' ? *name < '0' || *name > '9' : *name != *pattern)
            return false;
    return *name == '\0';
}

static bool name_read(uint64_t address, char to[NAME_BYTES])
{
    for (unsigned i = 0; i < NAME_BYTES; i++) {
        uint8_t byte;

        if (!fb_jvm_read_8(address + i, &byte))
            return false;
        to[i] = (char)byte;
        if (byte == 0)
            return true;
    }
    return false;
}

static void entry_take(uint64_t entry, uint32_t length)
{
    char name[NAME_BYTES];
    uint32_t name_at;
    uint32_t data_at;
    uint8_t type;

    if (!fb_jvm_read_32(entry + FB_JVM_PERF_ENTRY_NAME, &name_at) ||
        !fb_jvm_read_32(entry + FB_JVM_PERF_ENTRY_DATA, &data_at) ||
        !fb_jvm_read_8(entry + FB_JVM_PERF_ENTRY_TYPE, &type) || type != 'J' || name_at >= length ||
        data_at > length - 8 || !name_read(entry + name_at, name))
        return;
    if (strcmp(name, unloads_name) == 0)
        fb_jvm_unloads_publish(entry + data_at);
    if (strcmp(name, frequency_name) == 0)
        fb_jvm_read_64(entry + data_at, &perf.frequency);
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0] && perf.count < PLACES_MAX; i++)
        if (matches(wanted[i].name, name))
            perf.places[perf.count++] = (struct place){.address = entry + data_at,
                                                       .value = (uint8_t)wanted[i].value,
                                                       .ticks = wanted[i].ticks};
}

static void table_search(uint64_t table, uint32_t entries)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint32_t used;
    uint32_t at;
    uint32_t length;

    perf.entries = entries;
    perf.table = table;
    perf.count = 0;
    if (!fb_jvm_field_32(table, l->perf_used, &used) || used > TABLE_BYTES_MAX ||
        !fb_jvm_field_32(table, l->perf_entry_offset, &at))
        return;
    for (uint32_t i = 0; i < entries && i < ENTRIES_MAX; i++, at += length) {
        if (at >= used || !fb_jvm_read_32(table + at, &length) ||
            length < FB_JVM_PERF_ENTRY_BYTES || length > used - at)
            return;
        entry_take(table + at, length);
    }
}

/* The table as it is now; false: there is none (yet). */
static bool table_find(void)
{
    const struct fb_jvm_layout *l = &fb_jvm.layout;
    uint64_t table;
    uint32_t entries;
    uint32_t initialized;

    if (l->perf_prologue_at == 0 || l->perf_initialized_at == 0 ||
        !fb_jvm_read_64(l->perf_prologue_at, &table) ||
        !fb_jvm_read_32(l->perf_initialized_at, &initialized)) {
        state = "no (this JVM has none)";
        return false;
    }
    if (table == 0 || initialized == 0) {
        /* The JVM is running: what is not there now will not come. */
        state = "no (-XX:-UsePerfData)";
        return false;
    }
    if (!fb_jvm_field_32(table, l->perf_entry_count, &entries))
        return false;
    if (table != perf.table || entries != perf.entries)
        table_search(table, entries);
    state = "yes";
    return true;
}

static uint64_t to_ns(uint64_t ticks)
{
    if (perf.frequency == 0 || perf.frequency == NS)
        return ticks;
    return (uint64_t)((double)ticks * NS / (double)perf.frequency);
}

void fb_jvm_perf_read(struct fb_jvm_perf_values *ret_values)
{
    *ret_values = (struct fb_jvm_perf_values){.has = {false}};
    if (!fb_jvm_active() || !fb_jvm_may_read() || !table_find())
        return;
    for (uint32_t i = 0; i < perf.count; i++) {
        const struct place *p = &perf.places[i];
        uint64_t value;

        if (!fb_jvm_read_64(p->address, &value))
            continue;
        ret_values->has[p->value] = true;
        ret_values->value[p->value] += p->ticks ? to_ns(value) : value;
    }
}

const char *fb_jvm_perf_state(void)
{
    return state;
}
