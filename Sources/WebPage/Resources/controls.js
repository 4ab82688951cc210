// The controls: what they show, what they ask, and why they are refused or locked.

import { choicesOf, feedNames, findFeed, peopleIn, portCount, stateOf } from "./feeds.js";
import { Looks, PATIENCE } from "./looks.js";
import { Poses } from "./poses.js";

export const element = (id) => document.getElementById(id);

const ORIENTATIONS = { portrait: "top", portraitUpsideDown: "bottom", landscapeLeft: "left", landscapeRight: "right" };
const FEED_CONTROLS = ["orientation", "data-source", "pattern", "look", "pose", "follow", "gain", "mute"];
// Controls that share a place for refusals, by its name.
const GROUPS = {
  look: ["look", "look-azimuth", "look-elevation", "look-off", "look-handle"], pose: ["roll", "yaw"],
  follow: ["follow-roll", "follow-yaw", "follow-look", "follow-talker"],
};
const groupOf = (id) => Object.keys(GROUPS).find((name) => GROUPS[name].includes(id)) ?? id;

// Fetches a JSON document. Throws with Pinna's sentence if it is refused.
export async function getJSON(path, options) {
  const response = await fetch(path, options);
  const text = await response.text();
  let answer;
  try { answer = JSON.parse(text); } catch { answer = { reason: text.trim() }; }
  if (!response.ok) throw new Error(answer.reason || response.statusText);
  return answer;
}

// Sends a request to Pinna.
const send = (method, ...values) => getJSON("/control", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ method, arguments: values }),
});

export class Controls {
  // `status` returns the newest status; `onFeed` is called when another feed is chosen, `onTurn` when its look turns.
  constructor(status, onFeed, onTurn) {
    this.status = status;
    this.onFeed = onFeed;
    // The name of the feed that the controls show and set.
    this.chosen = "main";
    // One that was just added, until it is listed.
    this.added = null;
    // The number of the newest request of each control that has not been answered.
    this.busy = new Map();
    this.asked = 0;
    // What was asked for and may not be in the status yet, by control: its feed (null: all), value, and until when that may be.
    this.wanted = new Map();
    this.inputs = [];
    this.setOrientations(Object.keys(ORIENTATIONS));
    // What of a feed is chosen from a list, or typed: key, JSON key, title, unit, options, whether talkers are options, too.
    this.choices = [];
    this.onSelect("output", (value) => this.set("output", value));
    this.onSelect("listen", (value) => this.set("listen", value));
    this.prepareGain();
    this.looks = new Looks(this, onTurn);
    this.poses = new Poses(this);
    this.onClick("mute", () => this.setFeed("mute", this.isMuted ? "off" : "on"));
    element("feed").addEventListener("change", () => this.choose(element("feed").value));
    this.onClick("feed-remove", async () => {
      if (await this.ask("feed-remove", "/pinna/feed/remove", this.chosen)) this.choose("main");
    });
    this.onSubmit("feed-add", async () => {
      const [name, format] = [element("feed-add").value, element("feed-format").value];
      this.added = name;
      if (await this.ask("feed-add", "/pinna/feed/add", name, Number(format) ? "order" : "format", format)) element("feed-add").value = "";
      else this.added = null;
    });
    this.onClick("record", () => this.isRecording ? this.ask("record", "/pinna/record/stop")
      : this.ask("record", "/pinna/record/start", ...(element("record-raw").checked ? ["raw", "on"] : [])));
    this.onClick("change-cancel", () => this.ask("preset", "/pinna/preset/cancel"));
    this.onSubmit("title", () => this.ask("title", "/pinna/record/title", element("title").value));
    this.onSubmit("marker", async () => {
      if (await this.ask("marker", "/pinna/record/marker", element("marker").value)) element("marker").value = "";
    });
    this.onSubmit("seat", async () => {
      if (await this.set("seat", `${element("seat").value.replaceAll(";", ",")}=${element("seat-place").value}`)) element("seat").value = "";
    });
    this.onSubmit("preset", () => this.ask("preset", "/pinna/preset/use", element("preset").value));
  }

  get isRecording() { return Boolean(this.status().take) || ["recording", "armed"].includes(this.status().state); }

  // The feed that the controls show and set; undefined if there is no such feed any more.
  get feed() { return findFeed(this.status(), this.chosen); }

  choose(name) {
    this.chosen = name;
    for (const id of ["feed-remove", ...FEED_CONTROLS, ...this.choices.map(({ key }) => key)]) this.refuse(id, "");
    this.show();
    this.onFeed();
  }

  // Why the feed cannot be changed; empty if it can.
  get feedLockReason() {
    return this.lockReason || (this.feed ? "" : `Locked: there is no feed ${this.chosen} any more; choose another.`);
  }

  // Why nothing can be changed; empty if everything can.
  get lockReason() {
    const status = this.status();
    if (this.isRecording) {
      const name = status.take ? status.take.path.split("/").pop() : "a take";
      return `Locked while ${name} is recorded; stop the take first.`;
    }
    return "";
  }

  // MARK: Asking

  refuse(id, text) { element(`${id}-refusal`).textContent = text; }

  // Returns whether Pinna did it; otherwise its sentence stands at the control, unless a newer request was sent.
  async ask(id, method, ...values) {
    const number = ++this.asked;
    this.busy.set(id, number);
    this.refuse(id, "");
    try {
      await send(method, ...values);
      return true;
    } catch (error) {
      if (this.busy.get(id) === number) this.refuse(id, error.message);
      return false;
    } finally {
      if (this.busy.get(id) === number) this.busy.delete(id);
      this.show();
    }
  }

  set(key, value) { return this.keep(this.want(key, value, null), this.ask(key, "/pinna/set", key, String(value))); }

  setFeed(key, value, feed = this.chosen) {
    return this.keep(this.want(key, value, feed), this.ask(key, "/pinna/feed/set", feed, key, String(value)));
  }

  // A control shows the value that is wanted, until it is in the status.
  want(id, value, feed) {
    const wanted = { value: String(value), feed, end: Infinity };
    this.wanted.set(id, wanted);
    return wanted;
  }

  async keep(wanted, request) {
    const isDone = await request;
    wanted.end = performance.now() + (isDone ? PATIENCE : 0);
    setTimeout(() => this.show(), isDone ? PATIENCE + 1 : 0);
    return isDone;
  }

  // The value that a control shows, of one that the status has.
  shown(id, value) {
    const wanted = this.wanted.get(id);
    if (!wanted || (wanted.feed ?? this.chosen) !== this.chosen) return value;
    if (performance.now() < wanted.end && (wanted.value !== value || wanted.end === Infinity)) return wanted.value;
    this.wanted.delete(id);
    return value;
  }

  get isMuted() { return this.shown("mute", this.feed.muted ? "on" : "off") === "on"; }

  // A locked control says why, and does nothing.
  isRefusedByLock(id) {
    const target = element(id);
    if (target.getAttribute("aria-disabled") !== "true") return false;
    this.refuse(groupOf(id), target.dataset.reason || this.lockReason);
    return true;
  }

  onClick(id, action) {
    const button = element(id);
    button.addEventListener("click", () => {
      if (id === "change-cancel" || !this.isRefusedByLock(id)) action();
    });
  }

  onSubmit(id, action) {
    element(`${id}-form`).addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.isRefusedByLock(id)) action();
    });
  }

  // While it is locked, a control takes neither the pointer nor any key but those that leave it.
  keepWhileLocked(id, pointerEvent) {
    for (const type of ["keydown", pointerEvent]) element(id).addEventListener(type, (event) => {
      if (!["Tab", "Shift", "Escape"].includes(event.key) && this.isRefusedByLock(id)) event.preventDefault();
    });
  }

  onSelect(id, action) {
    const select = element(id);
    this.keepWhileLocked(id, "mousedown");
    select.addEventListener("change", () => {
      if (this.isRefusedByLock(id)) this.show(); else action(select.value);
    });
  }

  makeChoices(id, choices) {
    const group = element(id);
    const key = JSON.stringify(choices);
    if (group.dataset.shown === key) return;
    group.dataset.shown = key;
    const focused = group.contains(document.activeElement) ? document.activeElement.value : null;
    const labels = choices.map(({ value, text, weak, reason }) => {
      const [label, input] = [document.createElement("label"), document.createElement("input")];
      input.type = "radio";
      input.name = id;
      input.value = value;
      if (reason) input.dataset.reason = reason;
      label.append(input, text);
      if (weak) {
        label.classList.add("weak");
        label.title = weak;
      }
      const isLocked = () => input.getAttribute("aria-disabled") === "true";
      const complain = () => this.refuse(id, input.dataset.reason || this.lockReason);
      input.addEventListener("click", (event) => {
        if (!isLocked()) return;
        event.preventDefault();
        complain();
      });
      input.addEventListener("keydown", (event) => {
        if (!event.key.startsWith("Arrow") || !this.feedLockReason) return;
        event.preventDefault();
        complain();
      });
      input.addEventListener("change", () => {
        if (isLocked()) {
          complain();
          this.show();
        } else {
          this.setFeed(id, value);
        }
      });
      return label;
    });
    group.replaceChildren(group.querySelector("legend"), ...labels);
    if (focused) group.querySelector(`input[value="${CSS.escape(focused)}"]`)?.focus();
  }

  // While the slider moves, the newest value is sent when the one before has been answered.
  prepareGain() {
    const slider = element("gain");
    let next = null;
    const sendNext = async () => {
      if (next === null || this.busy.has("gain")) return;
      const [value, feed] = next;
      next = null;
      await this.setFeed("gain", value, feed);
      sendNext();
    };
    this.keepWhileLocked("gain", "pointerdown");
    slider.addEventListener("input", () => {
      if (this.isRefusedByLock("gain")) {
        this.show();
        return;
      }
      next = [slider.value, this.chosen];
      this.want("gain", ...next);
      this.show();
      sendNext();
    });
  }

  // MARK: Showing

  setMicrophones(names) {
    const select = element("listen");
    // New options would reset an open menu.
    const key = JSON.stringify(names);
    if (select.dataset.shown === key) return;
    select.dataset.shown = key;
    select.replaceChildren(new Option("the outputs", "off"), ...names.map((name) => new Option(name, name)));
    this.show();
  }

  // Those in which the device is held; one that lies on a table has no choice.
  setOrientations(orientations) {
    this.makeChoices("orientation", orientations.map((value) => ({ value, text: `${value}: ${ORIENTATIONS[value]} up` })));
    element("orientation").hidden = orientations.length < 2;
    if (this.feed) this.check("orientation", this.feed.inputOrientation);
  }

  // Who can be named: whoever spoke in the last seconds. A menu that is open stays.
  setTalkers(talkers) {
    const select = element("seat-place");
    element("seat-form").hidden = !talkers.length;
    if (document.activeElement === select) return;
    const chosen = select.selectedOptions[0]?.dataset.identity;
    select.replaceChildren(...talkers.map(({ identity, name, azimuth, elevation }) => {
      const option = new Option(`${name ?? identity} at ${Math.round(azimuth)}°`, `${azimuth},${elevation ?? 0}`);
      option.selected = String(identity) === chosen;
      option.dataset.identity = identity;
      return option;
    }));
  }

  // A field for each, whose row is in Pinna's table of settings.
  setChoices(choices) {
    this.choices = choices;
    const make = (kind, values, ...children) => {
      const made = Object.assign(document.createElement(kind), values);
      made.append(...children);
      return made;
    };
    const list = ({ key, unit, options }) => make("select", { id: key },
      ...options.map((option) => new Option(option === "off" ? option : `${option} ${unit}`, option)));
    element("choices").replaceChildren(...choices.map((choice) => make("div", { className: "field" },
      make("label", { htmlFor: choice.key, textContent: choice.title }),
      choice.options.length ? list(choice) : make("input", { id: choice.key, type: "text", autocomplete: "off", placeholder: choice.placeholder }),
      make("p", { className: "refusal", id: `${choice.key}-refusal`, role: "alert" }))));
    for (const { key } of choices) this.onSelect(key, (value) => this.setFeed(key, value.trim() || "off"));
    this.show();
  }

  setPresets(names) {
    element("preset").replaceChildren(...(names || []).map((name) => new Option(name, name)));
    element("preset").value = this.status().preset;
  }

  setInputs(inputs) {
    this.inputs = inputs;
    this.show();
  }

  showFeed() {
    const names = feedNames(this.status());
    // Beside a mono pattern, the next feed is probably mono, too.
    const format = element("feed-format");
    const offered = portCount(this.status().polarPattern) === 1 ? "mono" : "stereo";
    if (format.dataset.offered !== offered) format.dataset.offered = format.value = offered;
    if (names.includes(this.added)) {
      const name = this.added;
      this.added = null;
      return this.choose(name);
    }
    const options = names.map((name) => [name, name]);
    if (!names.includes(this.chosen)) options.push([`${this.chosen} (has gone)`, this.chosen]);
    const select = element("feed");
    // New options would reset an open menu.
    const key = JSON.stringify(options);
    if (select.dataset.shown !== key) {
      select.dataset.shown = key;
      select.replaceChildren(...options.map(([text, name]) => new Option(text, name)));
    }
    if (select.value !== this.chosen) select.value = this.chosen;
    const { feed, chosen } = this;
    const isMain = chosen === "main";
    element("feed-remove").hidden = isMain || !feed;
    element("output-field").hidden = !isMain;
    this.write("feed-state", stateOf(feed));
    for (const title of ["Device", "Pattern", "Outputs"]) this.write(`${title.toLowerCase()}-title`, isMain ? title : `${title} for ${chosen}`);
    if (!feed) return;
    const { sources, patterns, notes } = choicesOf(feed, this.inputs);
    this.makeChoices("data-source", sources.map(({ name }) => ({ value: name, text: name })));
    this.makeChoices("pattern", patterns);
    this.write("pattern-notes", notes);
    this.check("orientation", feed.inputOrientation);
    this.check("data-source", feed.dataSource);
    this.check("pattern", feed.polarPattern);
    const [slider, gain] = [element("gain"), this.shown("gain", String(feed.gainDB))];
    if (slider.value !== gain) slider.value = gain;
    element("gain-value").textContent = `${Math.round(gain * 10) / 10} dB`;
    slider.setAttribute("aria-valuetext", element("gain-value").textContent);
    for (const { key, json, unit, options, offersTalkers } of this.choices) {
      if (offersTalkers) this.offer(key, [...options, ...peopleIn(this.status())]);
      if (options.length) this.select(key, String(feed[json] ?? options[0]), (value) => `${value} ${unit}`);
      else this.fill(key, String(feed[json] ?? ""));
    }
    element("mute").setAttribute("aria-checked", String(this.isMuted));
    this.write("mute", this.isMuted ? "Muted" : "Mute");
    const own = feed.outputs.map(({ name }) => name);
    const outputs = (this.status().connections || []).filter(({ port }) => own.includes(port));
    const peers = [...new Set(outputs.flatMap(({ peers }) => peers))];
    this.write("output-ports", peers.length ? `Connected to ${peers.join(", ")}` : "The outputs are connected to nothing.");
  }

  show() {
    const status = this.status();
    if (status.state === undefined) return;
    this.showFeed();
    this.looks.show();
    this.poses.show();
    this.showLock();
    this.select("output", status.output.choice);
    this.select("listen", status.listening ?? "off");
    this.write("adapt-state", status.adaptationText ?? "");
    this.write("wind-state", status.windText ?? "");
    element("record-raw").disabled = this.isRecording;
    element("record").classList.toggle("stop", this.isRecording);
    element("record").textContent = this.isRecording ? (status.state === "armed" ? "Disarm" : "Stop take") : "Record";
    const title = element("title");
    const shown = status.take?.title ?? "";
    if (document.activeElement !== title && title.dataset.shown !== shown) {
      title.dataset.shown = shown;
      title.value = shown;
    }
    const change = status.change;
    element("change").hidden = !change;
    if (change) {
      element("change-progress").value = change.progress;
      element("change-text").textContent = `Designing filters of ${change.preset}: ${Math.round(change.progress * 100)} %`;
      element("change-cancel").hidden = status.server === "joining";
    }
  }

  write(id, text) {
    if (element(id).textContent !== text) element(id).textContent = text;
  }

  check(id, value) {
    const shown = this.shown(id, value);
    for (const input of element(id).querySelectorAll("input")) input.checked = input.value === shown;
  }

  // The options of a list whose options change; while it is open they stay.
  offer(id, values) {
    const select = element(id);
    const key = JSON.stringify(values);
    if (select.dataset.shown === key || document.activeElement === select) return;
    select.dataset.shown = key;
    select.replaceChildren(...values.map((value) => new Option(/^[0-9]+$/.test(value) ? `talker ${value}` : value, value)));
  }

  // A text that nobody is typing.
  fill(id, value) {
    const [field, wanted] = [element(id), this.shown(id, value)];
    const shown = wanted === "off" ? "" : wanted;
    if (document.activeElement !== field && field.value !== shown) field.value = shown;
  }

  select(id, value, word = (value) => value) {
    const select = element(id);
    if (value === undefined) return;
    const shown = this.shown(id, value);
    if (![...select.options].some((option) => option.value === shown)) select.append(new Option(word(shown), shown));
    if (select.value !== shown) select.value = shown;
  }

  showLock() {
    const [reason, feedReason] = [this.lockReason, this.feedLockReason];
    const isNew = this.shownReason !== feedReason;
    this.shownReason = feedReason;
    // A refusal because of a lock is over with the lock.
    if (isNew && !feedReason) for (const note of document.querySelectorAll(".refusal")) {
      if (note.textContent.startsWith("Locked")) note.textContent = "";
    }
    const lock = (input, why, note) => {
      if (why) {
        input.setAttribute("aria-disabled", "true");
        input.dataset.reason = why;
        if (note) input.setAttribute("aria-describedby", note);
      } else {
        input.removeAttribute("aria-disabled");
        input.removeAttribute("aria-describedby");
        delete input.dataset.reason;
      }
    };
    element("lock").hidden = !feedReason;
    this.write("lock", feedReason);
    for (const id of ["orientation", "data-source", "pattern"]) {
      for (const input of element(id).querySelectorAll("input")) {
        input.dataset.own ??= input.dataset.reason ?? "";
        lock(input, feedReason || input.dataset.own, feedReason && "lock");
      }
    }
    for (const id of ["gain", "mute", ...this.choices.map(({ key }) => key), ...Object.values(GROUPS).flat()]) lock(element(id), feedReason, "lock");
    for (const input of [...["listen", "output", "feed-remove", "preset"].map(element),
      ...document.querySelectorAll("#feed-add-form :is(input, select, button), #preset-form button, #seat-form :is(input, select, button)")]) lock(input, reason, "lock");
    const idle = this.isRecording ? "" : "A title and markers belong to a take: start one first.";
    for (const id of ["title", "marker"]) {
      lock(element(id), idle);
      lock(element(`${id}-form`).querySelector("button"), idle);
    }
  }
}
