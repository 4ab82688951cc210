"""Judges the tracker of talkers: rooms with talkers whose directions are known, and two peers on the same files.

usage: talkers.py PROGRAM [DEVICE …]     PROGRAM: .build/release/adaptive-scenes

PROGRAM talkers DEVICE LIST writes beside each X.wav of LIST (one path a line) X.talkers.json, a line every 100 ms:
{"time": s, "talkers": [{"identity": 1, "direction": [x, y, z], "level": dB, "confidence": 0..1, "active": true}]}.
A line belongs to the 100 ms that end at its time; directions are unit vectors of the device frame.

Truth: the worlds of judge.py (true responses, microphones up to 1 mm and 1 dB off), the listener's frame of "Front
portrait". Rooms: World.reverberation; noise: diffuse, its level re the first talker's direct sound while voiced. A block
of 100 ms is voiced for a talker whose direct sound is within 25 dB of its loudest block. Files and truths stay in WORK, in
a folder for each device: delete it after a change of scenes.

Figures, azimuths only, from 0.5 s on, only talkers told as active: share of voiced blocks with a talker near the true one
(of blocks with both voiced, for two); share of all blocks with a false one, more than 20 degrees from all true ones; blocks
with anybody in diffuse noise; the identity told most often in each turn. Peers, in blocks 0.3 s apart: SRP-PHAT and MUSIC of
pyroomacoustics, which know the number of talkers and the nominal positions in free field, over the last 300 ms.
"""

import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import judge  # first: it names the oracle's folders
import numpy as np
import soundfile
from evalh import F, FS, N, NF, U_ALL
from judge import NAMES, REPOSITORY, VOICES, WORK, World, microphones, rms
from scipy.signal import fftconvolve

try:
    from pyroomacoustics.doa import MUSIC, SRP
except ImportError:
    MUSIC = SRP = None
CASE = "Front portrait"
BLOCK = FS // 10  # frames
START = 5  # blocks of each file that are not judged
SPHERE = 1200  # the first directions of U_ALL; circles follow, which a tracker's grid could share
ROOMS = (0.3, 0.6)  # T60 in seconds
ONE, TWO, WALK, NOISE, TURNS = "one talker", "two, 40 degrees apart", "walk of 30 degrees/s", "diffuse noise", "turns A B A"
FALSE = 20  # degrees from all true talkers
LIMITS = {ONE: (5, 0.95), TWO: (10, 0.80), WALK: (10, 0.95)}  # degrees, share of blocks


def apart(a, b):
    """Angle between azimuths in degrees."""
    return np.abs((np.asarray(a) - b + 180) % 360 - 180)


def speech(number, frames):
    """A voice without silence longer than 0.2 s, at an effective value of 0.05."""
    sounds = [soundfile.read(f"{VOICES}/{NAMES[(number + 3 * n) % 8]}.wav")[0] for n in range(8)]
    sound = np.concatenate([s / rms(s) for s in sounds])
    ticks = sound[: len(sound) // 480 * 480].reshape(-1, 480)
    level, index = np.sqrt((ticks**2).mean(1)), np.arange(len(ticks))
    silence = index - np.maximum.accumulate(np.where(level > 0.05 * level.max(), index, -100))
    sound = ticks[silence <= 20].ravel()
    return np.resize(np.roll(sound, -number * 7919), frames) / rms(sound) * 0.05


def place(world, azimuth, directions=len(U_ALL)):
    """Index and azimuth in degrees of the nearest of the first directions, within 3 degrees of the horizontal plane."""
    heads = U_ALL[:directions] @ world.rotation.T
    azimuths = np.rad2deg(np.arctan2(heads[:, 1], heads[:, 0]))
    index = int(np.argmin(apart(azimuths, azimuth) + 1e3 * (np.abs(heads[:, 2]) > np.sin(np.deg2rad(3)))))
    return index, float(azimuths[index])


def diffuse(world, seconds, rng, size=8192):
    """Microphones in what World.diffuse makes, at an effective value of 0.01; by blocks, which takes seconds only."""
    shift = np.exp(-2j * np.pi * np.arange(NF) * 256 / N) / (1 - 0.9 * np.exp(-2j * np.pi * F / FS))
    chosen = rng.choice(SPHERE, 160, replace=False)
    impulses = np.fft.irfft(world.responses[:, chosen] * shift[:, None, None], N, axis=0)
    filters = np.fft.rfft(impulses, size, axis=0).astype(np.complex64)  # (frequency, direction, microphone)
    total = np.zeros((seconds * FS + 2 * size, filters.shape[2]))
    for first in range(0, seconds * FS + N, size - N):
        noise = np.fft.rfft(rng.standard_normal((160, size - N), np.float32), size).T.astype(np.complex64)
        total[first : first + size] += np.fft.irfft((noise[:, None] @ filters)[:, 0], size, axis=0)
    total = total[N : N + seconds * FS]
    return total * 0.01 / rms(total)


def scenes(world):
    """Yields name, kind, T60 in s, SNR in dB, and talkers: pieces (first s, last s, direction, azimuth) of each."""
    rng = np.random.default_rng(11)
    for room in ROOMS:
        for number in range(12):
            at = place(world, number * 30 + rng.uniform(-14, 14), SPHERE)
            yield f"one-{room}-{number}", ONE, room, (10, 20, 30)[number % 3], [[(0, 4, *at)]]
        for number in range(6):
            first = number * 60 + rng.uniform(-14, 14)
            pair = [[(0, 4, *place(world, a))] for a in (first, first + 40)]
            yield f"two-{room}-{number}", TWO, room, 20, pair
    for number, (start, sense) in enumerate(((-90, 1), (150, -1))):
        steps = [(n / 6, (n + 1) / 6, *place(world, start + sense * (5 * n + 2.5))) for n in range(36)]
        yield f"walk-{number}", WALK, ROOMS[0], 20, [steps]
    for number, azimuth in enumerate((40, -100)):
        a, b = place(world, azimuth), place(world, azimuth - 90)
        yield f"turns-{number}", TURNS, ROOMS[0], 20, [[(0, 2, *a), (4, 6, *a)], [(2, 3, *b), (3, 4, *b)]]
    yield "diffuse", NOISE, None, None, []


def perform(world, noise, room, decibels, talkers, rng):
    """Microphones, and per talker and block the true azimuth in degrees (None: silent in this turn) and if it is voiced."""
    frames = int(max(piece[1] for pieces in talkers for piece in pieces)) * FS
    middles = (np.arange(frames // BLOCK) + 0.5) / 10
    total, truths, reference, first_voice = 0.0, [], None, int(rng.integers(8))
    for number, pieces in enumerate(talkers):
        path = [(round(first * FS), round(last * FS), direction) for first, last, direction, _ in pieces]
        turns = sum((np.arange(frames) >= first) & (np.arange(frames) < last) for first, last, _ in path)
        sound = speech(first_voice + 4 * number, frames) * turns
        direct = world.part(sound, path)[0]
        response = world.reverberation(np.eye(1, int(FS * (0.8 * room + 0.05)))[0], room, rng)
        total = total + direct + fftconvolve(sound[:, None], response, axes=0)[:frames]
        levels = np.array([rms(block) for block in direct.reshape(len(middles), BLOCK, -1)])
        azimuths = [next((p[3] for p in pieces if p[0] <= time < p[1]), None) for time in middles]
        voiced = [bool(v) and a is not None for v, a in zip(levels > levels.max() * 10 ** (-25 / 20), azimuths)]
        truths.append({"azimuths": azimuths, "voiced": voiced})
        reference = reference or rms(levels[voiced])
    start = rng.integers(len(noise) - frames)
    return total + noise[start : start + frames] * (reference * 10 ** (-decibels / 20) / 0.01), truths


def files(world, name):
    """Makes missing files of a device; returns path, kind, T60, and truths of all."""
    folder, result = os.path.join(WORK, f"talkers-{name}"), []
    os.makedirs(folder, exist_ok=True)
    made = os.path.exists(f"{folder}/diffuse.wav")
    noise = soundfile.read(f"{folder}/diffuse.wav")[0] if made else diffuse(world, 60, np.random.default_rng(12))
    for label, kind, room, decibels, talkers in scenes(world):
        path, truth = f"{folder}/{label}.wav", f"{folder}/{label}.truth.json"
        if not os.path.exists(truth):
            rng = np.random.default_rng(zlib.crc32(label.encode()))
            sound, told = perform(world, noise, room, decibels, talkers, rng) if talkers else (noise, [])
            soundfile.write(path, sound, FS, subtype="FLOAT")
            Path(truth).write_text(json.dumps(told))
        result.append((path, kind, room, json.loads(Path(truth).read_text())))
    return result


def active(path, rotation):
    """Per block of a file of JSON lines: (identity, azimuth in degrees) of the active talkers."""
    result = {}
    for told in map(json.loads, Path(path).read_text().splitlines()):
        talkers = [(t["identity"], rotation @ np.array(t["direction"])) for t in told["talkers"] if t["active"]]
        result[round(told["time"] * 10) - 1] = [(i, float(np.rad2deg(np.arctan2(d[1], d[0])))) for i, d in talkers]
    return result


def peer(method, path, positions, rotation, sources):
    """Writes the directions that a peer finds in every third block, in the format of the program; returns the path."""
    target = f"{path[:-4]}.{method.__name__}.json"
    if os.path.exists(target):
        return target
    sound, window, lines = soundfile.read(path)[0], np.hanning(513)[:-1], []
    finder = method(positions, FS, 512, num_src=sources, n_grid=360)
    for block in range(START, len(sound) // BLOCK, 3):
        last = sound[(block - 2) * BLOCK : (block + 1) * BLOCK]
        frames = np.lib.stride_tricks.sliding_window_view(last, 512, axis=0)[::128]  # (frame, microphone, time)
        finder.locate_sources(np.fft.rfft(frames * window).transpose(1, 2, 0), num_src=sources, freq_range=[300, 7000])
        found = [(rotation.T @ (np.cos(a), np.sin(a), 0)).tolist() for a in finder.azimuth_recon]
        talkers = [{"identity": 0, "direction": d, "active": True} for d in found]
        lines.append(json.dumps({"time": (block + 1) / 10, "talkers": talkers}))
    Path(target).write_text("\n".join(lines))
    return target


def near(told, truths, degrees, blocks):
    """For the blocks in which all talkers are voiced: whether all are found within an angle."""
    judged = [b for b in blocks if all(t["voiced"][b] for t in truths)]
    return [all(any(apart(a, t["azimuths"][b]) <= degrees for _, a in told.get(b, [])) for t in truths) for b in judged]


def false(told, truths, blocks):
    """For blocks: whether somebody is told who is far from all talkers, silent or not."""
    return [any(all(apart(a, t["azimuths"][b]) > FALSE for t in truths) for _, a in told.get(b, [])) for b in blocks]


def shares(kind, pairs, sparse=False):
    """Text of the figures of files (told, truths), and whether they keep the limit; sparse: only blocks that are told."""
    degrees, least = LIMITS[kind]
    pairs = [(told, truths, [b for b in range(START, len(truths[0]["voiced"])) if b in told or not sparse])
             for told, truths in pairs]
    share, strict = (np.mean(sum((near(t, truths, d, b) for t, truths, b in pairs), [])) for d in (degrees, 5))
    text = f"{share:6.1%} within {degrees}" + (f", {strict:.1%} within 5" if degrees > 5 else "")
    return f"{text}, false {np.mean(sum((false(*pair) for pair in pairs), [])):.1%}", bool(share >= least)


def identities(told, truths):
    """Text of the identities told most often within 20 degrees of the talkers in turns A B A, and if A keeps its own."""
    names = []
    for t, first in ((truths[0], 0), (truths[1], 20), (truths[0], 40)):
        heard = [i for b in range(first + START, first + 20) for i, a in told.get(b, [])
                 if t["voiced"][b] and apart(a, t["azimuths"][b]) <= FALSE]
        names.append(Counter(heard).most_common(1)[0][0] if heard else None)
    return "A {}, B {}, A {}".format(*names), None not in names and names[0] == names[2] != names[1]


def judge_device(program, name):
    """Prints the lines of a device; returns names of scenes that miss their limits."""
    world, worse = World(name, CASE, 1), []
    made = files(world, name)
    listed = os.path.join(WORK, f"talkers-{name}", "list")
    with open(listed, "w") as file:
        for path, *_ in made:
            file.write(path + "\n")
            Path(path[:-4] + ".talkers.json").unlink(missing_ok=True)
    subprocess.run([program, "talkers", name, listed], check=True, cwd=REPOSITORY, stdout=subprocess.DEVNULL)

    def line(kind, room, who, text, limit="", good=None):
        verdict = "" if good is None else "PASS" if good else "FAIL"
        print(f"{name:20}{kind:23}{room or '':<5}{who:10}{text:49}{limit:10}{verdict}", flush=True)
        if good is False:
            worse.append(f"{name}, {kind}, {room or ''}".strip(", "))

    positions = (microphones(name, 0, 0.0)[0] @ world.rotation.T)[:, :2].T
    for kind, room in dict.fromkeys((kind, room) for _, kind, room, _ in made):
        ours = [(path, truths) for path, k, r, truths in made if (k, r) == (kind, room)]
        pairs = [(active(path[:-4] + ".talkers.json", world.rotation), truths) for path, truths in ours]
        if kind in LIMITS:
            text, good = shares(kind, pairs)
            line(kind, room, "program", text, f">= {LIMITS[kind][1]:.0%}", good)
        elif kind == NOISE:
            count = sum(bool(talkers) for talkers in pairs[0][0].values())
            line(kind, room, "program", f"{count} blocks of {len(pairs[0][0])} with somebody", "none", count == 0)
        else:
            told = [identities(*pair) for pair in pairs]
            line(kind, room, "program", "; ".join(t for t, _ in told), "A keeps", all(good for _, good in told))
        for method in (SRP, MUSIC) if SRP and kind in (ONE, TWO) else ():
            found = [(active(peer(method, p, positions, world.rotation, len(t)), world.rotation), t) for p, t in ours]
            line(kind, room, method.__name__, shares(kind, found, sparse=True)[0])
    return worse


def main():
    print(f"{'device':20}{'scene':23}{'T60':5}{'who':10}{'figures (degrees; share of blocks)':49}{'limit':10}")
    if not SRP:
        print("no peers: there is no pyroomacoustics")
    worse = [w for name in sys.argv[2:] or ["phone5", "ring7", "respeaker-4mic-hat"]
             for w in judge_device(os.path.abspath(sys.argv[1]), name)]
    if worse:
        sys.exit("outside of the limits: " + "; ".join(worse))


if __name__ == "__main__":
    main()
