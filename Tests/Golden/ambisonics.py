"""Goldens of AmbisonicsTests: what regularised least squares reaches of the spherical harmonics, from the numpy oracle's manifolds.

usage: OMP_NUM_THREADS=1 python ambisonics.py ORACLE > ambisonics.json        (about 3 min)
ORACLE is a folder with bembox.py and arrays.py; needs numpy, scipy and PyYAML. Nothing in here comes from Pinna but the
microphones' places in Presets/devices; those of phone5 are at the centres of panels of 3 mm, which are written down.

Harmonics: ACN, SN3D; head frame x = +z of the device, y = +x, z = +y. Noise of each channel: at most 10 dB over the harmonic's
energy 1/(2l + 1). Values are means over the linear bins of 48 kHz / 1024 in each octave, 125 Hz to 8 kHz: correlation with the
harmonic, and level in dB against its diffuse energy; nothing is equalised.
"""
import json, os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, yaml
from scipy.special import sph_harm_y
from arrays import fib, free, rigid_sphere
from bembox import Box
np.seterr(all='ignore')

OCTAVES = [125, 250, 500, 1000, 2000, 4000, 8000]
F = np.arange(1024) * 48000 / 1024
F = F[(F >= 125 / 2**.5) & (F < 8000 * 2**.5)]
U = fib(2000)
DEVICES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'Presets', 'devices')

def microphones(name):
    listed = yaml.safe_load(open(os.path.join(DEVICES, name + '.yaml')))['microphones'].values()
    return np.array([m['position'] if isinstance(m, dict) else m for m in listed], float) * 1e-3

def harmonics(order):
    head = U[:, [2, 0, 1]]
    azimuth, polar = np.arctan2(head[:, 1], head[:, 0]), np.arccos(np.clip(head[:, 2], -1, 1))
    rows = []
    for n in range(order + 1):
        for m in range(-n, n + 1):
            y = sph_harm_y(n, abs(m), polar, azimuth) * np.sqrt(4 * np.pi / (2 * n + 1))
            rows.append(y.real if m == 0 else (-1)**m * np.sqrt(2) * (y.real if m > 0 else y.imag))
    return np.array(rows)

def reached(V, order, origin, limit):
    T = harmonics(order)
    energy = 1 / (2 * np.floor(np.sqrt(np.arange(len(T)))) + 1)
    most = 10**(limit / 10) * energy
    correlation, level = np.zeros((2, len(F), len(T)))
    for k, f in enumerate(F):
        v = V[k]
        eigenvalues, vectors = np.linalg.eigh(v.conj().T @ v / len(v))
        eigenvalues = np.maximum(eigenvalues, 0)
        t = T * np.exp(2j * np.pi * f / 343 * (U @ origin))
        b = vectors.conj().T @ (v.conj().T @ t.T / len(v))
        low = np.full(len(T), np.log(1e-9 * eigenvalues.mean())); high = np.full(len(T), np.log(1e3 * eigenvalues.mean()))
        weights = lambda r: b / (eigenvalues[:, None] + np.exp(r))
        quiet = lambda r: (abs(weights(r))**2).sum(0) <= most
        free_of_noise = quiet(low)
        for _ in range(40):
            middle = (low + high) / 2
            ok = quiet(middle)
            low, high = np.where(ok, low, middle), np.where(ok, middle, high)
        w = weights(np.where(free_of_noise, np.log(1e-9 * eigenvalues.mean()), high))
        P = (v @ (vectors @ w)).T
        e = (abs(P)**2).mean(1)
        correlation[k] = (P * t.conj()).mean(1).real / np.sqrt(e * energy + 1e-30)
        level[k] = e / energy
    bins = [(F >= o / 2**.5) & (F < o * 2**.5) for o in OCTAVES]
    return (np.array([correlation[b].mean(0) for b in bins]).T, 10 * np.log10(np.array([level[b].mean(0) for b in bins]).T + 1e-12))

def golden(name, V, order, origin=(0, 0, 0), limit=10):
    c, level = reached(V, order, np.array(origin, float) * 1e-3, limit)
    return dict(array=name, order=order, originMM=list(origin), noiseLimit=limit, correlation=np.round(c, 3).tolist(), level=np.round(level, 2).tolist())

def spheres(places, radius): return rigid_sphere(places, U, F, radius)
def cardioids(places):
    facing = places / np.linalg.norm(places, axis=1, keepdims=True)
    return free(places, U, F) * (.5 + .5 * (U @ facing.T))[None]

tetrahedron = np.array([[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, 1, -1]]) / np.sqrt(3)
table = microphones('ring7')[:, [0, 2, 1]] * [-1, 1, 1]
six = np.vstack([np.eye(3), -np.eye(3)]) * .05
V, phone = Box((.072, .147, .008), .003).manifold(microphones('phone5'), U, F)
rows = [golden('phone5', V, 1), golden('phone5', V, 1, (12, 65, 0)),
        golden('ring7', free(table, U, F), 1),
        golden('omnidirectional tetrahedron', free(tetrahedron * .010, U, F), 1),
        golden('cardioid tetrahedron', cardioids(tetrahedron * .0147), 1),
        golden('six on a sphere', spheres(six, .05), 1),
        golden('glasses8', spheres(microphones('glasses8'), .0875), 1),
        golden('glasses8', spheres(microphones('glasses8'), .0875), 1, (0, 20, 80)),
        golden('zylia-zm1', spheres(microphones('zylia-zm1'), .049), 3),
        golden('em32', spheres(microphones('em32'), .042), 4)]
json.dump(dict(octaves=OCTAVES, phone5=np.round(phone * 1000, 4).tolist(), rows=rows), sys.stdout, indent=None, separators=(',', ':'))
