// Roll and yaw of stereo and B-format, what follows a head tracker or a talker, and the device that is drawn as it rolls.

import { portCount } from "./feeds.js";
import { PATIENCE, prepareAngle, wrapped } from "./looks.js";

// In milliseconds, between two requests.
const INTERVAL = 50;
const ANGLES = ["roll", "yaw"];
const FOLLOWED = ["roll", "yaw", "look", "talker"];

const element = (id) => document.getElementById(id);

export class Poses {
  constructor(controls) {
    this.controls = controls;
    // How far a degree of roll turns the device in the drawing, clockwise.
    this.clockwise = 0;
    // What was asked for and is not in the status yet, by "pose" and "follow": its feed, values, and until when that may be.
    this.asked = {};
    // Which of them wait for the interval to pass.
    this.waiting = {};
    this.lastSent = {};
    for (const key of ANGLES) prepareAngle(element(key), controls, {
      onChange: () => this.turn(key, element(key).valueAsNumber || 0),
      onTurn: (degrees) => this.turn(key, this.pose[key] + degrees),
      show: () => this.show(),
    });
    for (const key of FOLLOWED) element(`follow-${key}`).addEventListener("click", (event) => {
      if (controls.isRefusedByLock(event.target.id)) return event.preventDefault();
      this.ask("follow", { follow: FOLLOWED.filter((key) => element(`follow-${key}`).checked).join() || "off" });
    });
  }

  // Whether the feed has roll and yaw.
  get isTurnable() { return Boolean(this.controls.feed) && portCount(this.controls.feed.polarPattern) > 1; }

  // The angles and what is followed, as shown.
  get pose() { return this.pending("pose") ?? Object.fromEntries(ANGLES.map((key) => [key, this.controls.feed?.[key] ?? 0])); }
  get followed() { return this.pending("follow")?.follow.split(",") ?? this.controls.feed?.follow ?? []; }

  pending(kind) {
    const asked = this.asked[kind];
    return asked && asked.feed === this.controls.chosen && performance.now() < asked.end ? asked.values : null;
  }

  // MARK: Asking

  turn(key, degrees) {
    if (this.controls.isRefusedByLock(key)) return this.show();
    this.ask("pose", { ...this.pose, [key]: wrapped(degrees) });
  }

  // The newest values are sent, without waiting for answers: newer ones end the design of older ones.
  ask(kind, values) {
    this.asked[kind] = { feed: this.controls.chosen, values, end: Infinity };
    this.show();
    if (this.waiting[kind]) return;
    this.waiting[kind] = true;
    setTimeout(() => this.send(kind), Math.max(0, (this.lastSent[kind] ?? 0) + INTERVAL - performance.now()));
  }

  async send(kind) {
    this.waiting[kind] = false;
    this.lastSent[kind] = performance.now();
    const asked = this.asked[kind];
    const words = Object.entries(asked.values).flatMap(([key, value]) => [key, String(value)]);
    const isDone = await this.controls.ask(kind, "/pinna/feed/set", asked.feed, ...words);
    asked.end = performance.now() + (isDone ? PATIENCE : 0);
    setTimeout(() => this.show(), isDone ? PATIENCE + 1 : 0);
  }

  // MARK: Showing

  setClockwise(clockwise) {
    this.clockwise = clockwise;
    this.show();
  }

  show() {
    const { controls, pose, followed, isTurnable } = this;
    if (!controls.feed) return;
    element("pose").hidden = !isTurnable;
    for (const key of ANGLES) {
      const [field, value] = [element(key), pose[key] ? String(pose[key]) : ""];
      if (!field.dataset.typed && field.value !== value) field.value = value;
    }
    for (const key of FOLLOWED) {
      const box = element(`follow-${key}`);
      box.checked = followed.includes(key);
      box.parentElement.hidden = isTurnable === ["look", "talker"].includes(key);
    }
    const { preferred, roll, yaw, dataSource, tracker } = controls.status();
    const isDesigned = preferred?.dataSource !== dataSource || preferred.roll === roll && preferred.yaw === yaw;
    controls.write("pose-state", controls.chosen !== "main" || isDesigned ? ""
      : "Filters for the pose are being designed; until then the nearest play.");
    const late = tracker?.secondsAgo >= 2 ? `; nothing for ${Math.round(tracker.secondsAgo)} s` : "";
    const word = (key) => `${key} ${Math.round(tracker[key])}°`;
    controls.write("tracker", tracker ? `head tracker: ${["yaw", "pitch", "roll"].map(word).join(", ")}${late}` : "");
    this.rollDevice(isTurnable ? followed.includes("roll") && tracker ? tracker.roll : pose.roll : 0);
  }

  // Left and right stay level.
  rollDevice(roll) {
    const device = document.querySelector("#device-picture .device");
    const turn = `rotate(${Math.round(roll * this.clockwise)} ${device?.dataset.middle})`;
    if (device && device.getAttribute("transform") !== turn) device.setAttribute("transform", turn);
  }
}
