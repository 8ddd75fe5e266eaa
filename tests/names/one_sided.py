#!/usr/bin/env python3
"""Frames of one run that the other lacks: one_sided.py FLAMEBANK A.fbank B.fbank UNDER [OPTION...]

Of both runs, the stacks with a frame that contains UNDER count. A frame is one-sided if it has a tenth of a run's
samples there, 25 at least, and the other run has none; each is printed with its samples. Two runs that did the same
work have such a frame only where its name differs: were it equally likely in both, that would be one case in 30
million. Names that say what made them, in one run only, are what the caller asks for with --raw-names."""
import collections
import subprocess
import sys


def inclusive(flamebank, bank, under, options):
    text = subprocess.run([flamebank, 'fold', bank, *options], capture_output=True, text=True, check=True).stdout
    weights = collections.Counter()
    total = 0
    for line in text.splitlines():
        stack, weight = line.rsplit(' ', 1)
        frames = stack.split(';')
        first = next((i for i, frame in enumerate(frames) if under in frame), None)
        if first is None:
            continue
        total += int(weight)
        # how code was made is no part of its name
        for frame in {frame[:-4] if frame[-4:-2] == '_[' and frame[-1] == ']' else frame for frame in frames[first:]}:
            weights[frame] += int(weight)
    return weights, total


def main():
    flamebank, a, b, under = sys.argv[1:5]
    (left, all_left), (right, all_right) = (inclusive(flamebank, bank, under, sys.argv[5:]) for bank in (a, b))
    if min(all_left, all_right) < 100:
        sys.exit(f'{a}: {all_left} samples, {b}: {all_right}: 100 were expected')
    for mine, others, total, bank in ((left, right, all_left, a), (right, left, all_right, b)):
        for frame, weight in mine.most_common():
            if weight >= max(25, total / 10) and frame not in others:
                print(f'{bank}: {weight} of {total} samples in {frame}')


if __name__ == '__main__':
    main()
