/* Labels of samples: sets that are equal are one. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "profile/model.h"

static bool labels_equal(const struct fb_label *a, const struct fb_label *b)
{
    return a->key == b->key && a->text == b->text && a->number == b->number && a->unit == b->unit;
}

uint32_t fb_profile_labels_put(struct fb_profile *p, const struct fb_label *labels, size_t n)
{
    uint64_t hash = n;
    struct fb_index_cursor at;
    uint32_t id;

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        hash = fb_hash_pair(hash ^ labels[i].key,
                            fb_hash_pair((uint64_t)labels[i].number,
                                         (uint64_t)labels[i].unit << 32 | labels[i].text));
    at = fb_index_seek(&p->label_index, hash);
    while (fb_index_step(&p->label_index, &at, &id)) {
        const struct fb_label_set *set = &p->label_sets[id];
        size_t same = 0;

        while (set->count == n && same < n &&
               labels_equal(&p->label_items[set->first + same], &labels[same]))
            same++;
        if (same == n)
            return id;
    }
    fb_vec_reserve(&p->label_sets, &p->label_sets_room, p->label_sets_count + 1,
                   sizeof *p->label_sets);
    fb_vec_reserve(&p->label_items, &p->label_items_room, p->label_items_count + n,
                   sizeof *p->label_items);
    id = (uint32_t)p->label_sets_count;
    p->label_sets[p->label_sets_count++] =
        (struct fb_label_set){(uint32_t)p->label_items_count, (uint32_t)n};
    memcpy(p->label_items + p->label_items_count, labels, n * sizeof *labels);
    p->label_items_count += n;
    fb_index_add(&p->label_index, hash, id);
    return id;
}

void fb_profile_sample_labels_set(struct fb_profile *p, size_t row, uint32_t label_set)
{
    struct fb_samples *s = &p->samples;
    size_t room = s->labels_room;

    if (label_set == 0 && row >= room)
        return;
    if (row >= room) {
        fb_vec_reserve(&s->labels, &s->labels_room, row < s->room ? s->room : row + 1,
                       sizeof *s->labels);
        memset(s->labels + room, 0, (s->labels_room - room) * sizeof *s->labels);
    }
    s->labels[row] = label_set;
}

void fb_profile_labels_clear(struct fb_profile *p)
{
    free(p->samples.labels);
    p->samples.labels = NULL;
    p->samples.labels_room = 0;
    p->label_sets_count = 1;
    p->label_items_count = 0;
    fb_index_done(&p->label_index);
}
