/* h2load --log-file: a line a request, between tabs: when it was sent (epoch, us), its HTTP status
 * (-1: none), how long it took (us); newer versions have more columns behind. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "steps/lines.h"
#include "steps/read/readers.h"
#include "steps/requests.h"

/* A whole number at *at and the tab behind it (or the end); false for anything else. */
static bool number_take(const char **at, int64_t *ret_value)
{
    bool negative = **at == '-';
    int64_t value = 0;
    int digits = 0;

    for (*at += negative ? 1 : 0; isdigit((unsigned char)**at); ++*at, digits++) {
        if (digits == 18)
            return false;
        value = value * 10 + (**at - '0');
    }
    if (digits == 0 || (**at != '\t' && **at != '\0'))
        return false;
    *at += **at == '\t' ? 1 : 0;
    *ret_value = negative ? -value : value;
    return true;
}

static bool line_take(const char *line, int64_t *ret_sent_us, int64_t *ret_status,
                      int64_t *ret_latency_us)
{
    return number_take(&line, ret_sent_us) && number_take(&line, ret_status) &&
           number_take(&line, ret_latency_us) && *ret_sent_us > INT64_C(100000000000000) &&
           *ret_sent_us < INT64_C(9000000000000000) && *ret_latency_us >= 0;
}

static bool sniff(const char *head, size_t n)
{
    char line[200];
    size_t len = 0;
    int64_t sent, status, latency;

    while (len < n && len + 1 < sizeof line && head[len] != '\n' && head[len] != '\r') {
        line[len] = head[len];
        len++;
    }
    line[len] = '\0';
    return line_take(line, &sent, &status, &latency);
}

static enum fb_status line_read(void *context, const char *line, size_t number, struct fb_err *err)
{
    struct fb_requests *q = context;
    int64_t sent_us, status, latency_us;

    if (*line == '\0')
        return FB_OK;
    if (!line_take(line, &sent_us, &status, &latency_us)) {
        fb_steps_warn(
            q->steps,
            "line %zu: a time, a status and a duration between tabs were expected: left out",
            number);
        return FB_OK;
    }
    return fb_requests_add(q, sent_us * 1000, (double)latency_us / 1e6,
                           fb_request_outcome((double)status), err);
}

static enum fb_status read_all(struct fb_source *source, struct fb_steps *steps, struct fb_err *err)
{
    struct fb_requests q;
    enum fb_status r;

    fb_requests_init(&q, steps);
    r = fb_lines_each(source, line_read, &q, err);
    if (r == FB_OK)
        r = fb_requests_finish(&q, err);
    fb_requests_done(&q);
    return r;
}

const struct fb_steps_reader fb_steps_reader_h2load_log = {
    .name = "h2load-log",
    .what = "the lines of `h2load --log-file`",
    .has_generator = true,
    .sniff = sniff,
    .read = read_all,
};
