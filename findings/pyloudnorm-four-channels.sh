#!/bin/sh
# pyloudnorm 0.1.1: of four channels, the fourth counts 1.5 dB more than the others.
#
# Guessed: four microphones count alike; or, if four channels are taken for left, right and two surrounds, the third and the
# fourth count 1.5 dB more, as ITU-R BS.1770 weights them.
# Happens: the weights of L, R, C, Ls, Rs are taken from the left: the third channel counts as a centre, the fourth as a
# surround. The loudness of a take of four depends on the order of its microphones. Nothing is said; six channels are refused.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if ! { python3 -m venv env && env/bin/pip install --quiet pyloudnorm==0.1.1 numpy==2.2.6; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import sys
import numpy as np
import pyloudnorm

noise = np.random.default_rng(1).normal(scale=0.1, size=(3 * 48000, 1))
meter = pyloudnorm.Meter(48000)
found = [meter.integrated_loudness(noise * np.eye(4)[n]) for n in range(4)]
for n, loudness in enumerate(found):
    print(f"the same noise in channel {n + 1} of four: {loudness:.2f} LUFS")
stated = max(found[:3]) - min(found[:3]) < 1e-9 and abs(found[3] - found[0] - 1.49) < 0.01
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
