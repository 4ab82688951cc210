#!/bin/sh
# noisereduce 3.0.3: with stationary=True the noise of several microphones is measured on their mean.
#
# Guessed: reduce_noise on an array of channels treats each as it would alone. Its issue 114 answers so, too, and it is
# so with stationary=False.
# Happens: the threshold comes from the mean of all channels, so it is 9 dB too low for the independent noise of eight
# microphones: their noise falls by 4 dB, that of one alone by 30 dB. In two channels of opposite sign, as the two sides
# of a figure of eight, the mean is silence and nothing is reduced. No warning.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
packages="noisereduce==3.0.3 numpy==2.2.6 scipy==1.15.3 joblib==1.5.2 tqdm==4.67.1"
if ! { python3 -m venv env && env/bin/pip install --quiet --no-deps $packages; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import sys
import noisereduce
import numpy as np

rate = 16000
noise = np.random.default_rng(1).normal(scale=0.01, size=(8, 3 * rate))


def reduction(signal, **options):
    cleaned = noisereduce.reduce_noise(signal, rate, **options)
    return 20 * np.log10(np.std(signal) / np.std(cleaned))


alone = reduction(noise[0], stationary=True)
array = reduction(noise, stationary=True)
opposite = reduction(np.stack([noise[0], -noise[0]]), stationary=True)
changing = reduction(noise[0], stationary=False), reduction(noise, stationary=False)
print(f"stationary=True: one channel {alone:.1f} dB, eight {array:.1f} dB, two of opposite sign {opposite:.1f} dB")
print(f"stationary=False: one channel {changing[0]:.1f} dB, eight {changing[1]:.1f} dB")
stated = alone > 20 and array < 10 and opposite < 0.5 and abs(changing[0] - changing[1]) < 0.5
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
