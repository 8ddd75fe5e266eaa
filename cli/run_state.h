/* run_state.h - what a run has done, in its folder, so that it can be gone on with.
 *
 *     FOLDER/run.tsv            a line a finished segment: ramp, number, start and end (ns), status
 *     FOLDER/RAMP.NN-STEP.out   what the generator printed (.log: on stderr)
 *     FOLDER/RAMP.tsv           the steps of a ramp, as every command takes them
 *     FOLDER/RAMP.on.tsv, .off.tsv    with --toggle: the same by the state of the lever */
#ifndef FB_CLI_RUN_STATE_H
#define FB_CLI_RUN_STATE_H

#include <stdint.h>

#include "cli/run_plan.h"

struct fb_run_done { /* of a segment */
    bool is_done;
    int64_t start_ns, end_ns;
    int status; /* of the generator */
};

/* Makes the folder or reads what is in it: *ret_done has one for each segment, yours.  Fails where
 * the folder is of another plan. */
enum fb_status fb_run_state_open(const struct fb_run_plan *plan, struct fb_run_done **ret_done,
                                 struct fb_err *err);
enum fb_status fb_run_state_add(const struct fb_run_plan *plan, const struct fb_run_segment *s,
                                const struct fb_run_done *done, struct fb_err *err);

/* "FOLDER/control-1.fbank", "FOLDER/control-1.03-600.out"; yours. */
char *fb_run_path(const struct fb_run_plan *plan, size_t ramp, const char *ending);
char *fb_run_output(const struct fb_run_plan *plan, const struct fb_run_segment *s,
                    const char *ending);

/* Writes the tables of a ramp anew from what is done.  *ret_unknown: steps whose output no reader
 * takes. */
enum fb_status fb_run_tables_write(const struct fb_run_plan *plan, size_t ramp,
                                   const struct fb_run_done *done, size_t *ret_unknown,
                                   struct fb_err *err);

#endif
