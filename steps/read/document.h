/* document.h - results that are JSON: one document a step, several in a file one after the other.
 *
 *     static const char *const keys[] = {"latency", "requests", NULL};
 *     static bool sniff(const char *head, size_t n) { return fb_document_has(head, n, keys); }
 *     static enum fb_status read_all(...) { return fb_documents_read(in, "x", keys, fill, ...); }
 *
 * The first document must be sound; one behind it that is cut short is left out with a warning. */
#ifndef FB_STEPS_READ_DOCUMENT_H
#define FB_STEPS_READ_DOCUMENT_H

#include "base/json.h"
#include "steps/list.h"

/* Whether the text begins with an object whose own members have all these names (up to 8, then
 * NULL), as far as the text goes. */
bool fb_document_has(const char *head, size_t n, const char *const *keys);

/* Reads the document at the start of the text into the step that was just added; ret_used: how far
 * it goes. */
typedef enum fb_status (*fb_document_parse_fn)(void *context, const char *text, size_t n,
                                               struct fb_steps *steps, struct fb_step *s,
                                               size_t *ret_used, struct fb_err *err);

/* Documents of a file of at most FB_STEPS_TEXT_MAX bytes. */
enum fb_status fb_documents_each(struct fb_source *in, const char *what, fb_document_parse_fn parse,
                                 void *context, struct fb_steps *steps, struct fb_err *err);

/* Sets what the document knows. */
typedef enum fb_status (*fb_document_fn)(const struct fb_json *root, struct fb_step *s,
                                         struct fb_steps *steps, struct fb_err *err);

/* The same over documents of which the members in `keys` alone are held (and so of any size, where
 * a file has one). */
enum fb_status fb_documents_read(struct fb_source *in, const char *what, const char *const *keys,
                                 fb_document_fn fill, struct fb_steps *steps, struct fb_err *err);

/* A number from 0, or a string that is one; NAN otherwise. */
double fb_document_number(const struct fb_json *v);
/* The same of a member, and of a member's member. */
double fb_document_get(const struct fb_json *object, const char *key);
double fb_document_get2(const struct fb_json *object, const char *outer, const char *inner);

/* The time of a member that is a text or a number; 0 unknown. */
int64_t fb_document_time(const struct fb_json *object, const char *key);

#endif
