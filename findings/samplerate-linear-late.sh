#!/bin/sh
# samplerate 0.2.4 (libsamplerate): the linear and the zero-order converter put sound one frame late, the sinc ones do not.
#
# Guessed: whatever the converter, what was at a moment of the input is at the same moment of the output, as it is with the
# three sinc converters: they differ in what they lose, not in time.
# Happens: with linear, a pulse is one input frame late at every ratio; with zero_order_hold, one to one and a half. Two
# microphones that were converted with different converters do not belong together any more: at 16 kHz, one frame is 21 mm.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if ! { python3 -m venv env && env/bin/pip install --quiet samplerate==0.2.4 numpy==2.2.6; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import sys
import numpy as np
import samplerate


def lateness(kind, rate, new):
    """In frames of the input: of a smooth pulse, by the centre of its energy."""
    frames = np.arange(rate // 10)
    centre = rate // 20
    sound = samplerate.resample(np.exp(-(((frames - centre) / 40) ** 2) / 2), new / rate, kind)
    energy = sound.astype(float) ** 2
    return (np.arange(len(sound)) * energy).sum() / energy.sum() * rate / new - centre


stated = True
for kind in ["sinc_best", "sinc_medium", "sinc_fastest", "linear", "zero_order_hold"]:
    late = [lateness(kind, *rates) for rates in [(48000, 44100), (44100, 48000), (16000, 48000), (48000, 16000)]]
    print(f"{kind:16s} late by", *(f"{frames:6.3f}" for frames in late), "input frames")
    least, most = {"linear": (0.99, 1.01), "zero_order_hold": (0.99, 1.51)}.get(kind, (-0.01, 0.01))
    stated &= all(least < frames < most for frames in late)
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
