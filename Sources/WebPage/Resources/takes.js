// The takes of the takes folder, and their player.

import { element, getJSON } from "./controls.js";

export class Takes {
  timer = 0;

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
    const [name, detail, button] = ["span", "span", "button"].map((tag) => document.createElement(tag));
    name.className = "name";
    name.textContent = take.name;
    detail.className = "detail";
    const minutes = Math.floor(take.seconds / 60);
    detail.textContent = `${minutes}:${String(Math.floor(take.seconds % 60)).padStart(2, "0")} · `
      + `${take.channels === 1 ? "mono" : take.channels === 2 ? "stereo" : take.channels + " channels"} · ${take.state}`;
    button.type = "button";
    button.textContent = "Play";
    button.setAttribute("aria-label", `Play ${take.name}`);
    button.addEventListener("click", () => this.play(take));
    item.append(name, detail);
    if (!["recording", "cut"].includes(take.state)) item.append(button);
    return item;
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
