"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const states = new Map(data.states.map((state) => [state.id, state]));
const picture = document.getElementById("picture");
const svg = picture.querySelector("svg");
const world = document.getElementById("world");
const about = document.getElementById("about");
const boxes = new Map([...world.querySelectorAll(".state")].map((box) => [Number(box.dataset.state), box]));
const arrows = [...world.querySelectorAll(".arrow")];
const at = { x: 0, y: 0, scale: 1 };
const number = new Intl.NumberFormat("en");

function draw() {
  world.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.scale})`);
}

function zoom(factor, x, y) {
  const scale = Math.min(3, Math.max(0.04, at.scale * factor));
  at.x = x - (x - at.x) * (scale / at.scale);
  at.y = y - (y - at.y) * (scale / at.scale);
  at.scale = scale;
  draw();
}

function fit() {
  const room = picture.getBoundingClientRect();
  at.scale = Math.min(1.1, room.width / data.width, room.height / data.height);
  if (at.scale < 0.45) at.scale = Math.min(0.8, Math.max(at.scale, 0.45));
  const start = data.start;
  at.x = Math.max(0, (room.width - data.width * at.scale) / 2);
  at.y = data.height * at.scale <= room.height ? (room.height - data.height * at.scale) / 2 : room.height / 2 - start.y * at.scale;
  draw();
}

function show(id) {
  const box = boxes.get(id);
  const room = picture.getBoundingClientRect();
  const [x, y] = box.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
  at.scale = Math.max(at.scale, 0.85);
  at.x = room.width / 2 - (x + 84) * at.scale;
  at.y = room.height / 2 - (y + 20) * at.scale;
  draw();
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function ways(title, list, end) {
  about.append(element("h3", title));
  if (!list.length) about.append(element("div", "none", "empty"));
  const whole = list.reduce((sum, way) => sum + way[3], 0);
  for (const way of list.slice().sort((a, b) => b[3] - a[3])) {
    const button = element("button", undefined, "way");
    const other = states.get(way[end]);
    button.append(element("span", end === 2 ? way[1] : `${other.name}`));
    button.append(element("span", `${number.format(way[3])} \u00b7 ${Math.round((100 * way[3]) / whole)}%`));
    button.title = `${states.get(way[0]).name} \u2192 ${states.get(way[2]).name} on ${way[1]}`;
    button.addEventListener("click", () => choose(way[end], true));
    about.append(button);
  }
}

function choose(id, move) {
  const state = states.get(id);
  const into = data.transitions.filter((way) => way[2] === id);
  const out = data.transitions.filter((way) => way[0] === id);
  for (const box of boxes.values()) box.classList.remove("chosen", "near");
  for (const arrow of arrows) arrow.classList.toggle("near", Number(arrow.dataset.source) === id || Number(arrow.dataset.target) === id);
  for (const other of [id, ...into.map((way) => way[0]), ...out.map((way) => way[2])]) boxes.get(other).classList.add("near");
  boxes.get(id).classList.add("chosen");
  world.classList.add("faded");
  about.replaceChildren(element("h2", state.tag || "start"));
  const badge = element("span", state.role || "start", "badge");
  badge.style.background = state.fill;
  badge.style.borderColor = state.stroke;
  about.append(badge);
  const facts = element("dl");
  const share = Math.round((1000 * state.count) / Math.max(1, data.dialogues)) / 10;
  for (const [name, value] of [
    ["State", state.name],
    ["Dialogues", `${number.format(state.count)} (${share}%)`],
    ["End here", number.format(state.ends)],
  ]) facts.append(element("dt", name), element("dd", value));
  about.append(facts);
  about.append(element("h3", "What was said here"));
  for (const sample of state.samples) about.append(element("blockquote", sample));
  if (!state.samples.length) about.append(element("div", "no samples kept", "empty"));
  ways("Then", out, 2);
  ways("Before", into, 0);
  if (move) show(id);
}

function clear() {
  world.classList.remove("faded");
  for (const box of boxes.values()) box.classList.remove("chosen", "near");
  for (const arrow of arrows) arrow.classList.remove("near");
  about.replaceChildren(element("h2", "How to read this"));
  about.append(element("p", "A dialogue starts on the left. Each box is a state: a tag that was said, and how many dialogues passed it. Thick arrows carry more dialogues; dashed arrows are further ways into a state."));
  about.append(element("p", "Click a state to see what was said there, what came before and what comes next. Drag to move, scroll to zoom."));
}

function search(text) {
  const wanted = text.trim().toLowerCase();
  let first = null;
  for (const [id, box] of boxes) {
    const state = states.get(id);
    const found = wanted !== "" && [state.name, ...state.samples].some((line) => line.toLowerCase().includes(wanted));
    box.classList.toggle("found", found);
    if (found && (first === null || state.count > states.get(first).count)) first = id;
  }
  return first;
}

let held = null;
let moved = false;
picture.addEventListener("pointerdown", (event) => {
  held = { x: event.clientX - at.x, y: event.clientY - at.y, startX: event.clientX, startY: event.clientY };
  moved = false;
});
window.addEventListener("pointermove", (event) => {
  if (!held) return;
  if (Math.hypot(event.clientX - held.startX, event.clientY - held.startY) > 4) moved = true;
  if (!moved) return;
  picture.classList.add("held");
  at.x = event.clientX - held.x;
  at.y = event.clientY - held.y;
  draw();
});
window.addEventListener("pointerup", () => {
  held = null;
  picture.classList.remove("held");
});
picture.addEventListener("click", (event) => {
  if (moved) return;
  const box = event.target.closest(".state");
  if (box) choose(Number(box.dataset.state), false);
  else clear();
});
picture.addEventListener("wheel", (event) => {
  event.preventDefault();
  const room = picture.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - room.left, event.clientY - room.top);
}, { passive: false });
for (const [id, factor] of [["in", 1.25], ["out", 0.8]]) {
  document.getElementById(id).addEventListener("click", () => {
    const room = picture.getBoundingClientRect();
    zoom(factor, room.width / 2, room.height / 2);
  });
}
document.getElementById("fit").addEventListener("click", fit);
const box = document.getElementById("search");
box.addEventListener("input", () => search(box.value));
box.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  const first = search(box.value);
  if (first !== null) choose(first, true);
});
clear();
fit();
if (/^#s\d+$/.test(location.hash) && boxes.has(Number(location.hash.slice(2)))) choose(Number(location.hash.slice(2)), true);
