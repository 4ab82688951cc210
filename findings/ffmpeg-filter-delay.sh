#!/bin/sh
# ffmpeg n9.0.2 (in imageio-ffmpeg 0.8.1): afftdn and superequalizer delay the sound, and cut its end by as much.
#
# Guessed: filters that work on blocks make up for their delay, by samples or by the time of the first frame, as
# firequalizer's zero_phase does; so words and times of a cleaned recording still fit the one it was made from.
# Happens: the first frame's time is 0, the length is the input's, the sound is late by 1200 samples (afftdn, 25 ms at
# 48 kHz) or 4095 (superequalizer with all bands at 0 dB, 85 ms), and as much is missing at the end. Neither has an
# option for it. (5.1.9 of Debian 12 does the same.)
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
if ! { python3 -m venv env && env/bin/pip install --quiet imageio-ffmpeg==0.8.1 numpy==2.2.6; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
env/bin/python - <<'PYTHON'
import re
import subprocess
import sys
import imageio_ffmpeg
import numpy as np

print("ffmpeg", imageio_ffmpeg.get_ffmpeg_version())
frames = 96000
signal = np.random.default_rng(1).normal(scale=0.02, size=(frames, 8)).astype("<f4")


def run(filters):
    """Time of the first frame, frames, and by how many samples the sound is late, over all channels."""
    raw = ["-f", "f32le", "-ar", "48000"]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), *raw, "-ac", "8", "-i", "-", "-af", filters + ",ashowinfo", *raw, "-"]
    done = subprocess.run(command, input=signal.tobytes(), capture_output=True, check=True)
    first = int(re.search(rb"n:0 pts:(-?\d+)", done.stderr)[1])
    output = np.frombuffer(done.stdout, "<f4").reshape(-1, 8)
    spectra = np.fft.rfft(output, 262144, axis=0) * np.fft.rfft(signal, 262144, axis=0).conj()
    return first, len(output), sorted(set(np.argmax(np.fft.irfft(spectra, axis=0), axis=0).tolist()))


compared = ("anull", "afftdn=nr=1", "superequalizer", "firequalizer=gain=0:zero_phase=on")
found = {filters: run(filters) for filters in compared}
for filters, values in found.items():
    print(f"{filters}: first frame at {values[0]}, {values[1]} of {frames} frames, late by {values[2]} samples")
late = [(0, frames, [0]), (0, frames, [1200]), (0, frames, [4095]), (-480, frames + 960, [480])]
stated = list(found.values()) == late
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
