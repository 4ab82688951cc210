// What is drawn on canvases: meters, polar pattern, goniometer and spectrum.

function colours() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

// A canvas's context in CSS pixels, cleared. Nil if it has no size yet.
function prepare(canvas, height) {
  if (height !== undefined && canvas.dataset.height !== String(height)) {
    canvas.dataset.height = height;
    canvas.style.height = `${height}px`;
  }
  const scale = devicePixelRatio || 1;
  const [width, tall] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !tall) return null;
  const [pixels, lines] = [Math.round(width * scale), Math.round(tall * scale)];
  if (canvas.width !== pixels || canvas.height !== lines) {
    canvas.width = pixels;
    canvas.height = lines;
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, tall);
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  return { context, width, height: tall, colour: colours() };
}

// Draws lines, each from point to point.
function strokeLines(context, style, width, ...lines) {
  context.strokeStyle = style;
  context.lineWidth = width;
  context.beginPath();
  for (const [start, ...others] of lines) {
    context.moveTo(...start);
    for (const point of others) context.lineTo(...point);
  }
  context.stroke();
}

// MARK: Levels

const FLOOR = -60;

// The newest levels, with what the meters hold.
export class Meters {
  constructor() {
    this.rows = [];
    this.correlation = null;
  }

  add(levels) {
    const now = performance.now();
    const all = [...levels.microphones, ...levels.outputs, ...(levels.feeds ?? [])];
    if (all.length !== this.rows.length || all.some(({ name }, n) => this.rows[n].name !== name)) {
      this.rows = all.map(({ name }, n) => ({ name, isOutput: n >= levels.microphones.length, hold: -150, held: 0, clips: false }));
    }
    all.forEach(({ rmsDB, peakDB }, n) => {
      const row = this.rows[n];
      Object.assign(row, { rms: rmsDB, peak: peakDB });
      if (peakDB >= row.hold || now - row.held > 5000) Object.assign(row, { hold: peakDB, held: now });
      if (peakDB >= 0) row.clips = true;
    });
    this.correlation = typeof levels.correlation === "number" ? levels.correlation : null;
  }

  clearClips() { for (const row of this.rows) row.clips = false; }

  get clipText() {
    const names = this.rows.filter(({ clips }) => clips).map(({ name }) => name);
    return names.length ? `Clipped: ${names.join(", ")}` : "Nothing has clipped.";
  }
}

let described = 0;

export function drawMeters(canvas, meters) {
  const rows = meters.rows;
  const isDense = rows.length > 20;
  const pitch = isDense ? 14 : 24;
  const gap = 10;
  const drawing = prepare(canvas, rows.length * pitch + gap + 18);
  if (!drawing) return;
  const { context, width, colour } = drawing;
  context.font = `${isDense ? 10 : 12}px system-ui, "DejaVu Sans", sans-serif`;
  const names = Math.min(130, Math.max(...rows.map(({ name }) => context.measureText(name).width), 40) + 8);
  const figures = 44;
  const [left, right] = [names, width - figures - 14];
  const across = (level) => left + (right - left) * Math.min(1, Math.max(0, (level - FLOOR) / -FLOOR));
  let y = 0;
  rows.forEach((row, n) => {
    if (row.isOutput && n > 0 && !rows[n - 1].isOutput) y += gap;
    const [top, tall] = [y + 2, pitch - (isDense ? 3 : 8)];
    const middle = top + tall / 2;
    context.fillStyle = colour("text");
    context.textAlign = "left";
    context.fillText(row.name, 0, middle, names - 6);
    context.fillStyle = colour("choice");
    context.fillRect(left, top, right - left, tall);
    context.fillStyle = colour("rms");
    context.fillRect(left, top, across(row.rms) - left, tall);
    if (row.peak > FLOOR) {
      context.fillStyle = row.peak > -1 ? colour("hot") : colour("peak");
      context.fillRect(left, middle - 1, across(row.peak) - left, 2);
    }
    if (row.hold > FLOOR) {
      context.fillStyle = row.hold > -1 ? colour("hot") : colour("peak");
      context.fillRect(across(row.hold) - 2, top, 3, tall);
    }
    context.fillStyle = row.clips ? colour("hot") : colour("line");
    context.fillRect(right + 3, top, 8, tall);
    context.fillStyle = colour("text");
    context.textAlign = "right";
    context.fillText(row.rms <= -150 ? "–" : row.rms.toFixed(1).replace("-", "−"), width, middle);
    y += pitch;
  });
  context.fillStyle = colour("quiet");
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  for (const level of [-60, -40, -20, -10, 0]) {
    context.textAlign = level === 0 ? "right" : "center";
    context.fillText(String(level).replace("-", "−"), across(level) + (level === 0 ? 4 : 0), y + gap);
  }
  const now = performance.now();
  if (now - described > 2000) {
    described = now;
    canvas.setAttribute("aria-label", "Levels: " + rows.map(({ name, rms, clips }) =>
      `${name} ${rms <= -150 ? "silent" : rms.toFixed(0) + " dB"}${clips ? ", clipped" : ""}`).join("; "));
  }
}

// MARK: Polar pattern

// The middle and the radius of the polar plot, in CSS pixels.
export function polarPlace({ clientWidth, clientHeight }) {
  return [clientWidth / 2, clientHeight / 2, Math.min(clientWidth, clientHeight) / 2 - 34];
}

// An arrow shows the azimuth `look`, in degrees; null draws none. Talkers are dots with their numbers, hollow while silent.
// `others` are the looks of other feeds, thin arrows with the feeds' names.
export function drawPolar(canvas, curves, octave, look, talkers, others) {
  const drawing = prepare(canvas);
  if (!drawing) return;
  const { context, colour } = drawing;
  const [x0, y0, radius] = polarPlace(canvas);
  const reach = (level) => radius * Math.min(1, Math.max(0, (level + 30) / 30));
  context.strokeStyle = colour("line");
  context.lineWidth = 1;
  for (const level of [-20, -10, 0]) {
    context.beginPath();
    context.arc(x0, y0, reach(level), 0, 2 * Math.PI);
    context.stroke();
  }
  for (let azimuth = 0; azimuth < 180; azimuth += 30) {
    const [dx, dy] = [Math.sin(azimuth * Math.PI / 180) * radius, Math.cos(azimuth * Math.PI / 180) * radius];
    strokeLines(context, colour("line"), 1, [[x0 - dx, y0 - dy], [x0 + dx, y0 + dy]]);
  }
  context.fillStyle = colour("quiet");
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textAlign = "center";
  for (const [text, x, y] of [["front", 0, -1], ["left", -1, 0], ["back", 0, 1], ["right", 1, 0]]) {
    context.fillText(text, x0 + x * (radius + 18), y0 + y * (radius + 12));
  }
  for (const level of [-20, -10]) context.fillText(`−${-level}`, x0 + reach(level) * 0.7, y0 - reach(level) * 0.7);
  if (look !== null) {
    const angle = look * Math.PI / 180;
    strokeLines(context, colour("accent"), 2, [[x0, y0], [x0 - Math.sin(angle) * radius, y0 - Math.cos(angle) * radius]]);
  }
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  for (const { name, azimuth } of others) {
    const [x, y] = [-Math.sin(azimuth * Math.PI / 180), -Math.cos(azimuth * Math.PI / 180)];
    strokeLines(context, colour("quiet"), 1, [[x0, y0], [x0 + x * radius, y0 + y * radius]]);
    context.fillStyle = colour("text");
    context.fillText(name, x0 + x * (radius - 20), y0 + y * (radius - 20));
  }
  for (const { identity, name, azimuth, isActive } of talkers) {
    const [x, y] = [-Math.sin(azimuth * Math.PI / 180), -Math.cos(azimuth * Math.PI / 180)];
    context.beginPath();
    context.arc(x0 + x * radius, y0 + y * radius, 6, 0, 2 * Math.PI);
    context.fillStyle = context.strokeStyle = colour("accent");
    context.lineWidth = 2;
    if (isActive) context.fill(); else context.stroke();
    context.fillStyle = colour("text");
    context.fillText(name ?? identity, x0 + x * (radius - 14), y0 + y * (radius - 14));
  }
  if (!curves || octave < 0) return;
  const path = (levels, style, isDashed) => {
    context.setLineDash(isDashed ? [4, 4] : []);
    const points = curves.azimuths.map((azimuth, n) => {
      const [angle, distance] = [azimuth * Math.PI / 180, reach(levels[n])];
      return [x0 - Math.sin(angle) * distance, y0 - Math.cos(angle) * distance];
    });
    strokeLines(context, style, isDashed ? 1.5 : 2.5, [...points, points[0]]);
    context.setLineDash([]);
  };
  const styles = [colour("left"), colour("right")];
  const isStereo = curves.levels[octave].length === 2;
  curves.targetLevels[octave].forEach((levels, n) => path(levels, isStereo ? styles[n] : colour("target"), true));
  curves.levels[octave].forEach((levels, n) => path(levels, styles[n], false));
  const at = (levels, azimuth) => Math.round(levels[curves.azimuths.indexOf(azimuth)]);
  canvas.setAttribute("aria-label", `${curves.polarPattern} of ${curves.dataSource} at ${curves.octaves[octave]} Hz. `
    + curves.levels[octave].map((levels, n) => `${isStereo ? ["Left", "Right"][n] + " output: " : ""}`
      + [[0, "in front"], [90, "left"], [180, "behind"], [270, "right"]].map(([azimuth, word]) => `${at(levels, azimuth)} dB ${word}`).join(", ")).join(". "));
}

// MARK: Outputs

// Left and right of the newest frames; null if there are none.
export function decodeOutputs(answer) {
  if (!answer || typeof answer.samples !== "string") return null;
  const bytes = Uint8Array.from(atob(answer.samples), (letter) => letter.charCodeAt(0));
  const samples = new Float32Array(bytes.buffer, 0, bytes.length >> 2);
  const [left, right] = [0, 1].map((ear) => Float32Array.from({ length: samples.length >> 1 }, (_, n) => samples[2 * n + ear]));
  return { left, right, sampleRate: answer.sampleRate };
}

// Returns the correlation of the outputs, as given or of these frames; null if it is unknown.
export function drawGoniometer(canvas, outputs, given) {
  const drawing = prepare(canvas);
  let correlation = given;
  if (outputs && correlation === null) {
    let [cross, left, right] = [0, 0, 0];
    for (let n = 0; n < outputs.left.length; n++) {
      cross += outputs.left[n] * outputs.right[n];
      left += outputs.left[n] ** 2;
      right += outputs.right[n] ** 2;
    }
    correlation = left > 0 && right > 0 ? cross / Math.sqrt(left * right) : null;
  }
  if (!drawing) return correlation;
  const { context, width, height, colour } = drawing;
  const [x0, y0, radius] = [width / 2, height / 2, Math.min(width, height) / 2 - 14];
  const [top, right, bottom, left] = [[x0, y0 - radius], [x0 + radius, y0], [x0, y0 + radius], [x0 - radius, y0]];
  const diagonals = [0.5, -0.5].map((x) => [[x0 - x * radius, y0 - radius / 2], [x0 + x * radius, y0 + radius / 2]]);
  strokeLines(context, colour("line"), 1, [top, right, bottom, left, top], [top, bottom], ...diagonals);
  context.fillStyle = colour("quiet");
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.textAlign = "center";
  context.fillText("L", x0 - radius * 0.5 - 12, y0 - radius * 0.5 - 8);
  context.fillText("R", x0 + radius * 0.5 + 12, y0 - radius * 0.5 - 8);
  if (outputs) {
    // Scaled to the loudest frame, at most 40 dB.
    let loudest = 0.01;
    for (let n = 0; n < outputs.left.length; n++) loudest = Math.max(loudest, Math.abs(outputs.left[n]), Math.abs(outputs.right[n]));
    const gain = radius / 2 / loudest;
    context.fillStyle = colour("rms");
    context.globalAlpha = 0.6;
    for (let n = 0; n < outputs.left.length; n++) {
      const [left, right] = [outputs.left[n] * gain, outputs.right[n] * gain];
      context.fillRect(x0 + (right - left) - 0.75, y0 - (left + right) - 0.75, 1.5, 1.5);
    }
    context.globalAlpha = 1;
  }
  canvas.setAttribute("aria-label", correlation === null ? "Goniometer: no sound"
    : `Goniometer: correlation of left and right ${correlation.toFixed(1)}`);
  return correlation;
}

// The levels of a signal over frequency, in dB relative to a sine of full scale, with a Hann window.
export function spectrum(samples) {
  let size = 1;
  while (size * 2 <= samples.length) size *= 2;
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  const from = samples.length - size;
  for (let n = 0, bits = Math.log2(size); n < size; n++) {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) if (n >> bit & 1) reversed |= 1 << (bits - 1 - bit);
    re[reversed] = samples[from + n] * (0.5 - 0.5 * Math.cos(2 * Math.PI * n / size));
  }
  for (let span = 2; span <= size; span *= 2) {
    const half = span / 2;
    for (let k = 0; k < half; k++) {
      const [cos, sin] = [Math.cos(-2 * Math.PI * k / span), Math.sin(-2 * Math.PI * k / span)];
      for (let a = k; a < size; a += span) {
        const b = a + half;
        const [x, y] = [re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos];
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
      }
    }
  }
  // The window's mean is a half, and half of a sine is at negative frequencies.
  return Float64Array.from({ length: size / 2 }, (_, n) => 20 * Math.log10(Math.hypot(re[n], im[n]) / (size / 4) + 1e-9));
}

export function drawSpectrum(canvas, outputs) {
  const drawing = prepare(canvas);
  if (!drawing) return;
  const { context, width, height, colour } = drawing;
  const [left, bottom, floor, lowest, highest] = [30, height - 18, -110, 40, 20000];
  const across = (hz) => left + (width - left) * Math.log(hz / lowest) / Math.log(highest / lowest);
  const up = (level) => 4 + (bottom - 4) * Math.min(1, Math.max(0, level / floor));
  context.fillStyle = colour("quiet");
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  for (const level of [0, -30, -60, -90]) {
    strokeLines(context, colour("line"), 1, [[left, up(level)], [width, up(level)]]);
    context.textAlign = "right";
    context.fillText(String(level).replace("-", "−"), left - 4, Math.max(8, up(level)));
  }
  for (const hz of [100, 1000, 10000]) {
    strokeLines(context, colour("line"), 1, [[across(hz), 4], [across(hz), bottom]]);
    context.textAlign = "center";
    context.fillText(hz >= 1000 ? `${hz / 1000} kHz` : `${hz} Hz`, Math.min(across(hz), width - 20), height - 8);
  }
  if (!outputs) return;
  const words = [];
  for (const ear of ["right", "left"]) {
    const levels = spectrum(outputs[ear]);
    const width = outputs.sampleRate / (2 * levels.length);
    const points = [];
    let [x, best, loudest] = [-1, -200, 1];
    for (let n = 1; n < levels.length; n++) {
      if (levels[n] > levels[loudest]) loudest = n;
      const hz = n * width;
      if (hz < lowest || hz > highest) continue;
      // The highest of all bins that share a pixel.
      const next = Math.round(across(hz));
      if (next !== x) {
        if (x >= 0) points.push([x, up(best)]);
        [x, best] = [next, levels[n]];
      } else {
        best = Math.max(best, levels[n]);
      }
    }
    strokeLines(context, colour(ear), 1.5, [...points, [x, up(best)]]);
    words.unshift(`${ear} ${levels[loudest] < -100 ? "silent" : `loudest near ${Math.round(loudest * width)} Hz`}`);
  }
  const text = `Spectrum: ${words.join(", ")}`;
  const now = performance.now();
  if (now - spoken > 2000) {
    spoken = now;
    canvas.setAttribute("aria-label", text);
  }
}

let spoken = 0;
