"""Judges how wind is taken out: a voice whose share of the output is known, in gusts that no other test has.

usage: wind.py PINNA [DEVICE …]     PINNA: .build/release/pinna

Truth: the worlds of judge.py. A voice in front and at 60 degrees; wind at each microphone alone, its level from 90 to 710 Hz
re the voice's in dB, equal at all microphones or the last one calm by 10 dB; gusts of three spectra. The voice (s) is
played with two winds (w), each added and subtracted: half the sum of these outputs is the voice through what the filters
are on average. What two winds have in common is the voice alone: its power is the mean product of their half sums, and
the wind's what is left of the outputs' power. Before: the same without --wind, voice and wind apart.

Figures from 90 to 710 Hz: SNR before > after and its gain, the voice's change, in dB; STOI of the left output, by pystoi;
change of the voice's interaural time difference (ITD) from 700 to 1600 Hz (700 to 900, 900 to 1600), in us. Then, once
for each device: clicks, the highest output above 4 kHz re the highest at all in wind below 700 Hz whose gusts begin and
end within 20 ms; whether a voice and sensor noise without wind are the same bits; and what a car, a bass and a kettle lose.
"""

import functools
import os
import sys
import warnings

import judge  # first: it names the oracle's folders
import numpy as np
from evalh import FS
from pystoi import stoi
from renders import LAPTOP, decibels, quiet, render, render_linear, world
from scipy.signal import butter, lfilter, oaconvolve, sosfilt, sosfiltfilt

DEVICES = ["phone5", "phone2", "uma8", "ring7", LAPTOP, "glasses8", "tetramic"]
FRAMES, START = 4 * FS, FS // 2  # of each scene, and from where on it is judged
AZIMUTHS, LEVELS = (0, 60), (0, 10, 20)
CALM = 10  # dB
GUSTS = {  # amplitude over frequency in Hz
    "rider": lambda f: 1 / (f * (1 + (f / 700) ** 2)),
    "turbulence": lambda f: f ** (-5 / 6) / (1 + (f / 3000) ** 2),
    "breeze": lambda f: 1 / (f * (1 + (f / 150) ** 2)),
}
GAINS = {2: (6, 12), 5: (15, 18)}  # least dB for so many microphones: equal wind, one calm
SPEECH = -3  # dB by which the voice may change
ITD = 20  # us by which its time difference may change
CLICKS = -50  # dB
LOW = -1  # dB that other low sounds may lose
BAND = butter(4, (90, 710), "bandpass", fs=FS, output="sos")


@functools.cache
def gusts(microphones, spectrum, seed):
    """Wind, shape (frame, microphone), of an effective value of 1 from 90 to 710 Hz at each microphone."""
    rng, frequencies = np.random.default_rng(seed), np.fft.rfftfreq(FRAMES, 1 / FS)
    noise = np.fft.rfft(rng.standard_normal((FRAMES, microphones)), axis=0)
    noise *= (GUSTS[spectrum](np.maximum(frequencies, 40)) * (frequencies > 20))[:, None]

    def swell(seconds, channels):
        each = int(seconds / 1.5 * FS)
        steps = rng.standard_normal((FRAMES // each + 2, channels)).repeat(each, axis=0)
        fade = np.hanning(int(seconds * FS))
        return oaconvolve(steps, (fade / fade.sum())[:, None], "same", axes=0)[:FRAMES]

    wind = np.fft.irfft(noise, axis=0) * np.exp(0.6 * swell(0.4, 1) + 0.4 * swell(0.12, microphones))
    return wind / np.sqrt((sosfilt(BAND, wind, axis=0) ** 2).mean(0))


def band(signal):
    return sosfilt(BAND, signal, axis=0)[START:]


def common(one, other):
    """The power that two signals share, summed over outputs."""
    return (one * other).mean(0).sum()


def time_difference(voices, low, high):
    """Of what two stereo signals have in common: by how many us left is late, by the cross spectrum between two Hz."""
    size = 4096
    blocks = [np.lib.stride_tricks.sliding_window_view(v[START:], size, axis=0)[:: size // 2] for v in voices]
    (left, right), (other_left, other_right) = (np.fft.rfft(b * np.hanning(size)).transpose(1, 0, 2) for b in blocks)
    cross = (left * other_right.conj() + other_left * right.conj()).sum(0)
    f = np.fft.rfftfreq(size, 1 / FS)
    chosen, times = (f > low) & (f < high), np.arange(-900, 901, 2) * 1e-6
    match = (cross[chosen] * np.exp(2j * np.pi * f[chosen] * times[:, None])).real.sum(1)
    return times[np.argmax(match)] * 1e6


class Judge:
    """Prints the lines of one device, and counts what misses its limits."""

    def __init__(self, program, name):
        self.program, self.name, self.misses = program, name, 0
        self.pattern = "omnidirectional" if name == "phone2" else "stereo"
        self.world = world(name, AZIMUTHS)
        self.microphones = self.world.responses.shape[2]
        voice = np.concatenate([judge.voice(n, FRAMES // 4) for n in (0, 3, 4, 6)])
        self.voices = {azimuth: self.at(voice, azimuth) for azimuth in AZIMUTHS}
        self.voices = {azimuth: signal * 0.02 / judge.rms(signal) for azimuth, signal in self.voices.items()}
        self.noise = quiet(self.voices[0], np.random.default_rng(9), -45)
        self.parts = {}  # linear outputs of voices and winds

    def at(self, sound, azimuth):
        return self.world.part(sound, [(0, len(sound), self.world.direction(azimuth))])[0]

    def play(self, signal, wind=1):
        return render(self.program, self.name, signal, "--pattern", self.pattern, "--wind", wind)

    def winds(self, spectrum, calm):
        """Two winds as loud as the voice."""
        level = np.full(self.microphones, np.sqrt((band(self.voices[0]) ** 2).mean()))
        level[-1] *= 10 ** (-calm / 20)
        return [gusts(self.microphones, spectrum, seed) * level for seed in (1, 2)]

    def play_linear(self, spectra):
        """Fills `parts`: voices by azimuth, noise, winds by spectrum and calm."""
        winds = {(s, calm): self.winds(s, calm) for s in spectra for calm in (0, CALM)}
        sounds = [*self.voices.values(), self.noise, *(w for pair in winds.values() for w in pair)]
        outputs = render_linear(self.program, self.name, sounds, "--pattern", self.pattern, "--wind", 0)
        self.parts = dict(zip([*self.voices, "noise"], outputs))
        self.parts |= {key: outputs[len(self.voices) + 1 + 2 * n :][:2] for n, key in enumerate(winds)}

    def line(self, scene, text, misses):
        print(f"{self.name:10}{scene:27}{text:84}{'FAIL: ' + ', '.join(misses) if misses else 'PASS'}", flush=True)
        self.misses += len(misses)

    def windy(self, spectrum, azimuth, level, calm):
        """One case."""
        voice, gain = self.voices[azimuth], 10 ** (level / 20)
        winds = [w * gain for w in self.winds(spectrum, calm)]
        pairs = [[self.play(voice + self.noise + sign * w) for sign in (1, -1)] for w in winds]
        halves = [(plus + minus) / 2 for plus, minus in pairs]
        before, rest = self.parts[azimuth], [w * gain for w in self.parts[spectrum, calm]]
        speech = common(*map(band, halves))
        left = np.mean([common(y, y) for y in map(band, sum(pairs, []))]) - speech
        speech_before, rest_before = common(band(before), band(before)), np.mean([common(band(w), band(w)) for w in rest])
        snr = [decibels(speech_before / rest_before), decibels(speech / left)]
        change = decibels(speech / speech_before)
        heard = [y[START:, 0] for y in (before, before + self.parts["noise"] + rest[0], pairs[0][0])]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            clear = [stoi(heard[0], y, FS) for y in heard[1:]]
        least = next((GAINS[n][calm > 0] for n in sorted(GAINS, reverse=True) if self.microphones >= n), None)
        least = None if 2 < self.microphones < 5 else least
        misses = [f"gain {snr[1] - snr[0] - least:+.1f}"] if least and snr[1] - snr[0] < least else []
        misses += [f"voice {change - SPEECH:+.1f}"] if change < SPEECH else []
        text = f"SNR {snr[0]:6.1f} > {snr[1]:5.1f} ({snr[1] - snr[0]:+5.1f}) voice {change:+5.1f}"
        text += f" STOI {clear[0]:.2f} > {clear[1]:.2f}"
        turned = 0
        if before.shape[1] == 2:
            bands = ((700, 1600), (700, 900), (900, 1600))
            turned, low, high = (time_difference(halves, *b) - time_difference([before] * 2, *b) for b in bands)
            text += f" ITD {turned:+4.0f} ({low:+4.0f},{high:+4.0f})"
        misses += [f"ITD {turned:+.0f}"] if abs(turned) > ITD else []
        self.line(f"{spectrum:11}{azimuth:2}{level:4} {'one calm' if calm else 'equal'}", text, misses)

    def edges(self):
        """Clicks."""
        rng = np.random.default_rng(5)
        wind = sosfiltfilt(butter(8, 700, fs=FS, output="sos"), rng.standard_normal((FRAMES, self.microphones)), axis=0)
        fade = np.hanning(960) / np.hanning(960).sum()
        wind *= np.convolve(np.where(np.arange(FRAMES) // (FS // 4) % 2, 1, 0.01), fade, "same")[:, None]
        wind = sosfiltfilt(butter(6, 1200, fs=FS, output="sos"), wind * 0.3 / np.abs(wind).max(), axis=0)
        high, outputs = butter(8, 4000, "high", fs=FS, output="sos"), [self.play(wind, w) for w in (0, 1)]
        peaks = [np.abs(sosfilt(high, y, axis=0)[FS // 10 :]).max() for y in outputs]
        levels = [20 * np.log10(peak / np.abs(outputs[0]).max()) for peak in peaks]
        miss = [f"{levels[1] - CLICKS:+.1f}"] if levels[1] > CLICKS else []
        self.line("clicks at gusts' edges", f"{levels[0]:.1f} > {levels[1]:.1f} dB", miss)

    def calm(self):
        """What has no wind."""
        signal = self.voices[60] + self.noise
        linear, ours = (self.play(signal, wind) for wind in (0, 1))
        differing = int((linear != ours).any(1).sum())
        self.line("no wind", f"{differing} frames of {len(linear)} differ", ["not the same"] if differing else [])
        rng, time = np.random.default_rng(3), np.arange(FRAMES) / FS
        noise = rng.normal(size=FRAMES)
        sounds = {
            "car": sosfilt(butter(2, (30, 300), "bandpass", fs=FS, output="sos"), noise),
            "bass": sum(np.sin(2 * np.pi * 55 * k * time) / k for k in (1, 2, 3, 4)) * (0.6 + 0.4 * np.sin(9.4 * time)),
            "kettle": lfilter([1], [1, -0.9], sosfilt(butter(2, (150, 4000), "bandpass", fs=FS, output="sos"), noise)),
        }
        levels = {}
        for sound, signal in sounds.items():
            signal = self.at(signal * 0.05 / judge.rms(signal), 60)
            outputs = [self.play(signal + quiet(signal, np.random.default_rng(1), -45), wind)[START:] for wind in (0, 1)]
            levels[sound] = decibels((outputs[1] ** 2).sum() / (outputs[0] ** 2).sum())
        misses = [f"{sound} {level - LOW:+.2f}" for sound, level in levels.items() if level < LOW]
        self.line("low sounds", ", ".join(f"{sound} {level:+.2f} dB" for sound, level in levels.items()), misses)


def main():
    program, misses = os.path.abspath(sys.argv[1]), 0
    print(f"{'device':10}{'gusts, azimuth, dB, where':27}figures (dB, dB, 0 to 1, us)")
    for name in sys.argv[2:] or DEVICES:
        judged = Judge(program, name)
        judged.play_linear(GUSTS)
        for spectrum in GUSTS:
            azimuths, levels = (AZIMUTHS, LEVELS) if spectrum == "rider" else (AZIMUTHS[:1], LEVELS[-1:])
            for azimuth, level, calm in ((a, b, c) for a in azimuths for b in levels for c in (0, CALM)):
                judged.windy(spectrum, azimuth, level, calm)
        judged.edges()
        judged.calm()
        misses += judged.misses
    if misses:
        sys.exit(f"{misses} figures are outside of the limits")


if __name__ == "__main__":
    main()
