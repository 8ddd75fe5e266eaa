/* tree.h - the call tree of all pictures, embedded: one tree, and an amount by picture and side.
 *
 *     fb_report_tree_init(&tree, in, pictures, count);
 *     fb_report_tree_put(&tree, &binary);              varints, below
 *     fb_report_functions_put(&tree, &json);           names, as JSON
 *     tree.box_of_node[n]                              for samples by time
 *     fb_report_tree_done(&tree);
 *
 * A picture is a step (or all healthy ones, or the whole run) of one arm or of two.  All of the
 * tree is embedded where it is not too large for the page; else its widest nodes, by the sum of
 * their shares in all pictures and runs, and what is on them and not embedded is one box "other (n
 * frames)", with its amount in each picture, so that Σ self is the weight of the picture on both
 * sides.
 *
 * The binary part, all numbers LEB128:
 *     boxes                       the root is box 0
 *     for each box but the root   up, function + 1, layer + 1; pre-order, `up` the levels from the
 *                                 box before it to its parent; function 0: an "other", and then
 *                                 its frames
 *     for each picture            for each of its sides: entries, then (box - last box, weight);
 *                                 in a diff then boxes whose inclusive change is real: entries,
 *                                 (box - last); and the same for self; then of inclusive and of
 * self the intervals of the change of the widest boxes: entries, (box - last, its ends as a change
 * in tenths of a per cent, + 1000) */
#ifndef FB_RENDER_REPORT_TREE_H
#define FB_RENDER_REPORT_TREE_H

#include "render/flame_layout.h"
#include "render/report/report.h"

struct fb_report_picture {
    char *name;
    size_t step;     /* of the diff or the arm; SIZE_MAX: more than one                    */
    double *self[2]; /* weight by node of the call tree; [1] NULL: one arm                 */
    uint8_t *total_is_real, *self_is_real; /* NULL for one arm                              */
    struct fb_diff_interval *total_change, *self_change; /* the same                        */
    double weight[2], ms[2]; /* ms per request; NAN unknown                   */
    bool is_judged, on_ms;
};

struct fb_report_tree {
    const struct fb_report_input *in;
    const struct fb_report_picture *pictures;
    size_t pictures_count;
    struct fb_flame_layout layout;
    uint32_t *box_of_node; /* UINT32_MAX: in no picture                                     */
    uint32_t *functions;   /* those of the boxes, in order of appearance                   */
    uint32_t *number_of;   /* by function: its place there                                 */
    size_t functions_count;
};

/* The pictures of a diff or of one arm; free with fb_report_pictures_free(). */
struct fb_report_picture *fb_report_pictures_make(const struct fb_report_input *in,
                                                  size_t *ret_count);
void fb_report_pictures_free(struct fb_report_picture *pictures, size_t count);

void fb_report_tree_init(struct fb_report_tree *tree, const struct fb_report_input *in,
                         const struct fb_report_picture *pictures, size_t count);
void fb_report_tree_put(const struct fb_report_tree *tree, struct fb_buf *out);
/* "functions": {"name": [...], ...}, "pictures": [...]; members of an object. */
void fb_report_tree_json(const struct fb_report_tree *tree, struct fb_buf *out);
void fb_report_tree_done(struct fb_report_tree *tree);

void fb_report_varint(struct fb_buf *out, uint64_t v);
/* A finite number, or null. */
void fb_report_number(struct fb_buf *out, double v);
void fb_report_string(struct fb_buf *out, const char *text);

#endif
