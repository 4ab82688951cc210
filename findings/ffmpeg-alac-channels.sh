#!/bin/sh
# ffmpeg n9.0.2 (in imageio-ffmpeg 0.8.1): its Apple Lossless of 3 channels has 2, of 8 channels 7.
#
# Guessed: "-c:a alac" on a plain WAV file gives the same samples in as many channels, as "-c:a flac" does; a number
# that the encoder cannot do is refused. Apple Lossless has layouts of 3 and of 8 channels, 4 to 6 come back unchanged.
# Happens: status 0; the one message is of a guessed layout of the input, not of a loss. Of 3 microphones the third is
# dropped. Of 8, the last two are mixed into the fifth and sixth: 7 channels, all of another level. 7 come back in
# another order. (5.1.9 of Debian 12 does the same.)
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
import subprocess
import sys
import wave
import imageio_ffmpeg
import numpy as np

ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "warning"]
print("ffmpeg", imageio_ffmpeg.get_ffmpeg_version())


def matrix(channels):
    """What part of each microphone (rows) is in each channel (columns) of the file that ffmpeg compressed."""
    samples = np.random.default_rng(1).normal(scale=1000, size=(40960, channels)).round().astype("<i2")
    with wave.open("microphones.wav", "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(48000)
        file.writeframes(samples.tobytes())
    subprocess.run([*ffmpeg, "-i", "microphones.wav", "-c:a", "alac", "compressed.mov"], check=True)
    decoded = subprocess.run([*ffmpeg, "-i", "compressed.mov", "-f", "s16le", "-"], stdout=subprocess.PIPE, check=True)
    output = np.frombuffer(decoded.stdout, "<i2").reshape(len(samples), -1)
    return np.linalg.lstsq(samples.astype(float), output.astype(float), rcond=None)[0].round(2) + 0.0


found = {channels: matrix(channels) for channels in range(3, 9)}
for channels, parts in found.items():
    unchanged = np.array_equal(parts, np.eye(channels))
    print(f"{channels} channels become {parts.shape[1]}" + (", unchanged" if unchanged else f":\n{parts}"))
stated = (
    np.array_equal(found[3], np.eye(3)[:, :2])
    and all(np.array_equal(found[channels], np.eye(channels)) for channels in (4, 5, 6))
    and found[8].shape == (8, 7)
    and (found[8].diagonal() < 0.7).all()
    and found[8][6, 4] > 0.3
)
print("as stated" if stated else "changed")
sys.exit(not stated)
PYTHON
