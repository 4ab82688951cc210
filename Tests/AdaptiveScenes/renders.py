"""Microphones of judge.py's worlds through `pinna render`, for wind.py and parts.py."""

import os
import subprocess
import sys

import judge  # first: it names the oracle's folders
import numpy as np
import soundfile
from evalh import FS
from judge import REPOSITORY, WORK

os.environ.setdefault("PINNA_PRESETS", os.path.join(REPOSITORY, "Presets"))
MADE = os.path.join(WORK, "devices")  # what no preset has
os.environ["DEVICES"] += ":" + MADE
CASE = "Front portrait"
LAPTOP = "laptop2"
GAP = 8192  # frames of silence between sounds that are rendered at once
os.makedirs(MADE, exist_ok=True)
with open(f"{MADE}/{LAPTOP}.yaml", "w") as file:
    file.write("""format: 2
title: Laptop of two
placement: upright
body: free
microphones: {left: [-30, 0, 0], right: [30, 0, 0]}
dataSources:
  Front:
    forward: +z
    microphones: [left, right]
    polarPatterns: [omnidirectional, stereo]
    stereoOrientations: [portrait, portraitUpsideDown]
""")


def world(name, azimuths=None):
    """The device's truth: microphones up to 1 mm and 0.5 dB off."""
    return judge.World(name, CASE, 1, decibels=0.5, azimuths=azimuths)


def decibels(power):
    return 10 * np.log10(power)


def quiet(signal, rng, level):
    """Sensor noise at a level in dB re the signal."""
    return rng.normal(size=signal.shape) * judge.rms(signal) * 10 ** (level / 20)


def render(program, name, signal, *options):
    """What `pinna render` makes of microphones (frame, microphone): (frame, output). Ends the judge where it fails."""
    source, target = (f"{WORK}/{kind}-{os.getpid()}.wav" for kind in ("microphones", "output"))
    soundfile.write(source, signal, FS, subtype="FLOAT")
    device = f"{MADE}/{name}.yaml" if name == LAPTOP else name
    where = ["--data-source", "Bottom" if name == "phone2" else "Front", "--orientation", "portrait"]
    command = [program, "render", "--device", device, *where, "--period", "128", "--force", *map(str, options), source, target]
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
        return soundfile.read(target, always_2d=True)[0]
    finally:
        for path in (source, target):
            if os.path.exists(path):
                os.remove(path)


def render_linear(program, name, signals, *options):
    """As render, of several sounds, through filters that stay as they are."""
    pieces = [piece for signal in signals for piece in (signal, np.zeros((GAP, signal.shape[1])))]
    output, outputs, first = render(program, name, np.concatenate(pieces), *options), [], 0
    for signal in signals:
        outputs.append(output[first : first + len(signal)])
        first += len(signal) + GAP
    return outputs
