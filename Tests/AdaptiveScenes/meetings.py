"""Judges who spoke when: simulated meetings of ten minutes, with the diarisation error that pyannote.metrics measures.

usage: meetings.py PROGRAM [DEVICE …]     PROGRAM: .build/release/pinna

Four people sit around the device; a fifth comes after half of the time. Turns are of one to four pieces of the license by
espeak-ng, a voice each, levels up to 3 dB apart; for 20 % of the time in which somebody speaks, two do. Noise: diffuse, 20
dB below speech, and 30 dB below that the microphones' own. Microphones are up to 1 dB off. Rings are points in free field;
phone5 stands upright, with the responses of `pinna simulate`. Rooms: pyroomacoustics' image sources of all orders until T60,
walls alike; absorptions are such that its `measure_rt60` tells ROOMS. Each image is an impulse on a grid of 2.6 us, at its
distance from each microphone (rings), or at its distance and from the nearest of DIRECTIONS and the people's (phone5).

Figures: DiarizationErrorRate(collar=0.5, skip_overlap=False) and its parts in % of the speech, to which pauses below half a
second belong; how many people are told; the least share of anybody's time that has that person's number; seconds of sound
per second of processor time; peak memory. Peer: SRP-PHAT of pyroomacoustics every 0.2 s over 0.3 s at 16 kHz, and k-means of
the directions of loud blocks, which knows the number of people. RTTMs stay in WORK.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
try:
    import numpy as np
    import pyroomacoustics as pra
    import soundfile
    import yaml
    from pyannote.core import Annotation, Segment, Timeline
    from pyannote.database.util import load_rttm
    from pyannote.metrics.diarization import DiarizationErrorRate
    from scipy.fft import irfft, rfft
    from scipy.signal import resample_poly
    from sklearn.cluster import KMeans
except ImportError as missing:
    sys.exit(print(f"SKIPPED meetings: {missing}"))
REPOSITORY = Path(__file__).resolve().parents[2]
os.environ.setdefault("PINNA_PRESETS", str(REPOSITORY / "Presets"))
WORK = Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "pinna-scenes", "meetings")
FS, SECONDS, SPEED = 48000, 600, 343.0
ROOMS, SEEDS = {0.3: 0.30, 0.5: 0.44}, (1, 2, 3)  # T60 in seconds, and that for which Sabine's formula gives the absorption
SIZE, TABLE = np.array([6, 5, 2.8]), np.array([2.8, 2.4, 0.8])  # m: the room, and the device in it
LIMITS = {"ring7": 12, "uma8": 12, "respeaker-4mic-hat": 12, "phone5": 20}  # % of error
FREE = ("ring7", "uma8", "respeaker-4mic-hat")  # without bodies
VOICES = ("en-us+m3", "en-gb-x-rp+f2", "en-gb-scotland+m7", "en-us+f4", "en-gb+m1")
BLOCK, TAIL, FINE, SMALL = 1 << 17, 1 << 15, 8, 2048  # frames: of convolution, of a response; grid per frame; of a device
UPRIGHT = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # from the room's axes to the device frame
ROW = "{:20}{:<5}{:<5}{:6.1f}{:6.1f}{:7.1f}{:7.1f}{:7}{:6.0f}{:>7.0f}{:>6.0f} "
GOLDEN, HIGH = np.pi * (1 + 5**0.5) * np.arange(305), 1 - 2 * (np.arange(305) + 0.5) / 305
DIRECTIONS = np.stack([np.cos(GOLDEN) * np.sqrt(1 - HIGH**2), np.sin(GOLDEN) * np.sqrt(1 - HIGH**2), HIGH], 1)


def sentences():
    """Each voice's sentences: sounds at 48 kHz without silence at their ends, at an effective value of 0.05."""
    words = " ".join((REPOSITORY / "LICENSE").read_text().split("TERMS AND CONDITIONS")[1].split()).split(" ")
    sounds = [[] for _ in VOICES]
    for n, start in ((n, start) for n in range(5) for start in range(0, 600, 20)):
        text = ["-s", str(155 + 8 * n), " ".join(words[start : start + 7 + start // 20 % 6])]
        subprocess.run(["espeak-ng", "-v", VOICES[n], "-w", "voice.wav", *text], check=True)
        sound = resample_poly(soundfile.read("voice.wav", dtype="float32")[0], 320, 147).astype(np.float32)
        loud = np.flatnonzero(np.abs(sound) > 0.02 * np.abs(sound).max())
        sounds[n].append(sound[loud[0] : loud[-1]] * (0.05 / np.sqrt((sound[loud[0] : loud[-1]] ** 2).mean())))
    return sounds


def people(seed):
    """Where five people's mouths are, in metres from the device, shape (5, 3); the last is late."""
    rng = np.random.default_rng(seed)
    azimuths = rng.uniform(0, 90) + 90 * np.arange(4) + rng.uniform(-12, 12, 4)
    late = azimuths[rng.integers(4)] + 45 + rng.uniform(-5, 5)
    azimuths, away = np.deg2rad([*azimuths, late]), rng.uniform(0.9, 1.3, 5)
    return np.stack([away * np.sin(azimuths), away * np.cos(azimuths), rng.uniform(0.3, 0.45, 5)], 1)


def turns(sounds, seed):
    """The people's dry sounds, shape (5, frames), and who spoke when."""
    rng, ends, last, truth = np.random.default_rng(100 + seed), [0, 1.0], None, Annotation(uri="truth")
    gains = 10 ** (rng.uniform(-3, 3, 5) / 20)
    dry, speaking = np.zeros((5, SECONDS * FS), np.float32), np.zeros(SECONDS * 100)
    while ends[-1] < SECONDS - 20:
        who = rng.choice([p for p in range(4 + (ends[-1] > SECONDS / 2)) if p != last])
        pieces = []
        for n in rng.integers(len(sounds[0]), size=rng.integers(1, 5)):
            pieces += [sounds[who][n], np.zeros(int(FS * rng.uniform(0.2, 0.4)), np.float32)]
        sound = np.concatenate(pieces[:-1]) * gains[who]
        length, start = len(sound) / FS, ends[-1] + rng.uniform(0.2, 1.2)
        if (speaking > 1).sum() < 0.2 * (speaking > 0).sum():
            start = max(ends[-2] + 0.2, ends[-1] - min(rng.uniform(1, 4), 0.6 * length))
        dry[who, int(start * FS) : int(start * FS) + len(sound)] += sound
        speaking[int(start * 100) : int((start + length) * 100)] += 1
        powers = (sound[: len(sound) // 480 * 480].reshape(-1, 480) ** 2).mean(1)
        for n in np.flatnonzero(powers > 1e-4 * powers.max()):
            truth[Segment(start + n / 100, start + (n + 1) / 100), f"{who}-{start}-{n}"] = f"p{who + 1}"
        ends, last = [ends[-1], max(ends[-1], start + length)], who
    return dry, truth.support(0.5), (speaking > 1).sum() / (speaking > 0).sum()


def images(room, place):
    """The images of a talker, in metres from the device, shape (image, 3), and their gains."""
    absorption, order = pra.inverse_sabine(ROOMS[room], SIZE)
    box = pra.ShoeBox(SIZE, fs=FS, materials=pra.Material(absorption), max_order=order).add_source(TABLE + place)
    box.add_microphone(TABLE).image_source_model()
    return box.sources[0].images.T - TABLE, box.sources[0].damping[0]


class Array:
    """A device's microphones: what reaches them in the room's axes, from directions or images."""
    def __init__(self, program, name):
        self.program, self.name, axes = program, name, np.eye(3) if name in FREE else UPRIGHT.T
        device = yaml.safe_load((REPOSITORY / f"Presets/devices/{name}.yaml").read_text())
        self.positions = np.array(list(device["microphones"].values())) / 1000 @ axes.T  # (microphone, 3), in metres
        places = np.concatenate([people(seed) for seed in SEEDS])
        self.directions = np.float32([*DIRECTIONS, *places / np.linalg.norm(places, axis=1)[:, None]])
        rate = np.fft.rfftfreq(SMALL, 1 / FS)
        self.responses = np.exp(2j * np.pi * rate * (self.directions @ self.positions.T)[:, :, None] / SPEED)
        for n in range(0, 0 if name in FREE else len(self.directions), 64):
            self.responses[n : n + 64] = self.measured(self.directions[n : n + 64] @ axes)
        spread = self.responses[: len(DIRECTIONS)].transpose(2, 1, 0)  # (frequency, microphone, direction)
        coherence = spread @ spread.conj().swapaxes(1, 2)
        own = 1e-3 * np.trace(coherence, axis1=1, axis2=2).real[:, None, None] / len(self.positions)
        colour = 1 / (1 - 0.9 * np.exp(-2j * np.pi * rate[:, None, None] / FS))
        self.mixing = np.linalg.cholesky(coherence + own * np.eye(len(self.positions))) * colour

    def measured(self, directions):
        """The responses by `pinna simulate`, to clicks 20 ms apart: 5 ms late, as some microphones hear them before the origin."""
        soundfile.write("click.wav", np.eye(1, 48)[0] / 2, FS, subtype="FLOAT")
        talkers = [{"voice": "click.wav", "direction": d.round(6).tolist(), "start": round(0.02 * n + 0.02, 3)}
                   for n, d in enumerate(directions)]
        Path("clicks.yaml").write_text(yaml.safe_dump({"title": "Clicks", "device": self.name, "talkers": talkers}))
        subprocess.run([self.program, "simulate", "clicks.yaml", "clicks.wav", "--force"], check=True)
        heard = np.pad(soundfile.read("clicks.wav")[0].T * 2, ((0, 0), (0, 4800)))
        parts = np.stack([heard[:, 960 * (n + 1) - 240 : 960 * (n + 2) - 240] for n in range(len(talkers))])
        return np.fft.rfft(parts, SMALL)

    def spectra(self, sources):
        """The response to a talker with its images, of BLOCK frames, shape (microphone, frequency)."""
        places, gains = sources

        def spectrum(distances, gains):
            ticks = np.round(distances / SPEED * FS * FINE).astype(int)
            inside = ticks < TAIL * FINE
            return rfft(np.bincount(ticks[inside], (gains / distances)[inside], TAIL * FINE))[: TAIL // 2 + 1]

        if self.name in FREE:
            total = np.stack([spectrum(np.linalg.norm(places - m, axis=1), gains) for m in self.positions])
        else:
            distances, nearest = np.linalg.norm(places, axis=1), np.argmax(places @ self.directions.T, axis=1)
            parts = ((d, spectrum(distances[nearest == d], gains[nearest == d])) for d in np.unique(nearest))
            total = sum(rfft(irfft(self.responses[d], SMALL), TAIL) * part for d, part in parts)
        return rfft(irfft(total, TAIL).astype(np.float32), BLOCK)

    def noise(self):
        """Diffuse noise at an effective value of 0.01, shape (microphone, frame)."""
        rng, mixing = np.random.default_rng(12), self.mixing.astype(np.complex64)  # each holds for some of BLOCK's bins
        window = np.sin(np.pi * (np.arange(BLOCK) + 0.5) / BLOCK).astype(np.float32)
        total = np.zeros((len(self.positions), SECONDS * FS + 2 * BLOCK), np.float32)
        for first in range(0, SECONDS * FS + BLOCK, BLOCK // 2):
            white = rng.standard_normal((*mixing.shape[:2], 2 * BLOCK // SMALL), np.float32).view(np.complex64)
            spectra = (mixing @ white).transpose(1, 0, 2).reshape(len(self.positions), -1)[:, : BLOCK // 2 + 1]
            total[:, first : first + BLOCK] += irfft(spectra, BLOCK) * window
        total = total[:, BLOCK // 2 : BLOCK // 2 + SECONDS * FS]
        return total * (0.01 / np.sqrt((total[:, ::97] ** 2).mean()))


def meeting(array, noise, dry, responses, seed):
    """What the microphones pick up, shape (microphone, frame)."""
    total = np.zeros((len(noise), SECONDS * FS + BLOCK), np.float32)
    for first in range(0, SECONDS * FS, BLOCK - TAIL):
        parts = zip(dry[:, first : first + BLOCK - TAIL], responses)
        spectra = [rfft(part, BLOCK) * r for part, r in parts if part.any()]
        total[:, first : first + BLOCK] += irfft(sum(spectra), BLOCK) if spectra else 0
    total = total[:, : SECONDS * FS]
    speech = np.sqrt((total[:, (np.abs(dry) > 0).any(0)][:, ::97] ** 2).mean())
    total += np.roll(noise, 7919 * seed * 13, axis=1) * (speech / 10 / 0.01)
    return total * 10 ** (np.random.default_rng(seed).uniform(-1, 1, (len(total), 1)) / 20) * (0.3 / np.abs(total).max())


def told(program, name, target):
    """Who spoke when, by the program; seconds of sound per second of a core; peak memory in MB."""
    words = [program, "talkers", "--device", name, "mics.wav", target, "--to", "rttm", "--force"]
    subprocess.run(["/usr/bin/time", "-f", "%U %S %M", "-o", "usage", *words], check=True)
    user, system, kilobytes = map(float, Path("usage").read_text().split())
    return next(iter(load_rttm(target).values()), Annotation()), SECONDS / (user + system), kilobytes / 1000


def peer(positions, sound):
    """Who spoke when, by SRP-PHAT and k-means."""
    sound = resample_poly(sound, 1, 3, axis=1).astype(np.float32)
    finder, window = pra.doa.SRP(positions[:, :2].T, 16000, 512, num_src=1, n_grid=360), np.hanning(513)[:-1]
    level = (sound[0, : len(sound[0]) // 3200 * 3200].reshape(-1, 3200) ** 2).mean(1)
    loud, directions, found = np.flatnonzero(level[1:-1] > 4 * np.percentile(level, 5)) + 1, [], Annotation()
    for n in loud:
        part = sound[:, n * 3200 - 800 : n * 3200 + 4000]
        frames = np.lib.stride_tricks.sliding_window_view(part, 512, axis=1)[:, ::256] * window
        finder.locate_sources(np.fft.rfft(frames).transpose(0, 2, 1), freq_range=[300, 7000])
        directions.append(finder.azimuth_recon[0])
    groups = KMeans(5, n_init=10, random_state=1).fit_predict(np.stack([np.cos(directions), np.sin(directions)], 1))
    for n, group in zip(loud, groups):
        found[Segment(n * 0.2, (n + 1) * 0.2), int(n)] = f"g{group}"
    return found.support(0.5)


def line(name, room, seed, truth, found, speed=0, memory=0, limit=None):
    """Prints the figures of a meeting; returns whether they keep the limit."""
    metric, whole = DiarizationErrorRate(collar=0.5, skip_overlap=False), Timeline([Segment(0, SECONDS)])
    parts = metric(truth, found, uem=whole, detailed=True)
    parts = [100 * parts[part] / parts["total"] for part in ("false alarm", "missed detection", "confusion")]
    names = {person: number for number, person in metric.optimal_mapping(truth, found, uem=whole).items()}
    own = [found.label_timeline(names[p]).crop(truth.label_timeline(p)).duration() / truth.label_duration(p)
           if p in names else 0 for p in truth.labels()]
    good = limit is None or sum(parts) <= limit and len(found.labels()) == len(names) == 5
    row = (name, room, seed, sum(parts), *parts, len(found.labels()), 100 * min(own), speed, memory)
    print(ROW.format(*row), "" if limit is None else "PASS" if good else "FAIL", flush=True)
    return good


def main():
    program, devices, worse = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(LIMITS), []
    print("device              T60  seed  error false missed  conf. people   own x real    MB", flush=True)
    sounds, arrays = sentences(), {name: Array(program, name) for name in devices}
    noises = {name: array.noise() for name, array in arrays.items()}
    for room, seed in ((room, seed) for seed in SEEDS for room in ROOMS):
        dry, truth, shared = turns(sounds, seed)
        sources = [images(room, place) for place in people(seed)]
        print(f"# T60 {room}, seed {seed}: two speak in {shared:.1%} of the time in which somebody does", flush=True)
        (WORK / f"truth-{seed}.rttm").write_text(truth.to_rttm())
        for name, array in arrays.items():
            sound = meeting(array, noises[name], dry, [array.spectra(s) for s in sources], seed)
            soundfile.write("mics.wav", sound.T, FS, subtype="PCM_24")
            found, speed, memory = told(program, name, WORK / f"{name}-{room}-{seed}.rttm")
            good = line(name, room, seed, truth, found, speed, memory, LIMITS.get(name, 20))
            worse += [] if good else [f"{name}, T60 {room}, seed {seed}"]
            if name in FREE[:2] and seed == SEEDS[0]:
                line("  SRP-PHAT, k-means", room, seed, truth, peer(array.positions, sound))
    for name in devices:
        soundfile.write("mics.wav", noises[name].T, FS, subtype="PCM_24")
        found, speed, memory = told(program, name, WORK / f"{name}-noise.rttm")
        worse += [f"{name}, noise"] if found else []
        print(f"{name:20}noise{len(found.labels()):38}{speed:13.0f}{memory:6.0f}  {'FAIL' if found else 'PASS'}", flush=True)
    sys.exit("outside of the limits: " + "; ".join(worse) if worse else 0)


if __name__ == "__main__":
    if not shutil.which("espeak-ng"):
        sys.exit(print("SKIPPED meetings: there is no espeak-ng"))
    WORK.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
