// The look, where a mono pattern listens: fields set it; arrow keys and the plot turn it.

import { polarPlace } from "./drawings.js";
import { portCount } from "./feeds.js";

// In milliseconds, between two requests while it turns.
const INTERVAL = 50;
// How long after its answer a value is shown that the status does not have yet, in milliseconds.
export const PATIENCE = 400;

const element = (id) => document.getElementById(id);

// A look is [azimuth, elevation] in degrees, left and up positive; null is the data source's forward.
const AHEAD = [0, 0];

// An angle in degrees, above -180 and up to 180.
export const wrapped = (degrees) => {
  const around = (degrees % 360 + 360) % 360;
  return around > 180 ? around - 360 : around;
};

const turned = ([azimuth, elevation], left, up) => [wrapped(azimuth + left), Math.min(90, Math.max(-90, elevation + up))];

const word = (look) => look ? look.join() : "off";

function spoken(look) {
  if (!look) return "off, forward";
  const [azimuth, elevation] = look;
  const side = azimuth === 0 ? "forward" : azimuth === 180 ? "behind" : `${Math.abs(azimuth)}° to the ${azimuth > 0 ? "left" : "right"}`;
  return elevation ? `${side}, ${Math.abs(elevation)}° ${elevation > 0 ? "up" : "down"}` : side;
}

// Makes a field for an angle: `onChange` is called when a number has been typed, `onTurn` with the degrees that an arrow key
// adds, and `show` when it is left.
export function prepareAngle(field, controls, { onChange, onTurn, show }) {
  field.addEventListener("input", () => { field.dataset.typed = "true"; });
  field.addEventListener("change", () => {
    delete field.dataset.typed;
    onChange();
  });
  field.addEventListener("blur", () => { delete field.dataset.typed; show(); });
  field.addEventListener("keydown", (event) => {
    if (["Tab", "Shift", "Escape"].includes(event.key)) return;
    if (controls.isRefusedByLock(field.id)) event.preventDefault();
    const degrees = { ArrowUp: 1, ArrowDown: -1 }[event.key] * (event.shiftKey ? 1 : 5);
    if (!degrees || event.defaultPrevented) return;
    event.preventDefault();
    delete field.dataset.typed;
    onTurn(degrees);
  });
}

export class Looks {
  // `onTurn` is called when another look is shown.
  constructor(controls, onTurn) {
    this.controls = controls;
    this.onTurn = onTurn;
    this.hasHeight = false;
    // The look that was asked for and is not in the status yet, with its feed and until when that may be.
    this.asked = null;
    // Whether a request waits for the interval to pass.
    this.isWaiting = false;
    this.lastSent = 0;
    this.prepareFields();
    this.prepareHandle();
    controls.onClick("look-off", () => this.ask(null));
  }

  // The look that is shown.
  get look() {
    const { feed, chosen } = this.controls;
    if (this.asked && this.asked.feed === chosen && performance.now() < this.asked.end) return this.asked.look;
    return feed?.look ?? null;
  }

  // Whether keys and the plot turn it. They do not make mono of stereo, as the fields do.
  get isTurnable() { return Boolean(this.controls.feed) && portCount(this.controls.feed.polarPattern) === 1; }

  // The azimuth of the arrow; null if there is none.
  get arrow() { return this.isTurnable && this.look ? this.look[0] : null; }

  // MARK: Asking

  // The newest look is sent, without waiting for answers: a newer one ends the design of an older one.
  ask(look) {
    if (this.controls.isRefusedByLock("look")) return this.show();
    const feed = this.controls.chosen;
    if (this.asked?.feed === feed && this.asked.end === Infinity && word(this.asked.look) === word(look)) return;
    this.asked = { feed, look, end: Infinity };
    this.show();
    if (this.isWaiting) return;
    this.isWaiting = true;
    setTimeout(() => this.send(), Math.max(0, this.lastSent + INTERVAL - performance.now()));
  }

  async send() {
    this.isWaiting = false;
    this.lastSent = performance.now();
    const { asked } = this;
    if (!asked) return;
    const isDone = await this.controls.setFeed("look", word(asked.look), asked.feed);
    asked.end = performance.now() + (isDone ? PATIENCE : 0);
    setTimeout(() => this.show(), isDone ? PATIENCE + 1 : 0);
  }

  turn(left, up) { this.ask(turned(this.look ?? AHEAD, left, up)); }

  // MARK: Fields, keys and the plot

  prepareFields() {
    const fields = [element("look-azimuth"), element("look-elevation")];
    fields.forEach((field, n) => prepareAngle(field, this.controls, {
      onChange: () => {
        const [azimuth, elevation] = fields.map(({ valueAsNumber }) => valueAsNumber);
        this.ask(isNaN(azimuth) && (n === 0 || isNaN(elevation)) ? null : [azimuth || 0, elevation || 0]);
      },
      onTurn: (degrees) => n === 0 ? this.turn(degrees, 0) : this.turn(0, degrees),
      show: () => this.show(),
    }));
  }

  prepareHandle() {
    const [plot, handle] = [element("plot"), element("look-handle")];
    handle.addEventListener("keydown", (event) => {
      const [left, up] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? AHEAD;
      if (!left && !(up && this.hasHeight)) return;
      event.preventDefault();
      const degrees = event.shiftKey ? 1 : 5;
      this.turn(left * degrees, up * degrees);
    });
    const follow = (event) => {
      const canvas = element("polar");
      const [box, [x0, y0, radius]] = [canvas.getBoundingClientRect(), polarPlace(canvas)];
      const [left, front] = [box.left + x0 - event.clientX, box.top + y0 - event.clientY];
      // The middle is no direction.
      if (Math.hypot(left, front) < radius / 8) return;
      const step = event.shiftKey ? 1 : 5;
      const azimuth = Math.round(Math.atan2(left, front) * 180 / Math.PI / step) * step;
      this.ask(turned([azimuth, (this.look ?? AHEAD)[1]], 0, 0));
    };
    plot.addEventListener("pointerdown", (event) => {
      // A finger beside the handle moves the page.
      if (!this.isTurnable || event.button !== 0 || event.pointerType === "touch" && event.target !== handle) return;
      event.preventDefault();
      handle.focus();
      plot.setPointerCapture(event.pointerId);
      follow(event);
    });
    plot.addEventListener("pointermove", (event) => {
      if (plot.hasPointerCapture(event.pointerId)) follow(event);
    });
  }

  // MARK: Showing

  setHeight(hasHeight) {
    this.hasHeight = hasHeight;
    this.show();
  }

  show() {
    const { controls, look } = this;
    const { feed, chosen } = controls;
    if (!feed) return;
    element("look").hidden = chosen !== "main" && !this.isTurnable;
    element("look-elevation-field").hidden = !this.hasHeight && !look?.[1];
    for (const [n, id] of ["look-azimuth", "look-elevation"].entries()) {
      const [field, value] = [element(id), look ? String(look[n]) : ""];
      if (!field.dataset.typed && field.value !== value) field.value = value;
      field.setAttribute("aria-valuetext", spoken(look));
    }
    const handle = element("look-handle");
    handle.hidden = !this.isTurnable;
    handle.classList.toggle("set", look !== null);
    handle.setAttribute("aria-valuenow", String((look ?? AHEAD)[0]));
    handle.setAttribute("aria-valuetext", spoken(look));
    const { designing } = controls.status();
    controls.write("look-state", chosen === "main" && designing
      ? `Filters for the look ${spoken(designing)} are being designed; until then the nearest play.` : "");
    const shown = JSON.stringify([chosen, this.isTurnable, look]);
    if (this.shown === shown) return;
    this.shown = shown;
    this.place();
    this.onTurn();
  }

  // Puts the handle at the tip of the arrow.
  place() {
    const [x0, y0, radius] = polarPlace(element("polar"));
    const angle = (this.look ?? AHEAD)[0] * Math.PI / 180;
    const { style } = element("look-handle");
    style.left = `${x0 - Math.sin(angle) * radius}px`;
    style.top = `${y0 - Math.cos(angle) * radius}px`;
  }
}
