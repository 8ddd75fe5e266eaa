#include "profile/read/perf_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* What a line stands for: one frame, or several that were inlined into the first. */
struct fb_perf_plan {
    const char *symbol; /* without offset; kept */
    size_t len;
    uint32_t dso;
    uint32_t line;    /* of the source; 0 unknown            */
    const char *file; /* kept; "" unknown                    */
    size_t file_len;
    uint32_t frame; /* once it was put; 0: not yet, or several */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

void fb_perf_frames_done(struct fb_perf_frames *frames)
{
    fb_name_cache_done(&frames->symbols);
    fb_name_cache_done(&frames->dsos);
    fb_name_cache_done(&frames->comms);
    fb_name_cache_done(&frames->sources);
    free(frames->plans);
    free(frames->all);
    *frames = (struct fb_perf_frames){0};
}

/* ---- dso ---- */

static bool begins(const char *text, size_t len, const char *start)
{
    size_t n = strlen(start);

    return len >= n && memcmp(text, start, n) == 0;
}

static bool has_suffix(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);

    return len >= n && memcmp(text + len - n, end, n) == 0;
}

static bool is_kernel(const char *path, size_t len, const char *base, size_t base_len)
{
    static const char *const user[] = {"[unknown]", "[vdso", "[vsyscall", "[heap",
                                       "[stack",    "[anon", "[JIT",      "[uprobes"};

    if (begins(base, base_len, "vmlinux") || has_suffix(base, base_len, ".ko") ||
        memmem(base, base_len, ".ko.", 4))
        return true;
    if (len == 0 || path[0] != '[')
        return false;
    for (size_t i = 0; i < sizeof user / sizeof user[0]; i++) {
        if (begins(path, len, user[i]))
            return false;
    }
    return true;
}

static bool is_generated(const char *path, size_t len, const char *base, size_t base_len)
{
    return begins(path, len, "[JIT") || begins(base, base_len, "jitted-") ||
           (begins(base, base_len, "perf-") && has_suffix(base, base_len, ".map"));
}

static struct fb_perf_dso make_dso(const char *path, size_t len)
{
    struct fb_perf_dso d = {.path = path, .len = len};
    const char *slash = memrchr(path, '/', len), *base = slash ? slash + 1 : path;
    size_t base_len = (size_t)(path + len - base);

    d.kind = FB_FRAME_NATIVE;
    if (len == 7 && memcmp(path, "inlined", 7) == 0) {
        d.kind = FB_FRAME_INLINED;
        d.is_unknown = true;
    } else if (len == 0 || (len == 9 && memcmp(path, "[unknown]", 9) == 0)) {
        d.is_unknown = true;
    } else if (is_generated(path, len, base, base_len)) {
        d.kind = FB_FRAME_JIT;
    } else if (is_kernel(path, len, base, base_len)) {
        d.kind = FB_FRAME_KERNEL;
    }
    return d;
}

/* The length without "+0x1f" at the end: of a symbol, and (-F +dsoff) of a file. */
static size_t without_offset(const char *symbol, size_t len)
{
    size_t at = len;

    while (at > 0 && is_hex(symbol[at - 1]))
        at--;
    if (at < len && at > 3 && memcmp(symbol + at - 3, "+0x", 3) == 0)
        return at - 3;
    return len;
}

static uint32_t dso_of(struct fb_perf_frames *frames, const char *path, size_t len)
{
    const struct fb_perf_dso *last;
    struct fb_name_slot *slot;

    last = &frames->all[frames->last_dso];
    if (last->len == len && memcmp(last->path, path, len) == 0)
        return frames->last_dso;
    slot = fb_name_cache_at(&frames->dsos, 0, path, len);
    if (slot->value == 0) {
        fb_vec_reserve(&frames->all, &frames->all_room, frames->all_count + 1, sizeof *frames->all);
        slot->value = (uint32_t)frames->all_count;
        frames->all[frames->all_count++] = make_dso(slot->text, len);
    }
    frames->last_dso = slot->value;
    return slot->value;
}

/* The '(' of the last field "(dso)" of a text that ends in ')'; NULL if there is none.  A path may
 * hold such fields itself, as in "(/tmp/x (deleted))". */
static const char *dso_start(const char *text, size_t len)
{
    const char *open = memrchr(text, '(', len), *at = text + len;
    size_t depth = 0;

    if (!open)
        return NULL;
    if ((open == text || is_blank(open[-1])) && !memchr(open, ')', (size_t)(text + len - 1 - open)))
        return open;
    while (at-- > text) {
        if (*at == ')')
            depth++;
        else if (*at == '(' && --depth == 0)
            return at == text || is_blank(at[-1]) ? at : NULL;
    }
    return NULL;
}

/* ---- lines ---- */

static uint32_t plan_of(struct fb_perf_frames *frames, const char *symbol, size_t len, uint32_t dso)
{
    struct fb_name_slot *slot = fb_name_cache_at(&frames->symbols, dso, symbol, len);

    if (slot->value == 0) {
        if (frames->plans_count == 0)
            frames->plans_count = 1;
        fb_vec_reserve(&frames->plans, &frames->plans_room, frames->plans_count + 1,
                       sizeof *frames->plans);
        slot->value = (uint32_t)frames->plans_count;
        frames->plans[frames->plans_count++] =
            (struct fb_perf_plan){.symbol = slot->text, .len = len, .dso = dso, .file = ""};
    }
    return slot->value;
}

bool fb_perf_frame_parse(struct fb_perf_frames *frames, const char *line, size_t len,
                         uint32_t *ret_plan)
{
    const char *end = line + len, *at = line, *digits, *dso;
    uint32_t id = 0;

    if (frames->all_count == 0) {
        fb_vec_reserve(&frames->all, &frames->all_room, 1, sizeof *frames->all);
        frames->all[frames->all_count++] = make_dso("", 0);
    }
    while (at < end && is_blank(*at))
        at++;
    for (digits = at; digits < end && is_hex(*digits);)
        digits++;
    if (digits == at || (digits < end && !is_blank(*digits)))
        digits = at; /* no address */
    while (digits < end && is_blank(*digits))
        digits++;
    dso = end > digits && end[-1] == ')' ? dso_start(digits, (size_t)(end - digits)) : NULL;
    if (digits == at && !dso)
        return false;
    if (dso) {
        id = dso_of(frames, dso + 1, without_offset(dso + 1, (size_t)(end - dso) - 2));
        end = dso;
    }
    while (end > digits && is_blank(end[-1]))
        end--;
    *ret_plan = plan_of(frames, digits, without_offset(digits, (size_t)(end - digits)), id);
    return true;
}

uint32_t fb_perf_frame_source(struct fb_perf_frames *frames, uint32_t plan, const char *line,
                              size_t len)
{
    struct fb_name_slot *slot;
    const char *colon;
    uint32_t number = 0;
    size_t digits = 0;

    while (len > 0 && is_blank(*line)) {
        line++;
        len--;
    }
    colon = memrchr(line, ':', len);
    if (!colon || colon == line || plan == 0 || memchr(line, '(', len))
        return plan;
    for (const char *at = colon + 1; at < line + len; at++, digits++) {
        if (*at < '0' || *at > '9' || digits > 8)
            return plan;
        number = number * 10 + (uint32_t)(*at - '0');
    }
    if (digits == 0 || number == 0)
        return plan;
    slot = fb_name_cache_at(&frames->sources, plan, line, len);
    if (slot->value == 0) {
        fb_vec_reserve(&frames->plans, &frames->plans_room, frames->plans_count + 1,
                       sizeof *frames->plans);
        slot->value = (uint32_t)frames->plans_count;
        frames->plans[frames->plans_count] = frames->plans[plan];
        frames->plans[frames->plans_count].file = slot->text;
        frames->plans[frames->plans_count].file_len = (size_t)(colon - line);
        frames->plans[frames->plans_count].line = number;
        frames->plans[frames->plans_count++].frame = 0;
    }
    return slot->value;
}

/* ---- into the profile ---- */

/* "[unknown] libx.so", as functions without a name are called everywhere. */
static uint32_t unknown_name(struct fb_profile *p, const struct fb_perf_dso *dso)
{
    struct fb_buf text = {0};
    uint32_t name;

    if (dso->kind == FB_FRAME_JIT) {
        fb_buf_puts(&text, "[unknown jit]");
    } else if (dso->kind == FB_FRAME_KERNEL) {
        fb_buf_puts(&text, "[kernel]");
    } else {
        fb_buf_puts(&text, "[unknown]");
        if (!dso->is_unknown) {
            const char *slash = memrchr(dso->path, '/', dso->len);
            const char *base = slash ? slash + 1 : dso->path;

            fb_buf_putc(&text, ' ');
            fb_buf_add(&text, base, (size_t)(dso->path + dso->len - base));
        }
    }
    name = fb_strings_put(&p->strings, text.data, text.len);
    fb_buf_done(&text);
    return name;
}

/* "Lorg/x/Y;::run", "Lorg/x/Y;run(I)V" and (cut by somebody) "Lorg/x/Y::run" to "org/x/Y.run"; 0
 * where it is no such name. */
static uint32_t java_name(struct fb_profile *p, const char *symbol, size_t len)
{
    const char *end = symbol + len, *method = memchr(symbol, '(', len), *class_end;
    struct fb_buf text = {0};
    uint32_t name;

    if (len < 2 || symbol[0] != 'L')
        return 0;
    if (method)
        end = method;
    class_end = memchr(symbol, ';', (size_t)(end - symbol));
    if (!class_end && memchr(symbol, '/', (size_t)(end - symbol)))
        class_end = memmem(symbol, (size_t)(end - symbol), "::", 2);
    if (!class_end)
        return 0;
    for (method = class_end; method < end && strchr(";:.", *method);)
        method++;
    if (class_end == symbol + 1 || method == end)
        return 0;
    fb_buf_add(&text, symbol + 1, (size_t)(class_end - symbol) - 1);
    fb_buf_putc(&text, '.');
    fb_buf_add(&text, method, (size_t)(end - method));
    name = fb_strings_put(&p->strings, text.data, text.len);
    fb_buf_done(&text);
    return name;
}

static fb_frame_id put_one(struct fb_text_part *part, const struct fb_perf_plan *plan,
                           const struct fb_perf_dso *dso, const char *symbol, size_t len,
                           bool is_inlined)
{
    struct fb_profile *p = part->p;
    struct fb_frame f = {.kind = is_inlined ? FB_FRAME_INLINED : dso->kind};

    if (!dso->is_unknown)
        f.module = fb_text_module_put(part, dso->path, dso->len);
    if (len == 0 || (len == 9 && memcmp(symbol, "[unknown]", 9) == 0))
        f.name = unknown_name(p, dso);
    else if (dso->kind == FB_FRAME_JIT)
        f.name = java_name(p, symbol, len);
    if (f.name == 0)
        f.name = fb_strings_put(&p->strings, symbol, len);
    f.file = fb_strings_put(&p->strings, plan->file, plan->file_len);
    f.line = plan->line;
    return fb_profile_frame_put(p, &f);
}

fb_stack_id fb_perf_frame_put(struct fb_perf_frames *frames, struct fb_text_part *part,
                              fb_stack_id stack, uint32_t id)
{
    struct fb_perf_plan *plan = &frames->plans[id];
    const struct fb_perf_dso *dso;
    size_t at = 0;

    if (plan->frame != 0)
        return fb_profile_stack_put(part->p, stack, (fb_frame_id){plan->frame});
    dso = &frames->all[plan->dso];
    for (;;) {
        const char *arrow =
            dso->kind == FB_FRAME_JIT ? memmem(plan->symbol + at, plan->len - at, "->", 2) : NULL;
        size_t end = arrow ? (size_t)(arrow - plan->symbol) : plan->len;
        fb_frame_id frame = put_one(part, plan, dso, plan->symbol + at, end - at, at > 0);

        stack = fb_profile_stack_put(part->p, stack, frame);
        if (!arrow && at == 0)
            plan->frame = frame.n;
        if (!arrow || end + 2 >= plan->len)
            return stack;
        at = end + 2;
    }
}

fb_stack_id fb_perf_comm_put(struct fb_perf_frames *frames, struct fb_profile *p, const char *comm,
                             size_t len)
{
    struct fb_name_slot *slot = fb_name_cache_at(&frames->comms, 0, comm, len);
    struct fb_frame f = {.kind = FB_FRAME_MARK};

    if (len == 0)
        return FB_STACK_ROOT;
    if (slot->value == 0) {
        f.name = fb_strings_put(&p->strings, comm, len);
        slot->value = fb_profile_frame_put(p, &f).n;
    }
    return fb_profile_stack_put(p, FB_STACK_ROOT, (fb_frame_id){slot->value});
}
