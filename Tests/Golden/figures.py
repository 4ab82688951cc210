"""Goldens of FigureTests from the numpy oracle: figures of given filters, and ceilings.

usage: OMP_NUM_THREADS=1 python figures.py ORACLE > figures.json
ORACLE is a folder with arrays.py, design.py, stereo.py, stereo2.py, mono2.py and ceiling.py; needs numpy, scipy, h5py and
Debian's libmysofa data. The filters are the oracle's own (magnitude least squares, 256 taps), as whole numbers of 2^-20,
so that both sides measure exactly the same; the figures are those of evaluate.py (design.py's metrics) and mono2.py,
the latter after truncation. Nothing in here comes from Pinna.
"""
import json, os, sys
oracle = sys.argv[1]; sys.argv = sys.argv[:1]
sys.path.insert(0, oracle)
import numpy as np
from stereo import *
from stereo2 import tofir, fir2w
from mono2 import msolve2, target

out = {}
whole = lambda h: np.round(h * 2**20)   # L x M x E

# The ring on a table, the listener behind it, portrait.
R = cases()['front-portrait']; V = free(RING7T, G, F)
w, T = run(V, None, R)
h = whole(tofir(w, 256, 64)); w = fir2w(h / 2**20, 64)
TH = HR(UH) * oce(UH)[None, :, None]; P = np.einsum('fdm,fme->fde', free(RING7T, UH @ R, F), w)
r = metrics(P, TH)
out['stereo'] = dict(taps=h.transpose(2, 1, 0).astype(int).tolist(), separation=r['sep90'], frontBack=r['FB'],
    levelDifferenceErrorHigh=r['ILDerr_hi'], levelDifferenceErrorLow=r['ILDerr_lo'], timeDifferenceError=r['ITDerr'],
    octaveErrors=[float(np.sqrt(np.mean((10 * np.log10((bandE(P, c) + 1e-12) / (bandE(TH, c) + 1e-12)))**2))) for c in OCT[1:7]],
    noiseGain=ngdb(w, V)[(F > 100) & (F < 16000)].max())

# Where voices are heard (Sources/Acoustics/Lateralisation.swift has the two constants), and the ears straight ahead in
# third octaves.
def heard(P):
    # itd is negative where left leads.
    to_side = sii(P, lambda e: 10 * np.log10(e[:, 0] / e[:, 1])) / 7.8 / 3 - 2 / 3 * itd(P) / 655
    angle = np.linspace(0, np.pi / 2, 100001)
    return np.sign(to_side) * np.rad2deg(np.interp(np.minimum(abs(to_side), 1) * (1 + np.pi / 2), angle + np.sin(angle), angle))
def band(c, width):
    bins = (F >= c / 2**(width / 2)) & (F < c * 2**(width / 2))
    return bins if bins.any() else abs(F - c) == abs(F - c).min()
front = [10 * np.log10((np.abs(P[m, 0])**2).mean() / (np.abs(TH[m, 0])**2).mean()) for m in (band(1000 * 2**(n / 3), 1 / 3) for n in range(-10, 9))]
times = itd(P)
out['stereo'] |= dict(heard=heard(P).tolist(), targetHeard=heard(TH).tolist(), timeDifferenceJump=abs(times - np.roll(times, 1)).max(),
    frontErrors=[float(level - np.mean(front)) for level in front])  # but for a constant

# A pair 8 mm apart, and the ring, as cardioids.
S = fib(900); look = np.array([0., 0, 1]); front, rear = S @ look > np.cos(np.pi / 6), S @ -look > np.cos(np.pi / 6)
B = [125, 250, 500, 1000, 2000, 4000, 8000, 12000]
at = lambda x: [float(np.mean(x[(F >= c / 1.3) & (F <= c * 1.3)])) for c in B]
out['mono'] = []
for name, mics, fx in (('pair', PHONE3[1:], 8000.), ('ring7', RING7T, 2500.)):
    w = msolve2(lambda u: free(mics, u, F), look, 'card', -10, fx, mics.mean(0))[0]
    h = whole(tofir(w[:, :, None], 256, 64)); w = fir2w(h / 2**20, 64)[:, :, 0]
    P = np.abs(np.einsum('fdm,fm->fd', free(mics, S, F), w)); on = np.abs(np.einsum('fm,fm->f', free(mics, look[None], F)[:, 0], w))
    t = np.abs(target('card', S, look)); dB = lambda x: 10 * np.log10(x)
    out['mono'].append(dict(device=name, taps=h.transpose(2, 1, 0).astype(int).tolist()[0],
        directivityIndex=at(dB(on**2 / (P**2).mean(1))), frontBack=at(dB((P[:, front]**2).mean(1) / (P[:, rear]**2).mean(1))),
        patternError=at(dB(((P - t)**2).mean(1) / (t**2).mean())), onAxis=at(dB(on**2)),
        whiteNoiseGain=at(dB(on**2 / (np.abs(w)**2).sum(1)))))

# ceiling.py's function, with finer steps of its regulariser and directions alike in all octants.
source = open(os.path.join(oracle, 'ceiling.py')).read().split('\nks=')[0]
exec(source.replace('np.arange(-6,1.01,.5)', 'np.arange(-6,1.01,.1)'))
octant = S[(S > 0).all(1)]
S = np.concatenate([octant * [x, y, z] for z in (1, -1) for y in (1, -1) for x in (1, -1)])
P5 = np.array([[-25, -73.5, 0], [25, -73.5, 0], [0, 65, 4], [24, 62, -4], [0, 73.5, 0]]) * mm
out['ceilings'] = []
for name, mics, case, orientation in (('ring7', RING7T, 'front-portrait', 'portrait'), ('phone5', P5, 'front-portrait', 'portrait'),
        ('phone5', P5, 'front-landL', 'landscapeLeft')):
    R = cases()[case]; V = free(mics, S, np.array(B, float))
    both = (ceil(V, S @ R.T) + ceil(V, (S @ R.T) * [1, -1, 1])) / 2
    out['ceilings'].append(dict(device=name, inputOrientation=orientation, separation=both.tolist()))

def rounded(x):
    if isinstance(x, dict): return {k: rounded(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)): return [rounded(v) for v in x]
    return round(float(x), 5) if isinstance(x, (float, np.floating)) else x
print(json.dumps(rounded(out)))
