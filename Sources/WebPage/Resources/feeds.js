// Feeds as their reports say: which there are, how they are, and what they can choose from.

const MAIN_PORTS = ["out_left", "out_right"];

export const feedNames = (status) => ["main", ...(status.feeds ?? []).map(({ name }) => name)];

// The feed called `name`, main in the words of the others; undefined if there is none.
export const findFeed = (status, name) => name === "main"
  ? { ...status, name, outputs: MAIN_PORTS.map((name) => ({ name })), isHeard: true }
  : (status.feeds ?? []).find((feed) => feed.name === name);

// Those of whom a part can be: who is seated, and who else spoke in the last seconds, by number.
export function peopleIn({ seats, talkers }) {
  const seated = (seats ?? []).map((seat) => seat.slice(0, seat.lastIndexOf("=")));
  return [...seated, ...(talkers ?? []).filter(({ name }) => !seated.includes(name)).map(({ identity }) => String(identity))];
}

// The order of B-format; null for another pattern.
export const bFormatOrder = (pattern) => pattern.match(/^ambix([0-9]+)$/)?.[1] ?? null;

// How many ports a pattern needs.
export const portCount = (pattern) => {
  const order = bFormatOrder(pattern);
  return order ? (Number(order) + 1) ** 2 : pattern === "stereo" ? 2 : 1;
};

// One sentence; empty for main, of which there is nothing to say.
export function stateOf(feed) {
  if (!feed) return "It has gone.";
  if (feed.name === "main") return "";
  if (feed.obstacle) return `Not heard: ${feed.obstacle}`;
  return feed.isHeard ? `Ports: ${feed.outputs.map(({ name }) => name).join(", ")}` : "It is being prepared.";
}

// What a feed can choose from: names of data sources; patterns, with why some are weak or cannot be chosen; and remarks.
// Its ports stay as they are: only main changes between mono and stereo, and B-format stays what it is.
export function choicesOf(feed, inputs) {
  const sources = inputs.find((input) => input.active)?.dataSources ?? [];
  const source = sources.find(({ name }) => name === feed.dataSource) ?? sources.find(({ selected }) => selected);
  const order = bFormatOrder(feed.polarPattern);
  if (order) return { sources, patterns: [{ value: feed.polarPattern, text: `B-format, order ${order}` }], notes: "" };
  const supported = source?.supportedPolarPatterns ?? [];
  const weakness = (pattern) => source.weak.find((remark) => remark.polarPattern === pattern
    && (!remark.inputOrientation || remark.inputOrientation === feed.inputOrientation))?.reason;
  const patterns = supported.map((value) => ({ value, text: value, weak: weakness(value),
    reason: feed.name === "main" || portCount(value) === portCount(feed.polarPattern) ? undefined
      : `${value} needs other ports than those of ${feed.name}: remove it, and add it again as ${portCount(value) === 1 ? "mono" : "stereo"}.` }));
  for (const { polarPattern, reason } of source?.notOffered ?? []) {
    if (!supported.includes(polarPattern)) {
      patterns.push({ value: polarPattern, text: polarPattern, reason: `${polarPattern} is not offered: ${reason}` });
    }
  }
  const notes = patterns.filter(({ weak }) => weak).map(({ value, weak }) => `† ${value}: ${weak}`).join(" ");
  return { sources, patterns, notes };
}
