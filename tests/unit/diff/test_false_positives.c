/* How often is a difference claimed where there is none?  Simulated pairs of the SAME arm, whose
 * runs differ as real runs do, and families of frames of which few really moved.  Fixed seeds. */
#include "diff/distribution.h"
#include "diff/frames.h"
#include "diff/share.h"
#include "diff/verdict.h"
#include "world.h"

enum { SECONDS = 110, PAIRS = 1500, FRAMES = 400, DIFFS = 150, REAL = 15 };

/* ---- layers ---- */

static double sum_of(const double *x)
{
    double sum = 0;

    for (int s = 0; s < SECONDS; s++)
        sum += x[s];
    return sum;
}

/* A window of a run whose share is p, correlated over seconds. */
static void run_draw(struct world_random *r, double p, double rho, struct fb_share *ret_share)
{
    double x[SECONDS], n[SECONDS], a = world_normal(r), values[SECONDS], all;
    uint32_t cells[SECONDS];
    struct fb_series series = {.cell = cells, .x = values};
    struct fb_grid grid;

    for (int s = 0; s < SECONDS; s++) {
        n[s] = world_poisson(r, 80);
        x[s] = world_binomial(r, (unsigned)n[s], p * exp(0.15 * a));
        a = rho * a + sqrt(1 - rho * rho) * world_normal(r);
    }
    for (uint32_t s = 0; s < SECONDS; s++)
        if (x[s] > 0) {
            cells[series.hits] = s;
            values[series.hits++] = x[s];
        }
    all = sum_of(n);
    series.weight = series.samples = sum_of(x);
    fb_grid_init(&grid, n, SECONDS, all, all, all);
    fb_share_measure(&grid, &series, FB_FLOOR_PLAIN, ret_share);
    fb_grid_done(&grid);
}

/* Native runs of one arm differ by 4.8 % (sd) in a layer's share; the floor is 5 %. */
static void one_pair_of_equal_arms_is_a_diff_in_five_of_a_hundred_at_most(void **state)
{
    static const struct {
        double p, rho;
    } rows[] = {{0.2, 0}, {0.2, 0.5}, {0.05, 0}, {0.05, 0.5}, {0.01, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world_random r = {3000 + i};
        int diffs = 0, naive = 0, same = 0;
        double allowed = 0;

        for (int pair = 0; pair < PAIRS; pair++) {
            struct fb_share c, v;
            struct fb_judged j;
            double d, half;
            struct fb_evidence e = {.d = &d, .half = &half, .pairs = 1, .delta = 0.10};

            run_draw(&r, rows[i].p * exp(0.048 * world_normal(&r)), rows[i].rho, &c);
            run_draw(&r, rows[i].p * exp(0.048 * world_normal(&r)), rows[i].rho, &v);
            d = log(v.p / c.p);
            half = fb_verdict_pair_half(c.ln_half, v.ln_half);
            e.tau = fb_floor_share(NULL, FB_FLOOR_PLAIN, rows[i].p, false);
            fb_verdict_judge(&e, &j);
            diffs += j.verdict == FB_VERDICT_DIFF;
            same += j.verdict == FB_VERDICT_SAME;
            naive += fabs(d) > 1.96 * sqrt((1 - c.p) / c.samples + (1 - v.p) / v.samples);
        }
        while (fb_binomial_cdf(allowed, PAIRS, 0.05) < 0.99)
            allowed++;
        print_message(
            "layer of %4.1f %%, AR(1) %.1f: DIFF %.1f %%, SAME %.1f %%; binomial interval "
            "%.1f %%\n",
            100 * rows[i].p, rows[i].rho, 100.0 * diffs / PAIRS, 100.0 * same / PAIRS,
            100.0 * naive / PAIRS);
        assert_true(diffs <= allowed);
    }
}

/* ---- frames ---- */

/* Shares like 1/rank; one in ten comes in clusters of six; REAL of the first sixty moved. */
struct family {
    double share[FRAMES], effect[FRAMES];
    int cluster[FRAMES];
};

static void family_draw(struct world_random *r, double factor, struct family *f)
{
    double all = 0;

    for (int i = 0; i < FRAMES; i++) {
        f->share[i] = 1 / (double)(i + 1);
        all += f->share[i];
        f->cluster[i] = world_uniform(r) < 0.1 ? 6 : 1;
        f->effect[i] = 1;
    }
    for (int i = 0; i < FRAMES; i++)
        f->share[i] *= 0.9 / all;
    for (int i = 0; i < REAL;) {
        int at = 3 + (int)(world_uniform(r) * 57);

        if (f->effect[at] != 1)
            continue;
        f->effect[at] = world_uniform(r) < 0.5 ? factor : 1 / factor;
        i++;
    }
}

/* One frame of one run of 10,000 samples; *hits are its seconds. */
static void frame_draw(struct world_random *r, const struct fb_grid *grid, double share,
                       int cluster, struct fb_frame_run *run, double *hits)
{
    double x[SECONDS] = {0}, values[SECONDS];
    uint32_t cells[SECONDS];
    struct fb_series s = {.cell = cells, .x = values};
    unsigned events = world_poisson(r, share * grid->observations / cluster);

    for (unsigned i = 0; i < events; i++)
        x[(int)(world_uniform(r) * SECONDS)] += cluster;
    for (uint32_t i = 0; i < SECONDS; i++)
        if (x[i] > 0) {
            cells[s.hits] = i;
            values[s.hits++] = x[i];
        }
    s.weight = s.samples = (double)events * cluster;
    *hits += (double)s.hits;
    *run = (struct fb_frame_run){.p = s.weight / grid->weight,
                                 .samples = s.samples,
                                 .n = grid->effective,
                                 .block_se = s.hits ? fb_share_block_se(grid, &s, false) : 0,
                                 .cost = 1,
                                 .degrees = grid->degrees};
}

struct outcome {
    double false_part, power, false_frames, naive_part;
};

static void family_judge(struct world_random *r, const struct fb_grid *grid, const struct family *f,
                         size_t k, double run_sd, struct outcome *sum)
{
    double p[FRAMES], naive[FRAMES], tested_p[FRAMES], threshold, naive_threshold;
    size_t tested = 0;
    int found = 0, wrong = 0, naive_found = 0, naive_wrong = 0;

    for (int i = 0; i < FRAMES; i++) {
        struct fb_frame_run c[5], v[5];
        struct fb_frame_test t;
        double hits = 0, samples[2] = {0};

        for (size_t j = 0; j < k; j++) {
            double run_c = exp(run_sd * world_normal(r)), run_v = exp(run_sd * world_normal(r));

            frame_draw(r, grid, f->share[i] * run_c, f->cluster[i], &c[j], &hits);
            frame_draw(r, grid, f->share[i] * run_v * f->effect[i], f->cluster[i], &v[j], &hits);
            samples[0] += c[j].samples;
            samples[1] += v[j].samples;
        }
        p[i] = 2;
        naive[i] =
            fb_t_two_sided((samples[1] - samples[0]) / sqrt(fmax(1, samples[0] + samples[1])), 1e6);
        if (samples[0] + samples[1] < FB_FRAMES_SAMPLES_MIN || hits < FB_FRAMES_HITS_MIN)
            continue;
        fb_frame_test_native(c, v, k, fb_floor_frame(NULL), &t);
        tested_p[tested++] = p[i] = t.p_value;
    }
    threshold = fb_frames_threshold(tested_p, tested, 0.05);
    naive_threshold = fb_frames_threshold(naive, FRAMES, 0.05);
    for (int i = 0; i < FRAMES; i++) {
        found += p[i] <= threshold;
        wrong += p[i] <= threshold && f->effect[i] == 1;
        naive_found += naive[i] <= naive_threshold;
        naive_wrong += naive[i] <= naive_threshold && f->effect[i] == 1;
    }
    sum->false_part += found ? (double)wrong / found / DIFFS : 0;
    sum->naive_part += naive_found ? (double)naive_wrong / naive_found / DIFFS : 0;
    sum->power += (double)(found - wrong) / REAL / DIFFS;
    sum->false_frames += (double)wrong / DIFFS;
}

static void frames_keep_the_false_discovery_rate(void **state)
{
    static const struct {
        size_t pairs;
        double run_sd, factor, least_power;
    } rows[] = {{1, 0.03, 1.6, 0},    {1, 0.03, 3, 0.3},   {2, 0.03, 2, 0.25},
                {3, 0.03, 1.6, 0.05}, {5, 0.03, 1.6, 0.4}, {3, 0.12, 1.6, 0.02}};
    double n[SECONDS];
    struct fb_grid grid;

    (void)state;
    for (int s = 0; s < SECONDS; s++)
        n[s] = 10000.0 / SECONDS;
    fb_grid_init(&grid, n, SECONDS, 10000, 10000, 10000);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world_random r = {4000 + i};
        struct outcome sum = {0};

        for (int d = 0; d < DIFFS; d++) {
            struct family f;

            family_draw(&r, rows[i].factor, &f);
            family_judge(&r, &grid, &f, rows[i].pairs, rows[i].run_sd, &sum);
        }
        print_message(
            "%zu pairs, run sd %.0f %%, x %.1f: false part %.3f (binomial p-values %.2f), power "
            "%.2f, false frames a diff %.2f\n",
            rows[i].pairs, 100 * rows[i].run_sd, rows[i].factor, sum.false_part, sum.naive_part,
            sum.power, sum.false_frames);
        assert_true(sum.false_part <= 0.05);
        assert_true(sum.power >= rows[i].least_power);
    }
    fb_grid_done(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pair_of_equal_arms_is_a_diff_in_five_of_a_hundred_at_most),
        cmocka_unit_test(frames_keep_the_false_discovery_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
