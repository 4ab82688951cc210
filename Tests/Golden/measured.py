"""SOFA files of MeasuredManifoldTests, made without anything of Pinna's.

usage: python measured.py FOLDER        (needs numpy, scipy and netCDF4; writes sphere.sofa and turned.sofa)

sphere.sofa: microphones at the front and the back of a rigid sphere of 40 mm, by the series of Duda and Martens
(1998), from 150 directions, 64 frames at 48 kHz, flat to 14 kHz. turned.sofa: three microphones in the free field from
100 directions; their responses are one sample each, all times are in Data.Delay, and the listener looks along y of the
room. Not compressed, so that
tests can break it in place.
"""
import sys
import netCDF4
import numpy as np
from scipy.special import eval_legendre, spherical_jn, spherical_yn

c = 343.

def sphere(n):
    i = np.arange(n) + .5; z = 1 - 2 * i / n; p = np.pi * (1 + 5**.5) * i; r = np.sqrt(1 - z * z)
    return np.c_[r * np.cos(p), r * np.sin(p), z]

def angles(u):
    return np.c_[np.rad2deg(np.arctan2(u[:, 1], u[:, 0])) % 360, np.rad2deg(np.arcsin(u[:, 2])), np.full(len(u), 1.5)]

def rigid(frequency, radius, cosine):
    ka = 2 * np.pi * frequency / c * radius
    out = 0
    for n in range(int(ka * 1.15 + 14)):
        slope = spherical_jn(n, ka, True) - 1j * spherical_yn(n, ka, True)
        out = out + (2 * n + 1) * 1j**n * -1j / (ka**2 * slope) * eval_legendre(n, cosine)
    return out

def write(path, responses, sources, rate, receivers, delays, view, compress):
    M, R, N = responses.shape
    f = netCDF4.Dataset(path, 'w')
    # libmysofa needs more than eight attributes: fewer lie elsewhere in the file.
    for k, v in dict(Conventions='SOFA', Version='2.1', SOFAConventions='GeneralFIR', SOFAConventionsVersion='1.0',
                     DataType='FIR', RoomType='free field', Title=path.split('/')[-1], AuthorContact='-',
                     Organization='-', License='CC0', DateCreated='2026-11-21 00:00:00').items():
        setattr(f, k, v)
    for k, n in dict(I=1, C=3, R=R, E=1, N=N, M=M).items(): f.createDimension(k, n)
    def variable(name, data, dimensions, **attributes):
        v = f.createVariable(name, 'f8', dimensions, zlib=compress, complevel=9, shuffle=True)
        v[:] = data
        for k, x in attributes.items(): setattr(v, k, x)
    place = dict(Type='cartesian', Units='metre')
    variable('ListenerPosition', [[0, 0, 0]], ('I', 'C'), **place)
    variable('ListenerView', [view], ('I', 'C'), **place)
    variable('ListenerUp', [[0, 0, 1]], ('I', 'C'), **place)
    variable('ReceiverPosition', np.reshape(receivers, (R, 3, 1)), ('R', 'C', 'I'), **place)
    variable('EmitterPosition', np.zeros((1, 3, 1)), ('E', 'C', 'I'), **place)
    variable('SourcePosition', sources, ('M', 'C'), Type='spherical', Units='degree, degree, metre')
    variable('Data.IR', responses, ('M', 'R', 'N'))
    variable('Data.SamplingRate', [rate], ('I',), Units='hertz')
    variable('Data.Delay', delays, ('I' if len(delays) == 1 else 'M', 'R'))
    f.close()

folder = sys.argv[1]
rate, N, radius = 48000., 64, .04
u = sphere(150)
f = np.arange(N // 2 + 1) * rate / N
band = np.where(f < 14000, 1, np.cos(np.clip((f - 14000) / 10000, 0, 1) * np.pi / 2)**2)
responses = np.zeros((len(u), 2, N))
for m, side in enumerate([1, -1]):
    V = np.ones((N // 2 + 1, len(u)), complex)
    for k in range(1, N // 2 + 1): V[k] = rigid(f[k], radius, side * u[:, 0])
    spectrum = V * band[:, None] * np.exp(-2j * np.pi * f * 28 / rate)[:, None]
    responses[:, m] = np.fft.irfft(spectrum, axis=0).T
write(f'{folder}/sphere.sofa', np.round(responses * 2**15) / 2**15, angles(u), rate, [[radius, 0, 0], [-radius, 0, 0]],
      np.zeros((1, 2)), [1, 0, 0], True)

rate = 44100.
u = sphere(100)  # forward, left, up of the array
microphones = np.array([[.03, 0, 0], [0, .02, 0], [-.01, -.01, .025]])
delays = 100.25 - u @ microphones.T / c * rate
responses = np.zeros((100, 3, 8)); responses[:, :, 2] = .5
room = np.c_[-u[:, 1], u[:, 0], u[:, 2]]  # forward is y of the room, left is -x
write(f'{folder}/turned.sofa', responses, angles(room), rate, microphones, delays, [0, 1, 0], False)
