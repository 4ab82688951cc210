#!/bin/sh
# pedalboard 0.9.26: Convolution gives channels 3 to 8 the sound of channel 1, and sets its own gain.
#
# Guessed: an eight-channel recording convolved with one impulse response gives each channel its own convolution, and an
# impulse response of a single 1 gives the input back. More channels than the plug-in can do raise an error.
# Happens: no error or warning. Channels 1 and 2 are right but for their gain; 3 to 8 are copies of channel 1. The
# response is scaled to a fixed energy: a single 1 and a single 0.25 both give -18.06 dB. No argument turns that off.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if ! { python3 -m venv env && env/bin/pip install --quiet pedalboard==0.9.26 numpy==2.2.6; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import sys
import numpy as np
from pedalboard import Convolution

microphones = np.random.default_rng(1).normal(scale=0.1, size=(8, 48000)).astype(np.float32)


def convolved(peak):
    response = np.zeros((1, 100), np.float32)
    response[0, 0] = peak
    return Convolution(response, mix=1.0, sample_rate=48000)(microphones, 48000)


output = convolved(1.0)
gain = np.std(output[0]) / np.std(microphones[0])
sources = [int(np.argmax(np.corrcoef(channel, microphones)[0, 1:])) + 1 for channel in output]
print("channel of the input that each output channel carries:", sources)
print(f"gain with a single 1: {20 * np.log10(gain):.2f} dB")
same = np.abs(convolved(0.25) - output).max()
print(f"largest difference between the outputs for 1 and for 0.25: {same:.1g}")
stated = sources == [1, 2, 1, 1, 1, 1, 1, 1] and abs(gain - 0.125) < 1e-4 and same < 1e-6
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
