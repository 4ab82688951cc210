"""A1 and A5: stereo filters that Pinna designs from measured responses, against a direct fit in numpy.

usage: measured.py PINNA FOLDER        measurements, device files, the cache and exported filters go into FOLDER

The array is the oracle's HEAD8, eight microphones on a rigid sphere, in closed form. It is measured as on a turntable,
and each measurement has one defect. Pinna must design good filters from it, or refuse it and say why. Good means:

- The noise gain is at most 10.5 dB from 100 Hz to 16 kHz, even if the band ends earlier.
- In held-out directions, the error of ILD is at most 0.5 dB larger and that of ITD at most 15 µs larger than those of
  a direct fit to the measured directions. Smaller errors than the fit's are fine.

The fit is the oracle's design, restricted to the measured directions: complex least squares below 1.5 kHz and the
refined magnitude fit above, each bin limited to 10 dB of noise gain, truncated to 256 taps with 64 frames of delay.
Like Pinna, it believes the table of directions. The held-out directions are horizontal, halfway between measured ones.
Both filter sets are judged there on the closed-form array with the same defect, against the oracle's target: the mean
error of ILD in ERB bands from 1.5 kHz to 12 kHz or the end of the band, and of ITD.
"""
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Callable

import numpy as np
from scipy.io import wavfile

import stereo2
from arrays import HEAD8, mm, rigid_sphere, sph
from design import ERBC, F, FS, N, ild_erb, itd, oce, solve
from stereo import HR, cases
from stereo2 import fir2w, refine, tofir
from tune_lib import sectors2

NAMES = ['right-ear', 'left-ear', 'right-temple', 'left-temple', 'right-brow', 'left-brow', 'bridge', 'forehead']
RADIUS = 87.5 * mm
FRAME = cases()['front-portrait']
TAPS, DELAY = 256, 64
# Frames of a measured response, and the frame at which sound passes the centre of the sphere.
LENGTH, ORIGIN = 384, 160
NOISE_LIMIT, ILD_MARGIN, ITD_MARGIN = 10.5, 0.5, 15.0


def whole(f):
    return np.ones(len(f))


def cut(edge):
    """A low-pass with -6 dB at the edge, which falls from 0 to -80 dB within a sixth of an octave."""
    def gain(f):
        part = np.clip(6 * np.log2(np.maximum(f, 1) / edge) + .5, 0, 1)
        return np.maximum(1e-4, np.cos(part * np.pi / 2) ** 2)
    return gain


def notch(f):
    """-30 dB at 3 kHz."""
    return 1 - (1 - 10 ** -1.5) * np.exp(-((f - 3000) / 250) ** 2)


@dataclass
class Condition:
    name: str
    title: str
    gain: Callable = whole  # of all microphones
    band_end: float = 20000.
    is_ring: bool = False
    offset: float = 0.  # degrees by which azimuths in the table are too large
    weak_microphone: int = -1  # the microphone whose responses are 20 dB too low

    def azimuths_elevations(self):
        """The true measured directions in degrees: a ring every 10°, or 395 directions in such rings from -60° up."""
        rows = [0] if self.is_ring else range(-60, 91, 10)
        return np.array([(360 * i / count, elevation) for elevation in rows
                         for count in [max(1, round(36 * np.cos(np.deg2rad(elevation))))] for i in range(count)])

    def responses(self, heads, f):
        """`[frequency][direction][microphone]` of the array with its defect, for directions in the head's frame."""
        V = rigid_sphere(HEAD8, heads @ FRAME, f, RADIUS) * self.gain(f)[:, None, None]
        if self.weak_microphone >= 0:
            V[:, :, self.weak_microphone] *= .1
        return V


CONDITIONS = [
    Condition('cut12', 'cut at 12 kHz', cut(12000), 12000),
    Condition('cut8', 'cut at 8 kHz', cut(8000), 8000),
    Condition('notch', 'notch of 30 dB at 3 kHz', notch),
    Condition('ring', 'horizontal only', is_ring=True),
    Condition('offset', '5° of azimuth offset', offset=5),
    Condition('weak', 'one microphone at -20 dB', weak_microphone=1),
]


def heads(azimuths_elevations):
    return sph(*np.deg2rad(azimuths_elevations).T)


def write_measurement(condition, folder):
    """The device, a preset, and the measurement as docs/devices.md describes it, into a folder of settings."""
    angles = condition.azimuths_elevations()
    V = condition.responses(heads(angles), F)
    # The converter's low-pass: without it, responses that lie between two frames would ring to the end.
    converter = np.cos(np.clip((F - 20000) / 4000, 0, 1) * np.pi / 2) ** 2
    V *= (converter * np.exp(-2j * np.pi * F * ORIGIN / FS))[:, None, None]
    impulses = np.fft.irfft(V, N, axis=0)[:LENGTH]
    devices = os.path.join(folder, 'devices')
    os.makedirs(devices, exist_ok=True)
    frames = impulses.transpose(1, 0, 2).reshape(-1, len(HEAD8))
    wavfile.write(os.path.join(devices, condition.name + '.wav'), FS, frames.astype(np.float32))
    with open(os.path.join(devices, condition.name + '.csv'), 'w') as table:
        table.write('azimuth, elevation\n')
        table.writelines(f'{(a + condition.offset) % 360:.6f}, {e:.6f}\n' for a, e in angles)
    with open(os.path.join(devices, condition.name + '.yaml'), 'w') as device:
        device.write(f'title: {condition.title}\n'
                     f'body: {{impulseResponses: {condition.name}.wav, directions: {condition.name}.csv}}\n'
                     'microphones:\n')
        device.writelines(f'  {name}: [{x:.4f}, {y:.4f}, {z:.4f}]\n' for name, (x, y, z) in zip(NAMES, HEAD8 / mm))
        device.write('dataSources:\n  Front:\n    forward: +z\n    microphones: all\n    polarPatterns: [stereo]\n'
                     '    stereoOrientations: [portrait]\n')
    with open(os.path.join(folder, condition.name + '.yaml'), 'w') as preset:
        preset.write(f'title: {condition.title}\ndevice: {condition.name}\ndataSource: Front\npolarPattern: stereo\n'
                     'inputOrientation: portrait\n')


def filters_of_pinna(condition, pinna, folder):
    """The weights of Pinna's filters and its remarks; or None and the reason of its refusal."""
    settings = os.path.join(folder, 'config', 'pinna')
    write_measurement(condition, settings)
    environment = dict(os.environ, XDG_CONFIG_HOME=os.path.join(folder, 'config'),
                       XDG_CACHE_HOME=os.path.join(folder, 'cache'))

    def run(*arguments):
        return subprocess.run([pinna, *arguments], env=environment, capture_output=True, text=True)

    designed = run('design', os.path.join(settings, 'devices', condition.name + '.yaml'))
    text = (designed.stdout + designed.stderr).strip()
    refusals = [line.strip() for line in text.splitlines() if 'not offered' in line]
    if refusals:
        return None, ' '.join(refusals)
    if designed.returncode:
        # A crash, or a failure without a word, is no refusal.
        if designed.returncode < 0 or not designed.stderr.strip():
            raise SystemExit(f'FAILED: pinna design of {condition.name}, status {designed.returncode}: {text}')
        return None, designed.stderr.strip().splitlines()[-1]
    exported = os.path.join(folder, condition.name)
    written = run('export', '--preset', condition.name, '--to', 'wav', exported, '--force')
    if written.returncode:
        raise SystemExit(f'FAILED: pinna export of {condition.name}: {written.stdout}{written.stderr}')
    meta = json.load(open(os.path.join(exported, 'filters.json')))
    case, = [c for c in meta['cases'] if c['polarPattern'] == 'stereo']
    rate, taps = wavfile.read(os.path.join(exported, case['file']))
    assert rate == FS and taps.shape[1] == 2 * len(NAMES), (rate, taps.shape)
    taps = taps.reshape(len(taps), 2, len(NAMES)).transpose(0, 2, 1)[:, [meta['microphones'].index(n) for n in NAMES]]
    remarks = [line.strip() for line in text.splitlines() if line.startswith('  ')]
    return fir2w(taps, case['delayFrames']), '; '.join(remarks)


def direct_fit(condition):
    """The weights of the oracle's design in the measured directions, as the table lists them."""
    angles = condition.azimuths_elevations()
    V = condition.responses(heads(angles), F)
    u = heads(angles + [condition.offset, 0])
    T = HR(u) * oce(u)[None, :, None]
    # The fit sees responses of the same level in all bins, or noise alone would decide in a notch. It does not boost
    # the notch: gains that all microphones and directions share change no cue.
    level = np.sqrt((np.abs(V) ** 2).mean((1, 2)))
    level /= np.median(level[(F > 500) & (F < 4000)])
    end = np.searchsorted(F, condition.band_end, 'right')
    V = (V / level[:, None, None])[:end]
    # All directions count the same: those of the sphere are about equally dense. A ring has sectors of the horizon
    # only.
    centres, weights = sectors2(10)
    stereo2.SC, stereo2.SW = (centres[:36], np.full(36, 1 / 36)) if condition.is_ring else (centres, weights)
    w = solve(V, T[:end], np.full(len(u), 1 / len(u)))
    w = refine(V, T[:end], u, w, fc=1500, kap=25, beta=4, nit=40)
    w = np.concatenate([w, np.repeat(w[-1:], len(F) - end, 0)]) / np.maximum(level, 1)[:, None, None]
    return fir2w(tofir(w, TAPS, DELAY), DELAY)


def noise_gain(condition, w):
    """The largest noise gain in decibels, relative to the diffuse field over the whole sphere, from 100 Hz to 16 kHz.

    Every microphone has the same noise, whatever its level. An output more than 3 dB weaker than the target counts as
    half of the target's energy: in a notch and above the band, no filters can keep the limit relative to what the
    microphones still pick up, and the noise is heard beside sound of other frequencies.
    """
    V = condition.responses(SPHERE, F)
    output = (np.abs(np.einsum('fdm,fme->fde', V, w)) ** 2).mean(1)
    target = SPHERE_TARGET
    middle = (F > 500) & (F < 4000)
    level = np.median(output[middle] / target[middle])
    noise = (np.abs(w) ** 2).sum(1)
    gain = 10 * np.log10(noise / np.maximum(output, level * target / 2))
    return gain[(F >= 100) & (F <= 16000)].max()


def cue_errors(condition, w):
    """Mean errors of ILD in decibels and of ITD in microseconds in held-out directions."""
    azimuths = np.arange(5., 360, 10)
    u = heads(np.c_[azimuths, 0 * azimuths])
    T = HR(u) * oce(u)[None, :, None]
    P = np.einsum('fdm,fme->fde', condition.responses(u, F), w)
    bands = (ERBC > 1500) & (ERBC < min(12000, condition.band_end))
    return np.abs(ild_erb(P) - ild_erb(T))[bands].mean(), np.abs(itd(P) - itd(T)).mean()


SPHERE = stereo2.G
SPHERE_TARGET = (np.abs(HR(SPHERE) * oce(SPHERE)[None, :, None]) ** 2).mean(1)


def main(pinna, folder):
    shutil.rmtree(os.path.join(folder, 'cache'), ignore_errors=True)
    missed = 0
    for condition in CONDITIONS:
        weights, remarks = filters_of_pinna(condition, os.path.abspath(pinna), os.path.abspath(folder))
        if weights is None:
            print(f'{condition.title}: refused: {remarks}', flush=True)
            continue
        fit = direct_fit(condition)
        noise = noise_gain(condition, weights)
        ild, itd_ = cue_errors(condition, weights)
        fit_ild, fit_itd = cue_errors(condition, fit)
        print(f'{condition.title}: noise gain {noise:.2f} dB; error of ILD {ild:.2f} dB, fit {fit_ild:.2f} dB; '
              f'error of ITD {itd_:.1f} µs, fit {fit_itd:.1f} µs' + (f'; {remarks}' if remarks else ''), flush=True)
        for figure, reached, limit in [('noise gain', noise, NOISE_LIMIT), ('error of ILD', ild, fit_ild + ILD_MARGIN),
                                       ('error of ITD', itd_, fit_itd + ITD_MARGIN)]:
            if not reached <= limit:
                missed += 1
                print(f'MISSED: {condition.title}: {figure} {reached:.2f} instead of {limit:.2f}', flush=True)
    print(missed, 'figures of measured arrays missed')
    return 1 if missed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
