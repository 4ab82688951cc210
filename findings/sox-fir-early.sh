#!/bin/sh
# SoX 14.4.2 (Debian 12): fir moves the sound forward by half the filter's length, whatever the filter is.
#
# Guessed: fir convolves: a filter whose first coefficient is 1 and whose others are 0 changes nothing, and sound that a filter
# delays comes out delayed. (The manual: the convolution engine with given coefficients.)
# Happens: (n - 1) / 2 of n coefficients are taken for a delay and are cut from the beginning, as is right for symmetric
# filters alone. With any other filter (measured responses, minimum phase, an array's beams, whose coefficients differ from
# microphone to microphone in length or phase) the sound comes early, and what it had before that is lost.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
version=14.4.2+git20190427-3.5
if ! { for package in sox=$version libsox3=$version libgsm1 libltdl7 libmagic1; do
  apt-get download $package && dpkg -x ${package%%=*}_*.deb root || exit 1
done && python3 -m venv env && env/bin/pip install --quiet numpy==2.2.6; } >install.txt 2>&1; then
  tail -2 install.txt
  echo "skipped: the pinned packages cannot be installed here"
  exit 77
fi
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu) env/bin/python - <<'PYTHON'
import subprocess
import sys
import numpy as np

sound = np.random.default_rng(1).normal(scale=0.1, size=4800).astype("<f4")


def early(coefficients):
    """By how many frames what SoX plays comes before the convolution of the same sound."""
    raw = "-t raw -r 48000 -c 1 -e floating-point -b 32 -".split()
    words = [f"{value:.9f}" for value in coefficients]
    done = subprocess.run(["root/usr/bin/sox", *raw, *raw, "fir", *words], input=sound.tobytes(), capture_output=True, check=True)
    played = np.frombuffer(done.stdout, "<f4")
    expected = np.convolve(sound, coefficients)
    match = np.fft.irfft(np.fft.rfft(expected, 16384) * np.fft.rfft(played, 16384).conj())
    return int(np.argmax(match)), len(played)


stated = True
for name, coefficients in [
    ("1, then 100 zeros", np.eye(101)[0]), ("1, then 20 zeros", np.eye(21)[0]),
    ("decays over 201", np.exp(-np.arange(201) / 5)), ("symmetric, 101", np.hanning(101) / 50),
]:
    frames, length = early(coefficients)
    print(f"{name:18s} {frames:4d} frames early, {length} of {len(sound)} frames")
    stated &= frames == (len(coefficients) - 1) // 2 and length == len(sound)
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
