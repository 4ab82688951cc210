"""Loudness of a voice straight ahead in every case of exported filters, by ffmpeg's ebur128 (ITU-R BS.1770).

usage: loudness.py PRESET FOLDER VOICE.wav...   or "speech" for noise with the spectrum of speech at normal effort
"""
import json
import os
import re
import subprocess
import sys

import numpy as np
from scipy.io import wavfile
from scipy.signal import resample_poly

from evaluate import CASE, NAMED
from arrays import C, HEAD8, TETRA, cases, free, mm, rigid_sphere
from design import BEMManifold, FS

LINE = np.array([[70 * (i - 3.5), 0, 0] for i in range(8)]) * mm
FORWARD = {'front': (0, 0, 1), 'back': (0, 0, -1), 'left': (-1, 0, 0), 'right': (1, 0, 0), 'top': (0, 1, 0),
           'bottom': (0, -1, 0)}


def manifold(preset, names):
    if preset in NAMED:
        kind, by_name = NAMED[preset]
        mics = [by_name[n] for n in names]
        return BEMManifold(mics) if kind == 'bem' else lambda u, f: free(np.array(mics), u, f)
    if preset == 'linear8':
        return lambda u, f: free(LINE, u, f)
    if preset == 'glasses8':
        return lambda u, f: rigid_sphere(HEAD8, u, f, 87.5 * mm)
    if preset == 'tetra':
        return lambda u, f: free(TETRA, u, f)
    raise SystemExit(f'{preset} has no independent manifold here')


def loudness(path):
    text = subprocess.run(['ffmpeg', '-hide_banner', '-nostats', '-i', path, '-af', 'ebur128', '-f', 'null', '-'],
                          capture_output=True, text=True, check=True).stderr
    return float(re.findall(r'I:\s+(-?[\d.]+) LUFS', text)[-1])


# ANSI S3.5-1997, table 3: spectrum levels of the third octaves from 160 Hz to 8 kHz. Pinna's designs know another one.
SPEECH = [32.41, 34.48, 34.75, 33.98, 34.59, 34.27, 32.06, 28.30, 25.01, 23.00, 20.15, 17.32, 13.18, 11.55, 9.33, 5.31,
          2.59, 1.13]


def speech(seconds=20):
    n = seconds * FS
    bins = np.fft.rfftfreq(n, 1 / FS)
    position = 3 * np.log2(np.maximum(bins, 1) / 160)
    level = np.interp(position, np.arange(18), SPEECH)
    shape = np.where((position > -.5) & (position < 17.5), 10 ** (level / 20), 0)
    return np.fft.irfft(shape * np.fft.rfft(np.random.default_rng(1).standard_normal(n)), n)


def voice(path):
    if path == 'speech':
        return speech()
    rate, x = wavfile.read(path)
    x = x[:, 0] if x.ndim > 1 else x
    x = x / (32768 if x.dtype == np.int16 else 1)
    return resample_poly(x, FS, rate) if rate != FS else x


def main(preset, folder, voices):
    meta = json.load(open(os.path.join(folder, 'filters.json')))
    V = manifold(preset, meta['microphones'])
    x = np.concatenate([voice(v) for v in voices])
    x = 0.05 * x / np.sqrt(np.mean(x ** 2))
    n = 1 << int(np.ceil(np.log2(len(x) + 4096)))
    spectrum = np.fft.rfft(x, n)
    bins = np.fft.rfftfreq(n, 1 / FS)
    grid = np.fft.rfftfreq(1024, 1 / FS)
    levels = {}
    for case in meta['cases']:
        u = np.array([FORWARD[case['dataSource'].lower()]], float)
        steering = (V(u) if isinstance(V, BEMManifold) else V(u, grid))[:, 0]
        _, h = wavfile.read(os.path.join(folder, case['file']))
        m = h.shape[1] // 2
        taps = np.fft.rfft(h.reshape(len(h), 2, m), 1024, axis=0)
        response = np.einsum('fem,fm->ef', taps, steering)
        # An impulse response of 1024 frames, applied to the voice. Microphones nearer to the source than the origin
        # hear it before time zero; without the delay that part would come 1024 frames late.
        impulse = np.fft.irfft(response * np.exp(-2j * np.pi * grid * 200 / FS), 1024, axis=1)
        out = np.stack([np.fft.irfft(spectrum * np.fft.rfft(i, n), n)[:len(x)] for i in impulse], 1)
        path = os.path.join(folder, 'loudness.wav')
        wavfile.write(path, FS, out.astype(np.float32))
        name = ' '.join(filter(None, [case['dataSource'], case['polarPattern'], case.get('inputOrientation')]))
        levels[name] = loudness(path)
        os.remove(path)
    spread = max(levels.values()) - min(levels.values())
    low, high = min(levels, key=levels.get), max(levels, key=levels.get)
    print(f'{preset}, {" ".join(os.path.basename(v) for v in voices)}: {len(levels)} cases, {spread:.1f} LU from {low} ({levels[low]:.1f}) to {high} ({levels[high]:.1f})')
    return spread


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
