#include "cli/one_profile.h"

#include <stdlib.h>

#include "cli/account.h"
#include "cli/say.h"

static void note_clock(struct fb_table *table, const struct fb_profile *p)
{
    char *text = fb_account_clock(p);

    if (text)
        fb_table_note(table, text);
    free(text);
}

static int say_loaded(const struct fb_args *args, const struct fb_view *view, bool by_layer,
                      fb_table_make make)
{
    const struct fb_step *step;
    struct fb_diff_shares shares;
    struct fb_table *table;
    struct fb_err err;
    double *self;
    char *title;

    if (fb_view_self(args, view, 0, &self, &step, &err) != FB_OK)
        return fb_say_error(&err);
    if (fb_view_shares(args, view, 0, by_layer, &shares, &err) != FB_OK) {
        free(self);
        return fb_say_error(&err);
    }
    title = fb_view_title(view, 0, step);
    table = make(args, view, self, &shares, title);
    note_clock(table, view->arms[0].profile);
    free(title);
    free(self);
    fb_diff_shares_done(&shares);
    return fb_say_tables(args, &table, 1);
}

int fb_say_one_profile(const struct fb_args *args, bool by_layer, fb_table_make make)
{
    struct fb_view view;
    struct fb_err err;
    int status;

    if (fb_view_load(args, FB_VIEW_NEEDS_PROFILE | FB_VIEW_LAYERS, &view, &err) != FB_OK)
        return fb_say_error(&err);
    status = say_loaded(args, &view, by_layer, make);
    fb_view_done(&view);
    return status;
}
