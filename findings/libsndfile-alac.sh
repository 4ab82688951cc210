#!/bin/sh
# libsndfile 1.2.2: Apple Lossless of 24 bits is not lossless where two channels are loud and noisy.
#
# Guessed: what is written as ALAC_24 is read back bit for bit, as it is with FLAC, whatever the sound.
# Happens: a packet of 4096 frames that cannot be made smaller (independent noise above some -12 dBFS in a pair of
# channels, as wind gives it) is read back wrong: most samples some 90 dB too quiet. One
# loud packet in a quiet recording is lost, its neighbours are right. Status 0, no message. Quieter noise, one channel,
# two equal channels and ALAC_16 are right.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if ! { python3 -m venv env && env/bin/pip install --quiet soundfile==0.14.0 numpy==2.2.6; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import sys
import numpy as np
import soundfile

random = np.random.default_rng(1)


def noise(bits, channels, packets=1):
    """Samples of 24 bits of which the lower `bits` are random, at the upper end of 32 bits."""
    return (random.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), size=(4096 * packets, channels)) << 8).astype(np.int32)


def right(signal, subtype="ALAC_24"):
    """For each packet, whether it is read as it was written."""
    soundfile.write("sound.caf", signal, 48000, format="CAF", subtype=subtype)
    read = soundfile.read("sound.caf", dtype="int32", always_2d=True)[0]
    starts = range(0, len(signal), 4096)
    return [np.array_equal(signal[start : start + 4096], read[start : start + 4096]) for start in starts], read


recording = noise(12, 2, packets=5)
recording[2 * 4096 : 3 * 4096] = noise(24, 2)
burst, read = right(recording)
loud = [np.median(np.abs(signal[2 * 4096 : 3 * 4096])) for signal in (recording, read)]
level = 20 * np.log10(loud[1] / loud[0])
mono = noise(24, 1)
others = [right(signal)[0] for signal in (noise(21, 2), mono, np.repeat(mono, 2, axis=1))]
others.append(right(noise(16, 2) << 8, "ALAC_16")[0])
print("libsndfile", soundfile.__libsndfile_version__)
print(f"packets that are right, the third being loud noise: {burst}; that one is read at {level:.0f} dB")
print("noise 18 dB quieter, one channel, two equal channels, 16 bits:", others)
stated = burst == [True, True, False, True, True] and level < -60 and others == [[True]] * 4
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
