/* profile.h - the public header of this folder: the model and the files it is kept in.
 *
 *   model.h      samples, stacks, frames, modules, threads, counters, marks, losses
 *   events.h     pauses and rates of the sampler
 *   bank.h       the bank file
 *   formats.h    every other format, in and out
 *   functions.h  addresses to functions, shared by all arms
 *   inlined.h    frames of inlined functions put into stacks, and left out again
 *   calltree.h   one prefix tree over all arms
 *   join.h       profiles put together */
#ifndef FB_PROFILE_PROFILE_H
#define FB_PROFILE_PROFILE_H

#include "profile/bank.h"
#include "profile/calltree.h"
#include "profile/events.h"
#include "profile/formats.h"
#include "profile/functions.h"
#include "profile/inlined.h"
#include "profile/join.h"
#include "profile/model.h"

#endif
