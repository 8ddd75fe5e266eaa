#!/usr/bin/env python3
"""Writes a folder as an initial file system (cpio, "newc") to standard output, owned by root.

usage: cpio.py FOLDER"""
import os
import stat
import sys


def pad(data):
    return data + b'\0' * (-len(data) % 4)


def main():
    root, out, number = sys.argv[1], sys.stdout.buffer, 0

    def entry(name, mode, data=b'', device=(0, 0)):
        nonlocal number
        number += 1
        path = name.encode() + b'\0'
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
        out.write(pad(b'070701' + b''.join(b'%08X' % field for field in fields) + path) + pad(data))

    for folder, folders, files in os.walk(root):
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            data = b''
            if stat.S_ISLNK(mode):
                data = os.readlink(path).encode()
            elif stat.S_ISREG(mode):
                with open(path, 'rb') as file:
                    data = file.read()
            entry(os.path.relpath(path, root), mode, data)
    entry('dev/console', stat.S_IFCHR | 0o600, device=(5, 1))
    entry('TRAILER!!!', 0)


main()
