#include "steps/times.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Days from 1970-01-01 to a date of the Gregorian calendar; Howard Hinnant's era arithmetic: a year
 * that starts in March has its leap day last. */
static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2 ? 1 : 0), era = y / 400, year_of_era = y - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

/* n digits at *at, then the byte `after` unless that is NUL. */
static bool digits(const char **at, int n, char after, int *ret_value)
{
    int value = 0;

    for (; n > 0; n--, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return false;
        value = value * 10 + (**at - '0');
    }
    if (after && *(*at)++ != after)
        return false;
    *ret_value = value;
    return true;
}

static int64_t fraction_ns(const char **at)
{
    int64_t ns = 0, unit = 100000000;

    if (**at != '.')
        return 0;
    for ((*at)++; isdigit((unsigned char)**at); (*at)++, unit /= 10)
        ns += (**at - '0') * unit;
    return ns;
}

/* "Z", "+02:00", "-0530" at the end. */
static bool zone(const char *at, int *ret_minutes)
{
    int sign = *at == '-' ? -1 : 1, hours, minutes;

    *ret_minutes = 0;
    if (strcmp(at, "Z") == 0 || strcmp(at, "z") == 0)
        return true;
    if (*at != '+' && *at != '-')
        return false;
    at++;
    if (!digits(&at, 2, '\0', &hours))
        return false;
    if (*at == ':')
        at++;
    if (!digits(&at, 2, '\0', &minutes) || *at != '\0')
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

static bool iso_parse(const char *at, int64_t *ret_ns)
{
    int year, month, day, hour, minute, second, offset;
    int64_t ns, seconds;

    if (!digits(&at, 4, '-', &year) || !digits(&at, 2, '-', &month) ||
        !digits(&at, 2, '\0', &day) || (*at != 'T' && *at != ' '))
        return false;
    at++;
    if (!digits(&at, 2, ':', &hour) || !digits(&at, 2, ':', &minute) ||
        !digits(&at, 2, '\0', &second))
        return false;
    ns = fraction_ns(&at);
    if (!zone(at, &offset) || year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 ||
        day > 31 || hour > 23 || minute > 59 || second > 60)
        return false;
    seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *ret_ns = (seconds - (int64_t)offset * 60) * 1000000000 + ns;
    return true;
}

/* In whole numbers throughout: a double has no room for nanoseconds of the epoch.  Digits beyond
 * the nanosecond are cut. */
static bool epoch_parse(const char *at, int64_t *ret_ns)
{
    int64_t whole = 0, unit, place, ns = 0;

    for (; isdigit((unsigned char)*at); at++) {
        if (whole > INT64_MAX / 10 - 1)
            return false;
        whole = whole * 10 + (*at - '0');
    }
    /* seconds, milliseconds, microseconds or nanoseconds, by their size */
    unit = whole < 100000000000         ? 1000000000
           : whole < 100000000000000    ? 1000000
           : whole < 100000000000000000 ? 1000
                                        : 1;
    place = unit;
    if (*at == '.')
        for (at++; isdigit((unsigned char)*at); at++)
            ns += (*at - '0') * (place /= 10);
    if (*at != '\0' || whole == 0 || whole > INT64_MAX / unit - 1)
        return false;
    *ret_ns = whole * unit + ns;
    return true;
}

bool fb_time_parse(const char *text, int64_t *ret_ns)
{
    if (strlen(text) > 10 && text[4] == '-')
        return iso_parse(text, ret_ns);
    return isdigit((unsigned char)*text) && epoch_parse(text, ret_ns);
}

bool fb_duration_parse(const char *text, double *ret_s)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"m", 60}, {"h", 3600}};
    char *end;
    double value;

    if (!isdigit((unsigned char)*text))
        return false;
    value = strtod(text, &end);
    if (!isfinite(value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) == 0) {
            *ret_s = value * units[i].seconds;
            return true;
        }
    }
    return false;
}
