// The takes of the takes folder, and their player.

import { element, getJSON } from "./controls.js";

const clock = (seconds, digits = 0) => {
  const [minutes, rest] = [Math.floor(seconds / 60), digits ? seconds % 60 : Math.floor(seconds % 60)];
  return `${minutes}:${rest.toFixed(digits).padStart(digits ? digits + 3 : 2, "0")}`;
};

export class Takes {
  timer = 0;
  // The name of the take whose title, seats and markers are being edited.
  edited = null;

  // Several reasons to load within a moment count once.
  load() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.loadNow(), 150);
  }

  async loadNow() {
    let list;
    try {
      list = await getJSON("/takes");
      element("takes-refusal").textContent = "";
    } catch (error) {
      element("takes-refusal").textContent = error.message;
      return;
    }
    element("takes-folder").textContent = list.takes.length ? list.folder : `There are no takes in ${list.folder} yet.`;
    element("takes").replaceChildren(...list.takes.map((take) => this.item(take)));
  }

  item(take) {
    const item = document.createElement("li");
    const add = (tag, text, className) => {
      const node = document.createElement(tag);
      node.textContent = text;
      node.className = className ?? "";
      if (tag === "button") node.type = "button";
      item.append(node);
      return node;
    };
    add("span", take.title ? `“${take.title}” · ${take.name}` : take.name, "name");
    const { length } = take.markers;
    add("span", [clock(take.seconds), take.channels === 1 ? "mono" : take.channels === 2 ? "stereo" : `${take.channels} channels`,
      take.feeds.length > 1 ? `feeds ${take.feeds.join(", ")}` : "", take.microphones ? "microphones" : "",
      length ? `${length} ${length === 1 ? "marker" : "markers"}` : "", take.state].filter(Boolean).join(" · "), "detail");
    if (["recording", "cut"].includes(take.state)) return item;
    const button = add("button", "Play");
    button.setAttribute("aria-label", `Play ${take.name}`);
    button.addEventListener("click", () => this.play(take));
    const who = add("button", "Talkers");
    who.setAttribute("aria-label", `Show who spoke in ${take.name}`);
    who.addEventListener("click", () => this.showTalkers(take, item, who));
    const edit = add("button", "Edit");
    edit.setAttribute("aria-label", `Edit the title, the seats and the markers of ${take.name}`);
    edit.setAttribute("aria-expanded", String(this.edited === take.name));
    edit.addEventListener("click", () => {
      this.edited = this.edited === take.name ? null : take.name;
      this.loadNow();
    });
    if (this.edited === take.name) {
      const fields = document.createElement("div");
      fields.className = "edit";
      fields.append(this.field(take, "Title", take.title ?? "", (title) => ({ title })),
        this.field(take, "Seats: anna=40; ben=-35,10", take.seats.join("; "), (seats) => ({ seats }), 4000),
        ...take.markers.map(({ seconds, label }) => this.field(take, `Marker at ${clock(seconds, 1)}`, label, (label) => ({ marker: seconds, label }))),
        this.newMarker(take));
      item.append(fields);
    }
    return item;
  }

  // Draws who spoke when, and from where, which may take a while to find.
  async showTalkers(take, item, button) {
    const image = new Image();
    image.className = "talkers";
    image.alt = `Who spoke when in ${take.name}, and from where`;
    image.src = `/talkers/${encodeURIComponent(take.name)}`;
    button.disabled = true;
    element("takes-refusal").textContent = "";
    try {
      await image.decode();
      item.querySelector(".talkers")?.remove();
      item.append(image);
    } catch {
      // An image does not tell why.
      await getJSON(image.src).catch((error) => { element("takes-refusal").textContent = error.message; });
    }
    button.disabled = false;
  }

  // A text of a take, which is sent when it has been changed.
  field(take, name, value, change, longest = 200) {
    const [label, input] = [document.createElement("label"), document.createElement("input")];
    input.type = "text";
    input.maxLength = longest;
    input.value = value;
    input.addEventListener("change", () => this.send(take, change(input.value)));
    label.append(`${name} `, input);
    return label;
  }

  // Where the player of the take is, or at its beginning.
  newMarker(take) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Add a marker where the player is";
    button.addEventListener("click", () => {
      const marker = element("playing").textContent === take.name ? element("audio").currentTime : 0;
      this.send(take, { marker, label: String(take.markers.length + 1) });
    });
    return button;
  }

  async send(take, change) {
    try {
      await getJSON("/takes", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ take: take.name, ...change }) });
      element("takes-refusal").textContent = "";
    } catch (error) {
      element("takes-refusal").textContent = error.message;
      return;
    }
    this.loadNow();
  }

  play(take) {
    const audio = element("audio");
    element("player").hidden = false;
    element("playing").textContent = take.name;
    element("takes-refusal").textContent = "";
    audio.onerror = () => { element("takes-refusal").textContent = `This browser cannot play ${take.name}.`; };
    audio.src = `/takes/${encodeURIComponent(take.name)}`;
    audio.play().catch(() => {});
  }
}
