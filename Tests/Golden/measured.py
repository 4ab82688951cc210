"""SOFA files of MeasuredManifoldTests, made without anything of Pinna's.

usage: python measured.py FOLDER        (needs numpy, scipy and netCDF4; writes sphere, turned, emitter and ears.sofa)

sphere.sofa: microphones at the front and the back of a rigid sphere of 40 mm, by the series of Duda and Martens
(1998), from 150 directions, 64 frames at 48 kHz, flat to 14 kHz. turned.sofa: three microphones in the free field from
100 directions; their responses are one sample each, all times are in Data.Delay, and the listener looks along y of the
room. Not compressed, so that
tests can break it in place. emitter.sofa: the same with data of type FIR-E for one emitter, angles in radians, a
History of 5000 characters, and more variables. ears.sofa: the right and the left side, in this order, of a sphere of
87.5 mm from 80 directions.
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

def write(path, responses, sources, rate, receivers, delays, view, compress, emitter=False):
    M, R, N = responses.shape
    f = netCDF4.Dataset(path, 'w')
    # libmysofa needs more than eight attributes: fewer lie elsewhere in the file.
    kind = 'FIR' + emitter * '-E'
    for k, v in dict(Conventions='SOFA', Version='2.1', SOFAConventions=f'General{kind}', SOFAConventionsVersion='1.0',
                     DataType=kind, RoomType='free field', Title=path.split('/')[-1], AuthorContact='-',
                     Organization='-', License='CC0', DateCreated='2026-11-21 00:00:00').items():
        setattr(f, k, v)
    if emitter: f.History = 'x' * 5000
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
    if emitter: sources = sources * [np.pi / 180, np.pi / 180, 1]
    unit = 'radian' if emitter else 'degree'
    variable('SourcePosition', sources, ('M', 'C'), Type='spherical', Units=f'{unit}, {unit}, metre')
    E = ('E',) if emitter else ()
    variable('Data.IR', np.reshape(responses, (M, R, N) + (1,) * emitter), ('M', 'R', 'N') + E)
    variable('Data.SamplingRate', [rate], ('I',), Units='hertz')
    delays = np.reshape(delays, np.shape(delays) + (1,) * emitter)
    variable('Data.Delay', delays, ('I' if len(delays) == 1 else 'M', 'R') + E)
    for k, n in dict(Receiver=R, Emitter=1).items() if emitter else ():
        for axis in 'View', 'Up': variable(k + axis, np.ones((n, 3, 1)), (k[0], 'C', 'I'), **place)
    f.close()

folder = sys.argv[1]
rate, N = 48000., 64
f = np.arange(N // 2 + 1) * rate / N
band = np.where(f < 14000, 1, np.cos(np.clip((f - 14000) / 10000, 0, 1) * np.pi / 2)**2)
def ball(name, u, radius, sides):
    responses = np.zeros((len(u), 2, N))
    for m, side in enumerate(np.array(sides)):
        V = np.ones((N // 2 + 1, len(u)), complex)
        for k in range(1, N // 2 + 1): V[k] = rigid(f[k], radius, u @ side)
        spectrum = V * band[:, None] * np.exp(-2j * np.pi * f * 28 / rate)[:, None]
        responses[:, m] = np.fft.irfft(spectrum, axis=0).T
    write(f'{folder}/{name}.sofa', np.round(responses * 2**15) / 2**15, angles(u), rate, np.array(sides) * radius,
          np.zeros((1, 2)), [1, 0, 0], True)
ball('sphere', sphere(150), .04, [[1, 0, 0], [-1, 0, 0]])
ball('ears', sphere(80), .0875, [[0, -1, 0], [0, 1, 0]])

rate = 44100.
u = sphere(100)  # forward, left, up of the array
microphones = np.array([[.03, 0, 0], [0, .02, 0], [-.01, -.01, .025]])
delays = 100.25 - u @ microphones.T / c * rate
responses = np.zeros((100, 3, 8)); responses[:, :, 2] = .5
room = np.c_[-u[:, 1], u[:, 0], u[:, 2]]  # forward is y of the room, left is -x
for name in ['turned', 'emitter']:
    write(f'{folder}/{name}.sofa', responses, angles(room), rate, microphones, delays, [0, 1, 0], False,
          name == 'emitter')
