/* Does a 95 % interval hold the truth 95 times of 100?  Simulated windows of 110 s at 80 samples a
 * second; seeds are fixed, so the printed table is always the same. */
#include "diff/cost.h"
#include "diff/distribution.h"
#include "diff/share.h"
#include "diff/verdict.h"
#include "world.h"

enum { SECONDS = 110, WINDOWS = 1500, TRUTH_WINDOWS = 4000 };

struct process {
    const char *name;
    double p;       /* nominal share                                       */
    double rho, sd; /* AR(1) over seconds of ln(share)                     */
    double load_sd; /* ... and of ln(samples a second)                     */
    bool is_bursty; /* all of the layer in bursts of 0.2-2 s at 60 %       */
    double least;   /* coverage that the method promises, %                */
};

/* `least`: 95 where the method claims it; the measured values of docs/statistics.md where seconds
 * depend on each other for longer than the blocks are. */
static const struct process processes[] = {
    {"independent, 20 %", 0.20, 0, 0, 0, false, 95},
    {"independent, 0.5 %", 0.005, 0, 0, 0, false, 95},
    {"independent seconds, 20 %", 0.20, 0, 0.3, 0.15, false, 95},
    {"AR(1) 0.5, 20 %", 0.20, 0.5, 0.3, 0.15, false, 95},
    {"AR(1) 0.5, 5 %", 0.05, 0.5, 0.3, 0.15, false, 95},
    {"AR(1) 0.8, 20 %", 0.20, 0.8, 0.3, 0.15, false, 93.7},
    {"AR(1) 0.8, 5 %", 0.05, 0.8, 0.3, 0.15, false, 92},
    {"AR(1) 0.9, 20 %", 0.20, 0.9, 0.3, 0.15, false, 90.6},
    {"bursts, 5 %", 0.05, 0, 0, 0, true, 94.3},
};

static void ar1(struct world_random *r, double rho, double sd, double *x)
{
    x[0] = sd * world_normal(r);
    for (int i = 1; i < SECONDS; i++)
        x[i] = rho * x[i - 1] + sd * sqrt(1 - rho * rho) * world_normal(r);
}

static void bursts(struct world_random *r, double p, double *share)
{
    unsigned count = world_poisson(r, p / (0.6 * 1.1) * SECONDS);

    memset(share, 0, SECONDS * sizeof *share);
    for (unsigned i = 0; i < count; i++) {
        double from = world_uniform(r) * SECONDS, to = from + 0.2 + 1.8 * world_uniform(r);

        for (int s = (int)from; s < to; s++)
            share[s % SECONDS] += 0.6 * (fmin(s + 1, to) - fmax(s, from));
    }
}

/* One window: x of n samples by second. */
static void window_draw(struct world_random *r, const struct process *p, double *x, double *n)
{
    double load[SECONDS], share[SECONDS];

    if (p->is_bursty) {
        bursts(r, p->p, share);
        memset(load, 0, sizeof load);
    } else {
        ar1(r, p->rho, p->load_sd, load);
        ar1(r, p->rho, p->sd, share);
        for (int s = 0; s < SECONDS; s++)
            share[s] = p->p * exp(share[s]);
    }
    for (int s = 0; s < SECONDS; s++) {
        n[s] = world_poisson(r, fmin(150, 80 * exp(load[s])));
        x[s] = world_binomial(r, (unsigned)n[s], fmin(0.98, share[s]));
    }
}

static double sum_of(const double *x)
{
    double sum = 0;

    for (int s = 0; s < SECONDS; s++)
        sum += x[s];
    return sum;
}

static void share_of(const double *x, const double *n, const double *cpu, struct fb_share *ret)
{
    uint32_t cells[SECONDS];
    double values[SECONDS], all = sum_of(n);
    struct fb_series series = {.cell = cells, .x = values};
    struct fb_grid grid;

    for (uint32_t s = 0; s < SECONDS; s++)
        if (x[s] > 0) {
            cells[series.hits] = s;
            values[series.hits++] = x[s];
        }
    series.weight = series.samples = sum_of(x);
    fb_grid_init(&grid, n, SECONDS, all, all, all);
    if (cpu)
        fb_grid_set_cost(&grid, cpu);
    fb_share_measure(&grid, &series, FB_FLOOR_PLAIN, ret);
    fb_grid_done(&grid);
}

/* The least count of successes that chance would undercut once in 200 processes. */
static double least_count(double percent)
{
    double k = 0;

    while (fb_binomial_cdf(k, WINDOWS, percent / 100) < 0.005)
        k++;
    return k;
}

static void shares_are_covered_as_promised(void **state)
{
    (void)state;
    print_message("%-28s %8s %8s %9s %9s\n", "process", "truth %", "cover %", "half, pt",
                  "binomial");
    for (size_t i = 0; i < sizeof processes / sizeof *processes; i++) {
        const struct process *p = &processes[i];
        struct world_random r = {1000 + i};
        double x[SECONDS], n[SECONDS], truth_x = 0, truth_n = 0, truth, half = 0;
        int covered = 0, binomial = 0;

        for (int w = 0; w < TRUTH_WINDOWS; w++) {
            window_draw(&r, p, x, n);
            truth_x += sum_of(x);
            truth_n += sum_of(n);
        }
        truth = truth_x / truth_n;
        for (int w = 0; w < WINDOWS; w++) {
            struct fb_share s;

            window_draw(&r, p, x, n);
            share_of(x, n, NULL, &s);
            covered += s.lo <= truth && truth <= s.hi;
            binomial += fabs(s.p - truth) <= 1.96 * sqrt(s.p * (1 - s.p) / sum_of(n));
            half += (s.hi - s.lo) / 2 / WINDOWS;
        }
        print_message("%-28s %8.3f %8.1f %9.3f %9.1f\n", p->name, 100 * truth,
                      100.0 * covered / WINDOWS, 100 * half, 100.0 * binomial / WINDOWS);
        assert_true(covered >= least_count(p->least));
    }
}

/* ms per request: CPU by second wanders with the layer (corr) or apart from it. */
static void cost_window(struct world_random *r, double rho, double corr, double *x, double *n,
                        double *cpu)
{
    double a[SECONDS], b[SECONDS];

    ar1(r, rho, 1, a);
    ar1(r, rho, 1, b);
    for (int s = 0; s < SECONDS; s++) {
        double u = 0.8 * exp(0.1 * (corr * a[s] + sqrt(1 - corr * corr) * b[s]));

        cpu[s] = u * 1e9;
        n[s] = world_poisson(r, 100 * u);
        x[s] = world_binomial(r, (unsigned)n[s], fmin(0.98, 0.2 * exp(0.3 * a[s])));
    }
}

static void ms_per_request_is_covered_as_promised(void **state)
{
    static const struct {
        double rho, corr, least;
    } rows[] = {{0, 0, 95}, {0.5, 0, 94}, {0.5, 0.7, 94}, {0.5, -0.7, 94}, {0.8, 0.7, 83}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world_random r = {2000 + i};
        double x[SECONDS], n[SECONDS], cpu[SECONDS], truth = 0;
        int covered = 0, fixed = 0;

        for (int w = 0; w < TRUTH_WINDOWS; w++) {
            cost_window(&r, rows[i].rho, rows[i].corr, x, n, cpu);
            truth += sum_of(x) / 100 / SECONDS / TRUTH_WINDOWS;
        }
        for (int w = 0; w < WINDOWS; w++) {
            struct fb_share s;
            double cost;

            cost_window(&r, rows[i].rho, rows[i].corr, x, n, cpu);
            share_of(x, n, cpu, &s);
            cost = s.p * sum_of(cpu) / 1e9 / SECONDS;
            covered += fabs(cost - truth) <= cost * s.ln_half_cost;
            fixed += fabs(cost - truth) <= cost * 1.96 * sqrt((1 - s.p) / (s.p * sum_of(n)));
        }
        print_message("ms, AR(1) %.1f, correlation %+.1f: cover %.1f %%, binomial share alone %.1f "
                      "%%\n",
                      rows[i].rho, rows[i].corr, 100.0 * covered / WINDOWS,
                      100.0 * fixed / WINDOWS);
        assert_true(covered >= least_count(rows[i].least));
    }
}

/* k pairs over six healthy steps, by summary: runs differ by run_sd in every value, windows by
 * within_sd; the truth is d. */
struct pairs_outcome {
    double covered, diffs, same, half;
};

static void pairs_draw(struct world_random *r, size_t k, double run_sd, double within_sd, double d,
                       struct pairs_outcome *sum)
{
    enum { STEPS = 6, DRAWS = 4000 };

    *sum = (struct pairs_outcome){0};
    for (int draw = 0; draw < DRAWS; draw++) {
        double x[STEPS][8], half[8];
        struct fb_evidence e = {.half = half, .pairs = k, .tau = 0.015, .delta = 0.05};
        struct fb_judged j;

        for (int step = 0; step < STEPS; step++) {
            double mean = 0;

            for (size_t i = 0; i < k; i++) {
                x[step][i] = d + M_SQRT2 * hypot(run_sd, within_sd) * world_normal(r);
                half[i] = 2.0796138 * M_SQRT2 * within_sd;
                mean += x[step][i] / (double)k;
            }
            for (size_t i = 0; i < k; i++)
                e.pooled_sum2 += pow(x[step][i] - mean, 2);
            e.pooled_df += (double)k - 1;
        }
        e.d = x[0];
        fb_verdict_judge(&e, &j);
        sum->covered += fabs(j.d - d) <= j.half ? 100.0 / DRAWS : 0;
        sum->diffs += j.verdict == FB_VERDICT_DIFF ? 100.0 / DRAWS : 0;
        sum->same += j.verdict == FB_VERDICT_SAME ? 100.0 / DRAWS : 0;
        sum->half += j.half * 100 / DRAWS;
    }
}

static void pairs_are_covered_and_equivalence_is_not_claimed_lightly(void **state)
{
    static const double power[] = {0, 42, 72, 88}; /* % SAME of equal arms, by pairs, at least */
    struct world_random r = {5000};

    (void)state;
    for (size_t k = 1; k <= 3; k++) {
        struct pairs_outcome equal, apart, noisy;

        pairs_draw(&r, k, 0.015, 0.003, 0, &equal);
        pairs_draw(&r, k, 0.015, 0.003, 0.05, &apart);
        pairs_draw(&r, k, 0.015, 0.04, 0, &noisy);
        print_message("%zu pairs: half %.1f %%, cover %.1f %%; equal arms SAME %.0f %%, DIFF %.1f "
                      "%%; arms 5 %% apart SAME %.1f %%; a noisy layer: half %.1f %%, cover %.1f "
                      "%%\n",
                      k, equal.half, equal.covered, equal.same, equal.diffs, apart.same, noisy.half,
                      noisy.covered);
        assert_true(equal.covered >= 94.2 && noisy.covered >= 94.2); /* 95 less 2.3 sd */
        assert_true(apart.same <= 5.8 && equal.diffs <= 5.8);
        assert_true(equal.same >= power[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_covered_as_promised),
        cmocka_unit_test(ms_per_request_is_covered_as_promised),
        cmocka_unit_test(pairs_are_covered_and_equivalence_is_not_claimed_lightly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
