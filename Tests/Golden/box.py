"""Goldens of BoxManifoldTests from the numpy oracle's boundary elements.

usage: OMP_NUM_THREADS=1 python box.py ORACLE > box.json        (about 20 s)
ORACLE is a folder with bembox.py; needs numpy. Nothing in here comes from Pinna. The oracle's microphones are at the
centres of panels, whose places are written down too. The phone has panels of 2 mm, the tablet of 2.5 mm. The cube stays below its first interior resonance (5 kHz), where the oracle ends.
"""
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from bembox import Box
np.seterr(all='ignore')

def sphere(n):
    i = np.arange(n) + .5; z = 1 - 2 * i / n; p = np.pi * (1 + 5**.5) * i; r = np.sqrt(1 - z * z)
    return np.c_[r * np.cos(p), r * np.sin(p), z]
directions = np.vstack([np.eye(3), -np.eye(3), sphere(10)])

def golden(name, size, width, mics, frequencies):
    V, places = Box(size, width).manifold(np.array(mics) * 1e-3, directions, np.array(frequencies))
    V = np.round(V.transpose(0, 2, 1), 5)
    return dict(name=name, size=size, microphones=np.round(places, 9).tolist(), frequencies=frequencies,
                directions=np.round(directions, 9).tolist(), real=V.real.tolist(), imaginary=V.imag.tolist())

phone = golden('phone', (.072, .147, .008), .002,
               [(-25, -73.5, 0), (25, -73.5, 0), (0, 65, 4), (0, 65, -4), (24, 62, -4), (0, 73.5, 0), (-36, 0, 0)],
               [375., 1125., 4125., 8250.])
cube = golden('cube', (.06, .06, .06), .003, [(10, 5, 30), (-30, 20, 0), (3, 29, -30)], [500., 2000., 4000.])
tablet = golden('tablet', (.24, .17, .007), .0025, [(-120, 40, 0), (10, 80, 3.5), (-10, 80, -3.5), (0, -85, 0)],
                [500., 2000., 6000.])
json.dump([phone, cube, tablet], sys.stdout, separators=(',', ':'))
