"""Goldens of FilterDesignTests from the numpy oracle.

usage: OMP_NUM_THREADS=1 python filter-design.py ORACLE > filter-design.json
ORACLE is a folder with arrays.py, design.py, stereo.py, stereo2.py, tune_lib.py and mono2.py; joint.py stands beside; needs numpy, scipy, h5py and
Debian's libmysofa data. Nothing in here comes from Pinna.
"""
import json, sys
oracle = sys.argv[1]; sys.argv = sys.argv[:1]
sys.path.insert(0, oracle)
import numpy as np
from stereo import *
from tune_lib import tofir, fir2w
from mono2 import msolve2
from joint import cubed, joint

out = {}
NAME = {'portrait': 'portrait', 'upsidedown': 'portraitUpsideDown', 'landL': 'landscapeLeft', 'landR': 'landscapeRight'}
P5 = np.array([[-25, -73.5, 0], [25, -73.5, 0], [0, 65, 4], [24, 62, -4], [0, 73.5, 0]]) * mm
L8 = np.c_[(np.arange(8) - 3.5) * 70, np.zeros(8), np.zeros(8)] * mm

# The joint design of both ears.
import stereo
stereo.G, stereo.Q = cubed(14), np.ones(1176) / 1176
out['stereo'] = []
for device, mics, wanted in (('phone5', P5, NAME), ('ring7', RING7T, ('portrait', 'upsidedown')), ('linear8', L8, ('portrait', 'upsidedown'))):
    V = free(mics, stereo.G, F)
    for case, R in cases().items():
        source, orientation = case.split('-')
        if orientation not in wanted: continue
        w, T = run(V, None, R, magls=False)
        axis = np.array([[1., 0, 0], [-1, 0, 0]])
        w = joint(F, V, free(mics, axis @ R, F), T, HR(axis) * oce(axis)[None, :, None], stereo.G @ R.T, w)
        w = fir2w(tofir(w, 256, 64), 64)
        P = np.einsum('fdm,fme->fde', free(mics, UH @ R, F), w); TH = HR(UH) * oce(UH)[None, :, None]
        r = metrics(P, TH)
        out['stereo'].append(dict(device=device, dataSource=source.capitalize(), inputOrientation=NAME[orientation],
            separation=r['sep90'], frontBack=r['FB'], timeDifferenceError=r['ITDerr'], timeDifferenceLeft=-itd(P)[18],
            levelDifferenceErrorHigh=r['ILDerr_hi'], levelDifferenceErrorLow=r['ILDerr_lo']))

# Rigid sphere of 87.5 mm: one microphone on +z, plane waves at these angles from it in the x-z plane.
f = np.array([100., 500, 1000, 2000, 4000, 8000, 16000]); angle = np.array([0., 45, 90, 135, 180])
a = np.deg2rad(angle); u = np.c_[np.sin(a), 0 * a, np.cos(a)]
p = rigid_sphere(np.array([[0, 0, .0875]]), u, f, .0875)[:, :, 0]
out['sphere'] = dict(frequencies=f.tolist(), angles=angle.tolist(), real=p.real.tolist(), imaginary=p.imag.tolist())

# HRTF of both ears, horizontal plane and above, relative to the head's centre.
f = [93.75, 187.5, 468.75, 984.375, 3000., 8015.625]; i = [int(round(x / 46.875)) for x in f]
az = [0., 30, 90, 180, 270]; el = [0., 0, 0, 0, 45]
h = HR(sph(np.deg2rad(az), np.deg2rad(el)))[i]
out['hrtf'] = dict(frequencies=f, azimuths=az, elevations=el, real=h.real.tolist(), imaginary=h.imag.tolist())

# Directivity of mono weights (before truncation) on the free field.
OCTAVES = [125, 250, 500, 1000, 2000, 4000, 8000]
out['mono'] = []
for device, mics, pattern, name, fx in [('pair', PHONE3[1:], 'card', 'cardioid', 8000.)] + [
        ('ring7', RING7T, p, n, 2500.) for p, n in (('subcard', 'subcardioid'), ('card', 'cardioid'), ('supercard', 'supercardioid'), ('hyper', 'hypercardioid'))]:
    look = np.array([0., 0, 1]); M = lambda u: free(mics, u, F)
    w, P, V, on, t = msolve2(M, look, pattern, -10, fx, mics.mean(0))
    axis = np.abs(np.einsum('fm,fm->f', on, w))
    di = 10 * np.log10(axis**2 / (np.abs(P)**2).mean(1))
    fb = 10 * np.log10((np.abs(P[:, G @ look > np.cos(np.pi / 6)])**2).mean(1) / (np.abs(P[:, G @ -look > np.cos(np.pi / 6)])**2).mean(1))
    at = lambda x: [float(np.mean(x[(F >= c / 1.3) & (F <= c * 1.3)])) for c in OCTAVES]
    out['mono'].append(dict(device=device, polarPattern=name, octaves=OCTAVES, directivityIndex=at(di), frontBack=at(fb)))

def rounded(x):
    if isinstance(x, dict): return {k: rounded(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [rounded(v) for v in x]
    return round(float(x), 5) if isinstance(x, (float, np.floating)) else x
print(json.dumps(rounded(out), indent=1))
