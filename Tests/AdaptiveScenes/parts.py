"""Judges talkers and room apart: rooms in which every talker's direct sound is known.

usage: parts.py PINNA [DEVICE …]     PINNA: .build/release/pinna

Truth: the worlds of judge.py, in rooms of pyroomacoustics (5.2 x 4.1 x 2.8 m, by T60 in s): every image source arrives as a
plane wave from the nearest of the world's directions, so that bodies scatter in rooms, too. Sensor noise is 45 dB below.

Figures: SIR and SDR in dB of BSS-eval, with filters of 16 ms at 16 kHz and the direct sounds as references: what follows
later than that counts as distortion, as another talker's sound does. Of both talkers, left first, in one microphone, in a
cardioid and a hypercardioid that look at them, and in the part of each from an omnidirectional feed and from such cardioids.
Parts are by number, as found; a number belongs to the talker whom it holds most of.

Limits: of the better kind of parts (by the sum of its figures), the row "minimum variance by masks + postfilter" as an
independent judge measured it, less 2 dB, in three scenes; in the others the SIR that ODAS reaches, and SDR not below the looks'.
Sum: --part talkers and --part room against the whole, the difference's effective value re the whole's.
Room: --room -12 of stereo, one talker, in the left output: direct sound to all else, as SDR.
"""

import os
import sys

import judge  # first: it names the oracle's folders
import numpy as np
import pyroomacoustics as pra
from evalh import FS, N, NF
from judge import rms
from renders import decibels, quiet, render, world
from scipy.linalg import toeplitz
from scipy.signal import fftconvolve, resample_poly
from scipy.spatial import cKDTree

DEVICES = ["phone5", "uma8", "respeaker-4mic-hat", "tetramic"]
FRAMES, START = 4 * FS, FS  # of each scene, and from where on it is judged
TAPS = 256  # of BSS-eval's filters
SIZE = np.array((5.2, 4.1, 2.8))  # of the room, metres
PLACE = np.array((2.3, 1.8, 1.2))  # of the array
SOUND = 343.0  # m/s
TAIL = 0.7  # of T60: images that arrive later, below -42 dB, are left out
APART = -12  # --room
DRY = None
SCENES = [  # azimuths, T60, distance in m, least SIR and SDR of both (of the dry one no SDR is known)
    ((35, -50), DRY, 1.0, ((17, 18), None)),
    ((35, -50), 0.3, 0.5, ((13.0, 11.5), (4.8, 4.1))),
    ((35, -50), 0.4, 1.0, ((2.9, 8.3), (-4.2, -4.8))),
    ((45, -45), 0.3, 1.2, ((10.5, 10.5), "looks")),
    ((45, -45), 0.6, 1.2, ((6.9, 6.9), "looks")),
    ((20, -20), 0.3, 1.2, ((14.2, 14.2), "looks")),
    ((20, -20), 0.6, 1.2, (None, "looks")),
]
SUM = -120  # dB
CLOSER = 6  # dB by which the direct sound gains at 0.5 m


class Room:
    """A device in a room; its front looks along x, left along y."""

    def __init__(self, world, t60):
        self.world, self.t60, self.tree = world, t60, cKDTree(world.directions)
        shift = np.exp(-2j * np.pi * np.arange(NF) * 256 / N)[:, None, None]
        impulses = np.fft.irfft(world.responses * shift, N, axis=0)
        self.impulses = np.ascontiguousarray(impulses.transpose(1, 0, 2))  # (direction, frame, microphone)

    def responses(self, azimuth, distance):
        """Impulse responses at the microphones, (frame, microphone): of direct sound alone, and of all."""
        source = PLACE + distance * np.array((np.cos(np.deg2rad(azimuth)), np.sin(np.deg2rad(azimuth)), 0))
        images, gains = source[:, None], np.ones(1)
        if self.t60 is not DRY:
            absorption, order = pra.inverse_sabine(self.t60, SIZE)
            room = pra.ShoeBox(SIZE, fs=FS, materials=pra.Material(absorption), max_order=order)
            room.add_source(source)
            room.add_microphone(PLACE)
            room.image_source_model()
            images, gains = room.sources[0].images, room.sources[0].damping[0]
        ways = images.T - PLACE
        lengths = np.linalg.norm(ways, axis=1)
        first = int(np.argmin(lengths))
        nearest = self.tree.query(ways / lengths[:, None] @ self.world.rotation)[1]
        frames = np.round((lengths - lengths[first] + 0.3) / SOUND * FS).astype(int)
        loud, total, results = frames < (self.t60 or 1) * TAIL * FS, 0.0, []
        for chosen in (np.arange(len(frames)) == first, (np.arange(len(frames)) != first) & loud):
            response = np.zeros((frames[loud].max() + N, self.impulses.shape[2]))
            for image in np.flatnonzero(chosen):
                start = frames[image]
                response[start : start + N] += self.impulses[nearest[image]] * (gains[image] / lengths[image])
            total = total + response
            results.append(total)
        return results

    def talk(self, number, azimuth, distance):
        """Of a voice as loud at every distance: at the microphones, direct sound and all."""
        sound = judge.voice(number, FRAMES)
        direct, every = (fftconvolve(sound[:, None], r, axes=0)[:FRAMES] for r in self.responses(azimuth, distance))
        return direct * 0.02 / rms(direct), every * 0.02 / rms(direct)


def evaluate(references, outputs):
    """SIR and SDR in dB of each output (frame) for its reference (frame): BSS-eval by projections, at 16 kHz."""
    sounds = [resample_poly(x[START:], 1, 3) for x in (*references, *outputs)]
    size, count = 1 << (len(sounds[0]) + TAPS).bit_length(), len(references)
    spectra = np.fft.rfft(sounds, size)

    def lags(a, b):
        """Sum over frames of a(t) b(t + lag), negative lags at the end."""
        return np.fft.irfft(spectra[a].conj() * spectra[b], size)

    gram = np.zeros((count, TAPS, count, TAPS))
    for i in range(count):
        for j in range(count):
            gram[i, :, j] = toeplitz(lags(i, j)[:TAPS], lags(j, i)[:TAPS])
        gram[i, range(TAPS), i, range(TAPS)] *= 1 + 1e-9
    sir, sdr = [], []
    for n in range(count):
        output = np.stack([lags(i, count + n)[:TAPS] for i in range(count)])
        energy, target = lags(count + n, count + n)[0] + 1e-12, output[n] @ np.linalg.solve(gram[n, :, n], output[n]) + 1e-12
        both = output.ravel() @ np.linalg.solve(gram.reshape(count * TAPS, -1), output.ravel())
        sir.append(decibels(target / max(both - target, 1e-12)))
        sdr.append(decibels(target / max(energy - target, 1e-12)))
    return np.array(sir), np.array(sdr)


class Judge:
    """Prints the lines of one device, and counts what misses its limits."""

    def __init__(self, program, name):
        self.program, self.name, self.misses = program, name, 0
        self.world = world(name)

    def play(self, signal, *options):
        return render(self.program, self.name, signal, *options)

    def line(self, scene, who, text, misses=None):
        verdict = "" if misses is None else "FAIL: " + ", ".join(misses) if misses else "PASS"
        print(f"{self.name:20}{scene:24}{who:22}{text:38}{verdict}", flush=True)
        self.misses += len(misses or ())

    def two(self, azimuths, t60, distance, limits):
        """Two talkers at once."""
        room = Room(self.world, t60)
        talkers = [room.talk(number + 1, azimuth, distance) for number, azimuth in enumerate(azimuths)]
        mixture = sum(every for _, every in talkers)
        mixture = mixture + quiet(mixture, np.random.default_rng(4), -45)
        references = [direct[:, 0] for direct, _ in talkers]
        scene = f"{azimuths[0]:+d} {azimuths[1]:+d} " + ("dry" if t60 is DRY else f"T60 {t60} {distance} m")

        def looks(pattern, parts=(None, None)):
            options = [("--part", part) if part else () for part in parts]
            return [self.play(mixture, "--pattern", pattern, "--look", a, *o)[:, 0] for a, o in zip(azimuths, options)]

        stems = {n: self.play(mixture, "--pattern", "omnidirectional", "--part", n)[:, 0] for n in (1, 2)}
        orders = {order: evaluate(references, [stems[n] for n in order]) for order in ((1, 2), (2, 1))}
        order = max(orders, key=lambda o: orders[o][0].sum())
        rows = {
            "one microphone": evaluate(references, [mixture[:, 0]] * 2),
            "cardioid looks": evaluate(references, looks("cardioid")),
            "hypercardioid looks": evaluate(references, looks("hypercardioid")),
            "parts {}, {}".format(*order): orders[order],
            "parts of cardioids": evaluate(references, looks("cardioid", order)),
        }
        *others, whole, looking = rows
        for who, (sir, sdr) in rows.items():
            misses = None
            if who == looking:
                best = max(rows[whole], rows[looking], key=np.sum)
                least = [limits[0], np.max([rows[o][1] for o in others[1:]], 0) if limits[1] == "looks" else limits[1]]
                short = {k: b - l for k, b, l in zip(("SIR", "SDR"), best, least) if l is not None and (b < l).any()}
                misses = [f"{kind} {by[0]:+.1f} {by[1]:+.1f}" for kind, by in short.items()]
            self.line(scene, who, f"SIR {sir[0]:5.1f} {sir[1]:5.1f}  SDR {sdr[0]:5.1f} {sdr[1]:5.1f}", misses)
        return mixture

    def sum(self, mixture):
        """Whether the parts add up to the whole."""
        for options in (("--pattern", "stereo"), ("--pattern", "omnidirectional"), ("--format", "ambix")):
            whole, *parts = (self.play(mixture, *options, "--part", part) for part in ("whole", "talkers", "room"))
            rest = sum(parts) - whole
            level, peak = (20 * np.log10(value / rms(whole) + 1e-12) for value in (rms(rest), np.abs(rest).max()))
            text = f"{level:.1f} dB, peak {peak:.1f}"
            self.line("sum of parts", options[1], text, [f"{level - SUM:+.1f}"] if level > SUM else [])

    def closer(self):
        """One talker, near and far."""
        for distance in (0.5, 1.0, 2.0):
            direct, every = Room(self.world, 0.4).talk(2, 20, distance)
            signal = every + quiet(every, np.random.default_rng(4), -45)
            outputs = [self.play(signal, "--pattern", "stereo", "--room", level)[:, 0] for level in (0, APART)]
            before, after = (evaluate([direct[:, 0]], [y])[1][0] for y in outputs)
            miss = [f"{after - before - CLOSER:+.1f}"] if distance == 0.5 and after - before < CLOSER else []
            loud = decibels((outputs[1] ** 2).sum() / (outputs[0] ** 2).sum())
            text = f"{before:+5.1f} > {after:+5.1f} ({after - before:+.1f}), level {loud:+.1f}"
            self.line(f"+20 T60 0.4 {distance} m", f"--room {APART}", text, miss if distance == 0.5 else None)


def main():
    program, misses = os.path.abspath(sys.argv[1]), 0
    print(f"{'device':20}{'azimuths, room':24}{'who':22}figures of both in dB")
    for name in sys.argv[2:] or DEVICES:
        judged = Judge(program, name)
        for number, scene in enumerate(SCENES):
            mixture = judged.two(*scene)
            if number == 1:
                judged.sum(mixture)
        judged.closer()
        misses += judged.misses
    if misses:
        sys.exit(f"{misses} figures are outside of the limits")


if __name__ == "__main__":
    main()
