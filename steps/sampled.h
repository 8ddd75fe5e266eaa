/* sampled.h - how many samples of a profile lie between two times, and what they weigh, without a
 * look at every sample for every step.
 *
 *     sampled = fb_sampled_new(profile);             once; the profile's samples may not change
 *     sum = fb_sampled_between(sampled, from, to);   as often as there are steps
 *     fb_sampled_free(sampled);
 *
 * Samples of a bank are in order thread by thread, not over all.  They are put into cells of equal
 * time, 16 in each on average; a question adds up whole cells by two sums from the start, and looks
 * at the samples of the two cells at its ends alone.  Sums are whole numbers, so that the answer is
 * that of a scan.  Cost: two passes over the samples, and 10 bytes a sample while it lives. */
#ifndef FB_STEPS_SAMPLED_H
#define FB_STEPS_SAMPLED_H

#include "profile/profile.h"

struct fb_sampled_sum {
    uint64_t count, weight; /* samples, and the sum of their weights */
};

struct fb_sampled;

struct fb_sampled *fb_sampled_new(const struct fb_profile *p);
void fb_sampled_free(struct fb_sampled *s);

/* Of the samples with from_ns <= time < to_ns; none where the span is empty. */
struct fb_sampled_sum fb_sampled_between(const struct fb_sampled *s, int64_t from_ns,
                                         int64_t to_ns);
/* Of all. */
struct fb_sampled_sum fb_sampled_all(const struct fb_sampled *s);

#endif
