/* surroundings.c - see surroundings.h; the formats are those of proc(5). */
#include "sampler/surroundings.h"

#include <string.h>
#include <unistd.h>

#include "sampler/text.h"

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks of the user HZ;
 * guest time is part of user time. */
const char *fb_cpu_times_parse(const char *line, struct fb_cpu_times *ret_times, int *ret_cpu)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t v[FIELDS];
    const char *at = line + 3;
    const char *end;

    if (strncmp(line, "cpu", 3) != 0 || (end = strchr(line, '\n')) == NULL)
        return NULL;
    *ret_cpu = *at == ' ' ? -1 : (int)(fb_text_number(at, &at) & 0xffff);
    for (int i = 0; i < FIELDS; i++) {
        const char *from;

        while (*at == ' ')
            at++;
        from = at;
        v[i] = fb_text_number(at, &at) * tick_ns;
        if (at == from)
            return NULL;
    }
    ret_times->busy = v[USER] + v[NICE] + v[SYSTEM] + v[IRQ] + v[SOFTIRQ] + v[STEAL];
    ret_times->softirq = v[SOFTIRQ];
    ret_times->steal = v[STEAL];
    ret_times->idle = v[IDLE] + v[IOWAIT];
    return end + 1;
}

bool fb_pressure_parse(const char *text, uint64_t *ret_some_ns)
{
    const char *end = strchr(text, '\n');
    const char *total = strstr(text, " total=");
    const char *after;
    uint64_t us;

    if (strncmp(text, "some ", 5) != 0 || end == NULL || total == NULL || total > end)
        return false;
    us = fb_text_number(total + 7, &after);
    *ret_some_ns = us * 1000;
    return after == end;
}

/* The second line that begins with "Tcp:" has the values; CurrEstab is the ninth. */
bool fb_established_parse(const char *text, uint64_t *ret_count)
{
    enum { CURR_ESTAB = 9 };
    const char *at = strstr(text, "\nTcp: ");
    const char *after;

    if (at == NULL || (at = strstr(at + 1, "\nTcp: ")) == NULL)
        return false;
    at += 5;
    for (int i = 1; i < CURR_ESTAB && at != NULL; i++)
        at = strpbrk(at + 1, " \n");
    if (at == NULL || *at != ' ')
        return false;
    *ret_count = fb_text_number(at + 1, &after);
    return after != at + 1 && (*after == ' ' || *after == '\n');
}
