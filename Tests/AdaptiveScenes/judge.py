"""Judges stereo that follows the sound: scenes whose parts are known, linear filters beside adaptive ones.

usage: judge.py PROGRAM [DEVICE …]     PROGRAM: .build/release/adaptive-scenes, with pinna beside it

Truth: the numpy oracle's boundary elements on another mesh (phone5), or closed forms; microphones up to 1 mm and 1 dB off;
sensor noise 35 dB below the sound. FAULTS are worse arrays, tried in fewer scenes. Each part of a scene is played through
the filters that the whole scene leads to, and compared with a listener's ears in the device's place.
PINNA_EVERY_SCENE=1: all cases of phone5, more devices, three seeds.

Figures, linear > adaptive: error of the level difference (ILD) above 1.5 kHz in dB, of the time difference (ITD) below
1.5 kHz in us, for a talker who walks in blocks of an eighth of a second; flutter of the level beyond linear filters' and
sensor noise or reverberation beyond theirs in dB. For diffuse sound: error of interaural coherence, and the largest change
of an octave's level in dB. For a click: the highest output where nothing but sensor noise is heard, in dB re the click.
"""

import functools
import os
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ORACLE = os.path.join(os.environ.get("ORACLE", os.path.join(os.path.dirname(REPOSITORY), "shared", "oracle")), "judge")
VOICES = "/usr/share/sounds/alsa"
for needed in (ORACLE, VOICES):
    if not os.path.isdir(needed):
        print(f"skipped: there is no {needed}")
        sys.exit(0)
WORK = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "pinna-scenes")
os.makedirs(WORK, exist_ok=True)
os.environ.update(WORK=WORK, DEVICES=os.path.join(REPOSITORY, "Presets", "devices"), OMP_NUM_THREADS="1")
sys.path.insert(0, ORACLE)
import numpy as np  # noqa: E402
import soundfile  # noqa: E402
from scipy.signal import fftconvolve, lfilter  # noqa: E402
from evalh import ERBC, F, FS, HR, N, NF, U_ALL, bem, free, load_dev, oce, rigid_sphere, rot, sph, upsample  # noqa: E402

DELAY = 64  # of the filters, in frames
CASES = {  # data source, its forward, input orientation, the oracle's word for it
    "Front portrait": ("Front", "+z", "portrait", "portrait"),
    "Back portrait": ("Back", "-z", "portrait", "portrait"),
    "Front landscapeLeft": ("Front", "+z", "landscapeLeft", "landL"),
    "Front landscapeRight": ("Front", "+z", "landscapeRight", "landR"),
    "Back landscapeLeft": ("Back", "-z", "landscapeLeft", "landL"),
    "Back landscapeRight": ("Back", "-z", "landscapeRight", "landR"),
    "Front portraitUpsideDown": ("Front", "+z", "portraitUpsideDown", "upsidedown"),
    "Back portraitUpsideDown": ("Back", "-z", "portraitUpsideDown", "upsidedown"),
}
LIMITS = (1.0, 25.0)  # dB and us by which adaptive filters may be worse
ARTEFACT = -50  # dB re a click, in silence
NOISE = 2  # dB by which adaptive filters may be noisier in silence
FAULTS = {  # as parameters of World
    "2 mm, 2 dB": {"millimetres": 2.0, "decibels": 2.0},
    "a microphone 10 dB down": {"lowered": 10.0},
    "high-pass 20 to 80 Hz": {"corners": (20.0, 80.0)},
}
WALK, CLICK, DIFFUSE = "walk of 90 degrees/s", "click in silence", "diffuse sound"
NAMES = ["Front_Center", "Front_Left", "Front_Right", "Rear_Center", "Rear_Left", "Rear_Right", "Side_Left", "Side_Right"]


def microphones(name, seed, millimetres=1.0):
    """Positions in metres in the device frame, shape (microphone, 3), off by up to `millimetres`; and the body."""
    device = load_dev(name)
    at = np.array([m["position"] if isinstance(m, dict) else m for m in device["microphones"].values()], float) * 1e-3
    if device.get("placement") == "table":
        at = np.stack([-at[:, 0], at[:, 2], at[:, 1]], 1)
    body = device["body"]
    moved = at + np.random.default_rng(seed).uniform(-1, 1, at.shape) * millimetres * 1e-3
    if isinstance(body, dict) and "sphere" in body:
        moved *= np.linalg.norm(at, axis=1, keepdims=True) / np.linalg.norm(moved, axis=1, keepdims=True)
    if isinstance(body, dict) and "box" in body:
        half = np.array(body["box"]) * 1e-3 / 2
        for m, place in enumerate(at):
            face = int(np.argmin(np.abs(np.abs(place) - half)))
            limit = np.maximum(half - 0.5e-3, np.abs(place))
            moved[m] = np.clip(moved[m], -limit, limit)
            moved[m, face] = place[face]
    return moved, body


def capsule_gains(name, directions):
    """Of a device without a body: what its cardioid capsules hear of directions, shape (direction, microphone)."""
    gains = np.ones((len(directions), 0))
    for m in load_dev(name)["microphones"].values():
        axis = np.array(m["faces"], float) if isinstance(m, dict) and m.get("capsule") == "cardioid" else np.zeros(3)
        heard = 0.5 + 0.5 * directions @ axis / np.linalg.norm(axis) if axis.any() else np.ones(len(directions))
        gains = np.column_stack([gains, heard])
    return gains


class World:
    """One case of a device with one draw of errors, for directions all around, or for a few azimuths only.

    Positions are up to `millimetres` off, gains up to `decibels`; one microphone is `lowered` dB down; each has a high-pass
    of first order, as MEMS microphones have, with a corner between `corners` in Hz.
    """

    def __init__(self, name, case, seed, millimetres=1.0, decibels=1.0, lowered=0.0, corners=None, azimuths=None):
        self.rotation = rot(*CASES[case][1::2])
        at, body = microphones(name, seed, millimetres)
        self.directions = U_ALL
        if azimuths is not None and (body == "free" or "sphere" in body):
            self.directions = np.array([sph(np.deg2rad(a), 0.0) for a in azimuths]) @ self.rotation
        if body == "free":
            responses = free(at, self.directions, F) * capsule_gains(name, self.directions)
        elif "sphere" in body:
            responses = rigid_sphere(at, self.directions, F, body["sphere"] * 1e-3)
        else:
            solved, f = bem(np.array(body["box"]) * 1e-3, at, 0.0022, 160, f"{name}-{seed}-{millimetres:g}mm")
            responses = upsample(np.asarray(solved, complex), f, at)
        rng = np.random.default_rng(seed + 50)
        gains = 10 ** (decibels * rng.uniform(-1, 1, len(at)) / 20)
        gains[rng.integers(len(at))] *= 10 ** (-lowered / 20)
        self.responses = responses * gains  # (frequency, direction, microphone)
        if corners:
            self.responses *= (1j * F[:, None] / (1j * F[:, None] + rng.uniform(*corners, len(at))))[:, None]

    @functools.cached_property
    def ears(self):
        """The listener's, (frequency, direction, ear)."""
        heads = self.directions @ self.rotation.T
        return HR(heads) * oce(heads)[None, :, None]

    def direction(self, azimuth, elevation=0.0):
        """Index of the direction; degrees, left and up positive."""
        wanted = sph(np.deg2rad(azimuth), np.deg2rad(elevation)) @ self.rotation
        return int(np.argmin(((self.directions - wanted) ** 2).sum(1)))

    def part(self, sound, path):
        """Microphones (frame, microphone) and ears (frame, ear) for directions that hold from a frame to another."""
        frames = len(sound)
        sums = [np.zeros((frames, self.responses.shape[2])), np.zeros((frames, 2))]
        for first, last, direction in path:
            gate = np.zeros(frames)
            gate[first:last] = 1
            if len(path) > 1:
                fade = np.hanning(961) / np.hanning(961).sum()
                gate = np.convolve(np.pad(gate, 480, mode="edge"), fade, "valid")
            shift = np.exp(-2j * np.pi * np.arange(NF) * 256 / N)[:, None]
            for total, grid in zip(sums, (self.responses, self.ears)):
                for channel, impulse in enumerate(np.fft.irfft(grid[:, direction] * shift, N, axis=0).T):
                    total[:, channel] += fftconvolve(sound * gate, impulse)[256 : 256 + frames]
        return tuple(sums)

    def diffuse(self, frames, rng, level):
        """160 independent noises around, at an effective value of `level`."""
        sums = [0.0, 0.0]
        for direction in rng.choice(1200, 160, replace=False):
            noise = lfilter([1], [1, -0.9], rng.normal(size=frames))
            sums = [a + b for a, b in zip(sums, self.part(noise, [(0, frames, int(direction))]))]
        gain = level / rms(sums[0])
        return sums[0] * gain, sums[1] * gain

    def reverberation(self, sound, seconds, rng):
        """Twelve early reflections, and a tail from 40 directions, at the microphones."""
        frames, total = len(sound), 0.0
        for _ in range(12):
            delay, gain = int(FS * rng.uniform(0.003, 0.03)), rng.uniform(0.15, 0.65) * rng.choice([-1, 1])
            late = np.r_[np.zeros(delay), sound[: frames - delay]] * gain
            total = total + self.part(late, [(0, frames, int(rng.integers(1200)))])[0]
        time = np.arange(int(FS * seconds * 0.8)) / FS
        for _ in range(40):
            tail = rng.normal(size=len(time)) * 10 ** (-3 * time / seconds) * (time > 0.02)
            tail *= 0.9 / np.sqrt((tail**2).sum() * 40)
            total = total + self.part(fftconvolve(sound, tail)[:frames], [(0, frames, int(rng.integers(1200)))])[0]
        return total


def rms(signal):
    return np.sqrt((signal**2).mean())


def voice(number, frames):
    sound, rate = soundfile.read(f"{VOICES}/{NAMES[number % 8]}.wav")
    assert rate == FS
    loud = np.flatnonzero(np.abs(sound) > 0.02 * np.abs(sound).max())
    sound = sound[loud[0] : loud[-1]]
    start = number * 7919 % len(sound)
    return np.resize(np.tile(sound, 40)[start:], frames) / rms(sound) * 0.05


class Stage:
    """Makes the parts of scenes in a world: (sound, microphones, ears) each."""

    def __init__(self, world, seed, frames=2 * FS):
        self.world, self.seed, self.frames = world, seed, frames
        self.rng = np.random.default_rng(seed * 100)

    def quiet(self, parts):
        """Sensor noise."""
        total = sum(p[1] for p in parts)
        return self.rng.normal(size=total.shape) * rms(total) * 10 ** (-35 / 20)

    def at(self, sound, azimuth, elevation=0.0):
        return (sound, *self.world.part(sound, [(0, self.frames, self.world.direction(azimuth, elevation))]))

    def talker(self, number, azimuth, elevation=0.0):
        return self.at(voice(number + self.seed, self.frames), azimuth, elevation)


def scenes(world, seed):
    """Yields kind, parts (sound, microphones, ears), and the rest at the microphones."""
    stage = Stage(world, seed)
    frames, rng, talker, quiet = stage.frames, stage.rng, stage.talker, stage.quiet
    places = [(a, 0) for a in (0, 35, -60, 90, -120, 150, 180, -30, 70)] + [(40, 30), (-70, -20)]
    for number, place in enumerate(places):
        parts = [talker(number, *place)]
        yield "one talker", parts, quiet(parts)
    for number, pair in enumerate(((-30, 30), (-20, 70), (60, -60))):
        parts = [talker(number, pair[0]), talker(number + 4, pair[1])]
        yield "two talkers", parts, quiet(parts)
    for number, azimuth in enumerate((-40, 80)):
        part = talker(number + 2, azimuth)
        yield "diffuse noise at 5 dB", [part], world.diffuse(frames, rng, rms(part[1]) * 10 ** (-5 / 20))[0]
    for number, (azimuth, seconds) in enumerate(((40, 0.6), (-75, 0.6), (20, 0.3))):
        part = talker(number + 3, azimuth)
        yield "room, direct sound", [part], world.reverberation(part[0], seconds, rng) + quiet([part])
    steps = np.linspace(-90, 90, 37)
    edges = np.linspace(0, frames, 38).astype(int)
    sound = voice(5 + seed, frames)
    part = (sound, *world.part(sound, [(a, b, world.direction(s)) for a, b, s in zip(edges, edges[1:], steps)]))
    yield WALK, [part], quiet([part])
    quarter = frames // 4
    parts = []
    for azimuth, turns in ((50, (0, 2)), (-50, (1, 3))):
        gate = np.zeros(frames)
        for turn in turns:
            gate[turn * quarter : (turn + 1) * quarter] = 1
        sound = voice(6 + len(parts) + seed, frames) * np.convolve(gate, np.hanning(480) / 239.5, "same")
        parts.append(stage.at(sound, azimuth))
    yield "two in turn", parts, quiet(parts)
    time = np.arange(frames) / FS
    tones = sum(0.02 * np.sin(2 * np.pi * 220 * k * time) / k for k in range(1, 30))
    beats = rng.normal(size=frames) * 10 ** (-(time % 0.25) * 60) * 0.2
    for sound, azimuth in ((tones, -45), (beats, 60)):
        parts = [talker(1, 20), stage.at(sound, azimuth)]
        yield "voice with tones, beats", parts, quiet(parts)
    slam = rng.normal(size=frames) * np.exp(-np.maximum(time - 1, 0) / 0.01) * (time >= 1) * (time < 1.1)
    part = stage.at(slam, -50)
    yield CLICK, [part], rng.normal(size=part[1].shape) * np.abs(part[1]).max() * 10 ** (-90 / 20)


def faulty_scenes(world, seed, fault):
    """Fewer scenes, for an array with a fault; as scenes()."""
    stage = Stage(world, seed)
    for number, azimuth in enumerate((0, -60, 120)):
        parts = [stage.talker(number, azimuth)]
        yield f"{fault}: one", parts, stage.quiet(parts)
    parts = [stage.talker(3, -20), stage.talker(7, 70)]
    yield f"{fault}: two", parts, stage.quiet(parts)


def cross(signal, sound):
    """Welch spectra of the ears (block, frequency, ear), and the power of the sound (frequency)."""
    window = np.hanning(N + 1)[:-1]
    starts = range(0, len(sound) - N, N // 2)
    ears = np.stack([np.fft.rfft(signal[s : s + N] * window[:, None], axis=0) for s in starts])
    power = np.mean([np.abs(np.fft.rfft(sound[s : s + N] * window)) ** 2 for s in starts], 0)
    return ears, power + 1e-4 * power.max()


def errors(output, ears, sound):
    """ILD error above 1.5 kHz in dB, and ITD error in us, of a part's output."""
    output = np.vstack([output[DELAY:], np.zeros((DELAY, 2))])
    frames = len(output)
    (ours, power), (wanted, _) = cross(output, sound[:frames]), cross(ears[:frames], sound[:frames])

    def levels(spectra):
        result = []
        for centre in ERBC[(ERBC > 1500) & (ERBC < 12000)]:
            band = np.abs(F - centre) <= max(24.7 * (4.37e-3 * centre + 1) / 2, FS / N * 0.6)
            left, right = ((np.abs(spectra) ** 2).mean(0)[band] / power[band, None]).sum(0) + 1e-12
            result.append(10 * np.log10(left / right))
        return np.array(result)

    def delay(spectra):
        both = (spectra[:, :, 0] * spectra[:, :, 1].conj()).mean(0) / power * ((F >= 150) & (F <= 1500))
        fine, most = 16, int(1e-3 * FS * 16)
        correlation = np.fft.irfft(np.r_[both, np.zeros(NF * (fine - 1))], N * fine)
        return (np.r_[correlation[-most:], correlation[: most + 1]].argmax() - most) / (FS * fine) * 1e6

    return np.abs(levels(ours) - levels(wanted)).mean(), abs(delay(ours) - delay(wanted))


def walking_errors(output, ears, sound, block=FS // 8):
    """Means of errors() over blocks in which the sound is within 20 dB of the loudest."""
    starts = range(0, len(output) - block - DELAY, block)
    levels = np.array([rms(sound[s : s + block]) for s in starts])
    loud = [s for s, level in zip(starts, levels) if level > 0.1 * levels.max()]
    return np.mean([errors(output[s : s + block + DELAY], ears[s : s + block], sound[s : s + block]) for s in loud], 0)


def silence_level(click, rest):
    """Highest output where the click (at 1 s, 0.1 s long) is silent, re the click's peak, in dB."""
    output = np.abs(click + rest)
    silent = np.r_[output[FS // 10 : FS - 480], output[FS + FS // 8 :]]
    return 20 * np.log10(silent.max() / output.max())


def flutter(output, linear):
    """How much more the level changes between blocks of 20 ms than that of linear filters does, in dB (effective)."""
    blocks = len(output) // 960
    a, b = (10 * np.log10((x[: blocks * 960] ** 2).sum(1).reshape(blocks, 960).sum(1) + 1e-12) for x in (output, linear))
    loud = b > b.max() - 20
    steps = loud[1:] & loud[:-1]
    return np.diff(a)[steps].std() - np.diff(b)[steps].std()


def diffuse_figures(output, linear, ears):
    """Errors of the interaural coherence, linear and adaptive, and the largest change of an octave's level in dB."""
    spectra = [cross(x, x[:, 0])[0] for x in (output[DELAY:], linear[DELAY:], ears[: len(output) - DELAY])]
    wrong, change = [], []
    for centre in (250, 500, 1000, 2000, 4000, 8000):
        band = [x[:, (F >= centre / 2**0.5) & (F < centre * 2**0.5)] for x in spectra]
        energy = [(np.abs(x) ** 2).sum((0, 1)) for x in band]
        coherence = [(x[..., 0] * x[..., 1].conj()).sum().real / np.sqrt(e.prod()) for x, e in zip(band, energy)]
        wrong.append([abs(c - coherence[2]) for c in coherence[1::-1]])
        change.append(abs(10 * np.log10(energy[0].sum() / energy[1].sum())))
    return *np.mean(wrong, 0), max(change)


def judge(program, name, case, seed):
    """Rows of figures by kind of scene."""
    world, folder = World(name, case, seed), os.path.join(WORK, f"{name}-{case}-{seed}".replace(" ", "-"))
    os.makedirs(folder, exist_ok=True)
    rows, jobs, lines = {}, [], []

    def write(path, signal):
        soundfile.write(path, signal, FS, subtype="FLOAT")
        return path

    every = list(scenes(world, seed))
    for fault, parameters in FAULTS.items():
        every += faulty_scenes(World(name, case, seed, **parameters), seed, fault)
    for number, (kind, parts, rest) in enumerate(every):
        paths = [write(f"{folder}/{number}-{n}.wav", p[1]) for n, p in enumerate(parts)]
        paths.append(write(f"{folder}/{number}-rest.wav", rest))
        mixture = write(f"{folder}/{number}.wav", sum(p[1] for p in parts) + rest)
        lines.append(" ".join([mixture] + paths))
        jobs.append((kind, parts, paths))
    sound, ears = world.diffuse(4 * FS, np.random.default_rng(seed), 0.05)
    field = write(f"{folder}/diffuse.wav", sound)
    lines.append(f"{field} {field}")
    with open(f"{folder}/list", "w") as file:
        file.write("\n".join(lines))
    source, _, orientation, _ = CASES[case]
    subprocess.run([program, name, source, orientation, f"{folder}/list"], check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)

    def read(path, kind):
        return soundfile.read(path[:-4] + f".{kind}.wav")[0]

    for kind, parts, paths in jobs:
        rests = [read(paths[-1], k) for k in ("linear", "adaptive")]
        for part, path in zip(parts, paths):
            outputs = [read(path, k) for k in ("linear", "adaptive")]
            if kind == CLICK:
                rows.setdefault(kind, []).append([silence_level(o, r) for o, r in zip(outputs, rests)])
                continue
            judged = walking_errors if kind == WALK else errors
            (ild, itd), (ild2, itd2) = (judged(o, part[2], part[0]) for o in outputs)
            row = (ild, ild2, itd, itd2, flutter(*outputs[::-1]), 20 * np.log10(rms(rests[1]) / rms(rests[0])))
            rows.setdefault(kind, []).append(row)
    rows[DIFFUSE] = [diffuse_figures(read(field, "adaptive"), read(field, "linear"), ears)]
    return rows


def main():
    program, devices = os.path.abspath(sys.argv[1]), sys.argv[2:]
    every = os.environ.get("PINNA_EVERY_SCENE") == "1"
    devices = devices or ["phone5", "ring7"] + (["uma8", "respeaker-4mic-hat", "glasses8"] if every else [])
    seeds = (1, 2, 3) if every else (1,)
    worse = []
    print(f"{'device':20}{'scene':31}{'ILD dB':>13}{'ITD us':>12}{'flutter dB':>12}{'rest dB':>9}")
    for name in devices:
        phone = list(CASES) if every else ["Front portrait", "Back landscapeLeft"]
        total = {}
        for case in phone if name == "phone5" else ["Front portrait"]:
            for seed in seeds:
                for kind, rows in judge(program, name, case, seed).items():
                    total.setdefault(kind, []).extend(rows)
        for kind, rows in total.items():
            mean, label = np.mean(rows, 0), f"{name:20}{kind:31}"
            if kind == DIFFUSE:
                print(f"{label}coherence error {mean[0]:.3f} > {mean[1]:.3f}, octave's level {mean[2]:.2f} dB")
                too_much = mean[2] > LIMITS[0]
            elif kind == CLICK:
                print(f"{label}in silence {mean[0]:.1f} > {mean[1]:.1f} dB re the click")
                too_much = any(ours > ARTEFACT or ours > linear + NOISE for linear, ours in rows)
            else:
                ild, ild2, itd, itd2, unrest, rest = mean
                print(f"{label}{ild:6.1f} > {ild2:4.1f}{itd:6.0f} > {itd2:3.0f}{unrest:12.2f}{rest:+9.2f}")
                too_much = ild2 - ild > LIMITS[0] or itd2 - itd > LIMITS[1]
            if too_much:
                worse.append(f"{name}, {kind}")
    if worse:
        sys.exit("worse than linear filters: " + "; ".join(worse))


if __name__ == "__main__":
    main()
