// The page of a running Pinna: shows what the event stream says, and sends what its controls ask.
import { Controls, element, getJSON } from "./controls.js";
import { drawGoniometer, drawMeters, drawPolar, drawSpectrum, Meters, decodeOutputs } from "./drawings.js";
import { bFormatOrder, feedNames, findFeed, portCount } from "./feeds.js";
import { Takes } from "./takes.js";

let status = {};
let curves = null;
let outputs = null;
const meters = new Meters();
const controls = new Controls(() => status, () => showFeed(), () => showCurves());
const takes = new Takes();

// MARK: The event stream, open only while the page is visible.

let source = null;
let retry = 0;

function connect() {
  if (source || document.hidden) return;
  source = new EventSource("/events");
  source.onopen = () => { status = {}; loaded.clear(); setAlert(""); };
  source.addEventListener("status", (event) => {
    const changes = JSON.parse(event.data);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) delete status[key]; else status[key] = value;
    }
    setAlert("");
    showStatus(changes);
  });
  source.addEventListener("levels", (event) => {
    meters.add(JSON.parse(event.data));
    requestDrawing();
  });
  source.addEventListener("outputs", (event) => {
    outputs = decodeOutputs(JSON.parse(event.data));
    requestDrawing();
  });
  source.addEventListener("absent", (event) => {
    setAlert(JSON.parse(event.data));
    outputs = null;
    requestDrawing();
  });
  source.onerror = () => {
    setAlert("The connection to Pinna is lost. If Pinna was started again, open the address that it printed.");
    if (source && source.readyState === EventSource.CLOSED) {
      disconnect();
      retry = setTimeout(connect, 2000);
    }
  };
}

function disconnect() {
  clearTimeout(retry);
  if (source) source.close();
  source = null;
}

document.addEventListener("visibilitychange", () => document.hidden ? disconnect() : connect());

let connectionAlert = "";

function setAlert(text) {
  connectionAlert = text;
  showAlerts();
}

function showAlerts() {
  const sentences = [connectionAlert, status.silence && `Nothing is heard: ${status.silence}`,
    ...(status.warnings || []).filter((warning) => !status.silence?.startsWith(warning))].filter(Boolean);
  const alerts = element("alerts");
  const text = sentences.join(" · ");
  if (alerts.textContent !== text) alerts.textContent = text;
  alerts.hidden = sentences.length === 0;
}

// MARK: What the status shows.

const time = (seconds) => {
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
};

function setText(id, text) {
  const node = element(id);
  if (node.textContent !== text) node.textContent = text;
}

function showStatus(changes) {
  showAlerts();
  const serverWords = { running: "", stalled: "no periods reach Pinna", gone: "the JACK server has gone",
    joining: "preparing filters and ports", unusable: "the server cannot be used" };
  setText("server", serverWords[status.server] || "");
  const isReady = status.server !== "joining";
  setText("summary", [status.preset, ...isReady ? [`${status.sampleRate} Hz`, `${status.period} frames`,
    `${status.xruns} ${status.xruns === 1 ? "xrun" : "xruns"}`, `${Math.round(status.dspLoad * 10) / 10} % load`]
    : status.change ? [`filters ${Math.round(status.change.progress * 100)} %`] : []].join(" · "));
  document.title = status.state === "recording" ? `● ${status.preset} – Pinna` : `${status.preset} – Pinna`;
  showTake();
  controls.show();
  const facts = { Input: status.input && status.input.name, Latency: `${status.latencyFrames} frames`,
    // Microphones, two outputs, the port for MIDI, and those of feeds.
    "Connected ports": !isReady ? "none yet: filters are being designed" : `${(status.connections || []).length} of ${status.microphones + 3
      + (status.feeds ?? []).reduce((sum, { outputs }) => sum + outputs.length, 0)}`,
    Feeds: feedNames(status).join(", "),
    Calibrated: (status.calibrated || "no") + (status.calibratedFrom === "simulated" ? ", in a simulated scene" : ""),
    "Clipped samples": status.clippedSamples };
  const key = JSON.stringify(facts);
  const list = element("facts");
  if (list.dataset.shown !== key) {
    list.dataset.shown = key;
    list.replaceChildren(...Object.entries(facts).flatMap(([name, value]) => {
      const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      detail.textContent = value;
      return [term, detail];
    }));
  }
  showFeed();
  showTalkers();
  if (isReady && isNew("inputs", status.device, status.input, status.sampleRate, status.fallback)) loadInputs();
  if (isNew("presets", status.preset)) loadPresets();
  if (!controls.choices.length && isNew("settings")) loadChoices();
  if ("lastTake" in changes || "closingTakes" in changes || "take" in changes && !status.take) takes.load();
}

function showTalkers() {
  const { talkers, talkersText } = status;
  const words = (talkers ?? []).map(({ identity, name, azimuth, isActive }) => `${name ?? identity} at ${Math.round(azimuth)}°${isActive ? "" : " (silent)"}`);
  setText("talkers-state", talkers || talkersText ? `talkers: ${talkers ? words.join(", ") || "nobody" : talkersText}` : "");
  if (!isNew("talkers", words, controls.chosen)) return;
  controls.setTalkers(talkers ?? []);
  showCurves();
}

// Those that can be drawn: their angles are seen from the data source of main as the device is held.
function drawnTalkers() {
  const { feed } = controls;
  const isSeen = feed?.dataSource === status.dataSource && feed.inputOrientation === status.inputOrientation && !feed.roll && !feed.yaw;
  return isSeen ? status.talkers ?? [] : [];
}

// What was loaded last, and for what.
const loaded = new Map();

function isNew(what, ...values) {
  const key = JSON.stringify(values);
  if (loaded.get(what) === key) return false;
  loaded.set(what, key);
  return true;
}

// In milliseconds, after a failure; then the next status loads again.
const RETRY = 1000;

function hasFailed(what) {
  const key = loaded.get(what);
  setTimeout(() => { if (loaded.get(what) === key) loaded.delete(what); }, RETRY);
}

// Loads what belongs to the chosen feed.
function showFeed() {
  const { feed } = controls;
  if (!feed) return;
  const { name, dataSource, polarPattern, inputOrientation, look, roll, yaw } = feed;
  const { device, input, sampleRate, mutedMicrophones, fallback } = status;
  if (isNew("device", name, dataSource, polarPattern, inputOrientation, roll, yaw, device, input, mutedMicrophones, fallback)) loadDevice(name);
  if (status.server === "joining") return setText("polar-state", "The filters are being designed.");
  if (isNew("curves", name, dataSource, polarPattern, inputOrientation, look, roll, yaw, device, input, sampleRate, fallback)) loadCurves(feed);
}

function showTake() {
  const take = status.take;
  const seconds = take && status.sampleRate ? take.frames / status.sampleRate : 0;
  setText("take-time", time(seconds));
  let text = "No take is running.";
  if (take) {
    const name = take.path.split("/").pop();
    const left = take.secondsLeft === undefined ? "" : ` Room for ${time(take.secondsLeft)} more.`;
    text = (status.state === "armed" ? `${name} begins with the transport.` : `${name}.`)
      + (take.feeds?.length > 1 ? ` Feeds ${take.feeds.join(", ")}.` : "") + (take.raw ? " With the microphones." : "")
      + (take.title ? ` “${take.title}”.` : "")
      + (take.markers ? ` ${take.markers} ${take.markers === 1 ? "marker" : "markers"}.` : "") + left + (take.fault ? ` ${take.fault}` : "") + (take.loss ? ` ${take.loss}` : "");
  } else if (status.lastTake) {
    const last = status.lastTake;
    text = `Last: ${last.path.split("/").pop()}, ` + (last.fault ? last.fault : "complete")
      + (last.endedBecause ? `; it ended because ${last.endedBecause}` : "");
  }
  setText("take", text);
}

// MARK: What is asked for once per device or case.

let devicesWanted = 0;

async function loadDevice(feed) {
  const wanted = ++devicesWanted;
  let device;
  try { device = await getJSON(`/device/${feed}`); } catch (error) {
    if (wanted !== devicesWanted) return;
    hasFailed("device");
    return setText("device-name", error.message);
  }
  // An older answer may come later.
  if (wanted !== devicesWanted) return;
  setText("device-name", `${device.title}, ${device.microphones.length} microphones`);
  element("device-picture").innerHTML = device.picture;
  controls.setMicrophones(device.microphones);
  controls.setOrientations(device.orientations);
  controls.looks.setHeight(device.hasHeight);
  controls.poses.setClockwise(device.clockwise);
}

// Why the last request failed that did.
const failures = new Map();

// Hands a document to `use`; `place` says why it could not be had, until it is.
async function load(what, place, use) {
  let answer;
  try { answer = await getJSON(`/${what}`); } catch (error) {
    failures.set(what, error.message);
    hasFailed(what);
    return setText(place, error.message);
  }
  if (element(place).textContent === failures.get(what)) setText(place, "");
  use(answer);
}

const loadInputs = () => load("inputs", "pattern-refusal", ({ inputs }) => controls.setInputs(inputs));
const loadPresets = () => load("presets", "preset-refusal", ({ presets }) => controls.setPresets(presets));
const loadChoices = () => load("settings", "feed-state", (choices) => controls.setChoices(choices));

let curvesWanted = null;
let isLoadingCurves = false;

// One at a time, then the newest: a look that turns would ask for more than can be computed.
async function loadCurves(feed) {
  curvesWanted = feed;
  if (isLoadingCurves) return;
  isLoadingCurves = true;
  while (curvesWanted) {
    const feed = curvesWanted;
    curvesWanted = null;
    await loadCurvesOf(feed);
  }
  isLoadingCurves = false;
}

async function loadCurvesOf({ name, polarPattern }) {
  if (bFormatOrder(polarPattern)) {
    curves = null;
    setText("polar-state", `To plot B-format: pinna report --format ambix --order ${bFormatOrder(polarPattern)} --plots DIR`);
    return showCurves();
  }
  // Those of another feed would be taken for this one's.
  if (curves && curves.feed !== name) {
    curves = null;
    showCurves();
  }
  setText("polar-state", "Computing the pattern …");
  let [answer, text] = [null, ""];
  try { answer = await getJSON(`/curves/${name}`); } catch (error) { text = error.message; }
  if (curvesWanted) return;
  if (!answer) hasFailed("curves");
  curves = answer && { ...answer, feed: name };
  setText("polar-state", text);
  showCurves();
}

function showCurves() {
  const select = element("octave");
  if (curves) {
    const words = curves.octaves.map((hz) => hz >= 1000 ? `${hz / 1000} kHz` : `${hz} Hz`);
    if (select.dataset.shown !== words.join()) {
      const chosen = select.value || "1000";
      select.dataset.shown = words.join();
      select.replaceChildren(...words.map((word, n) => new Option(word, curves.octaves[n])));
      select.value = chosen;
      if (select.selectedIndex < 0) select.selectedIndex = Math.floor(words.length / 2);
    }
    const isStereo = curves.levels[0].length === 2;
    setText("polar-first", isStereo ? "left" : "reached");
    element("polar-second").hidden = !isStereo;
  }
  drawPolar(element("polar"), curves, select.selectedIndex, controls.looks.arrow, drawnTalkers(), otherLooks());
  controls.looks.place();
}

// Where other feeds look, seen from the chosen one's forward: those of its data source and orientation.
function otherLooks() {
  const { feed, chosen } = controls;
  return feedNames(status).filter((name) => name !== chosen).map((name) => findFeed(status, name))
    .filter(({ look, polarPattern, dataSource, inputOrientation }) => look && portCount(polarPattern) === 1
      && dataSource === feed?.dataSource && inputOrientation === feed.inputOrientation)
    .map(({ name, look }) => ({ name, azimuth: look[0] }));
}

element("octave").addEventListener("change", showCurves);

// MARK: Drawing, at most once per frame of the screen.

let isDrawingRequested = false;

function requestDrawing() {
  if (isDrawingRequested) return;
  isDrawingRequested = true;
  requestAnimationFrame(() => {
    isDrawingRequested = false;
    drawMeters(element("meters"), meters);
    setText("clips", meters.clipText);
    const correlation = drawGoniometer(element("goniometer"), outputs, meters.correlation);
    setText("correlation", correlation === null ? "Correlation: –" : `Correlation: ${correlation.toFixed(2)}`);
    drawSpectrum(element("spectrum"), outputs);
    setText("outputs-state", outputs ? "" : "No sound of the outputs has come yet.");
  });
}

element("clear-clips").addEventListener("click", () => { meters.clearClips(); requestDrawing(); });

const redraw = () => { showCurves(); requestDrawing(); };
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

takes.load();
connect();
