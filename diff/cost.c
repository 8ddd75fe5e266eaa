/* cost.c - ms = U/D is a ratio estimator too: per second, ln(U/D) has the residual
 * u_s/U - d_s/D (Cochran, 6.3), with d_s = D/S for an open-loop generator. */
#include "diff/cost.h"

#include <math.h>

static double longest_block_se(const double *cpu, size_t cells, double total)
{
    size_t length = cells >= 50 ? 10 : cells >= 25 ? 5 : 1, count = cells / length;
    double sum = 0, e = 0;

    for (size_t i = 0; i < cells; i++) {
        e += cpu[i] / total - 1 / (double)cells;
        if ((i + 1) % length == 0 && (i + 1) / length < count) {
            sum += e * e;
            e = 0;
        }
    }
    sum += e * e;
    return sqrt(sum * (double)count / (double)(count - 1));
}

void fb_cost_measure(const double *cpu, size_t cells, double cpu_s, double delivered,
                     struct fb_cost *ret_cost)
{
    struct fb_cost c = {.ms = NAN, .se = NAN};
    double total = 0;

    if (cpu_s > 0 && delivered > 0)
        c.ms = cpu_s * 1000 / delivered;
    for (size_t i = 0; i < cells; i++)
        total += cpu[i];
    if (cells >= 5 && total > 0)
        c.se = longest_block_se(cpu, cells, total);
    *ret_cost = c;
}
