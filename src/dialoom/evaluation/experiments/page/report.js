"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const colour = (system) => `var(--c${data.systems.indexOf(system) % 8})`;
const FEW = 10;

function el(name, props = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props)) key === "style" ? node.setAttribute("style", value) : (node[key] = value);
  node.append(...children);
  return node;
}
function svg(width, height, label) {
  const root = mark(null, "svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  return root;
}
function mark(parent, name, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
const tip = (node, text) => mark(node, "title", {}, text);
const digits = (name) => (/^(bleu|length)/.test(name) ? 1 : 3);
const shown = (value, name) => (value === null ? "–" : value.toFixed(digits(name)));
const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(0)} %`);
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function lead() {
  const turns = Object.values(data.run.items || {}).reduce((sum, n) => sum + n, 0);
  const sets = Object.keys(data.run.items || {});
  const calls = data.run.calls ? `, ${data.run.calls} model calls${data.wins.length ? " (the judge's too)" : ""}` : ", no model was called";
  const dollars = data.run.dollars ? ` for $${data.run.dollars.toFixed(4)}` : "";
  $("lead").textContent = `${data.systems.length} systems, ${turns} turns of ${data.dialogues.length + data.left} dialogues (${sets.join(", ")})${calls}${dollars}.`;
}

function headRates() {
  const judges = new Set(data.wins.map((rate) => rate.judge));
  return (rates) => rates.filter((rate) => rate.judge === "panel" || !judges.has("panel"));
}

function table() {
  const head = el("tr", {}, el("th"), ...data.lines.map((line) => el("th", {}, el("span", { className: "dot", style: `background:${colour(line.system)}` }), line.system)));
  const body = el("tbody");
  const row = (name, cells, title = "") => body.append(el("tr", {}, el("th", { scope: "row", title }, name), ...cells));
  const rates = Object.fromEntries(headRates()(data.wins).map((rate) => [rate.system, rate]));
  for (const metric of data.metrics) {
    const values = data.lines.map((line) => line.metrics[metric.name].value);
    const known = values.filter((value) => value !== null);
    const best = metric.better && known.length > 1 ? Math.max(...known.map((value) => value * metric.better)) * metric.better : null;
    row(metric.name, data.lines.map((line) => {
      const found = line.metrics[metric.name];
      const cell = el("td", { className: best !== null && found.value === best ? "best" : "" }, shown(found.value, metric.name));
      if (found.low !== null) cell.append(el("small", {}, `${shown(found.low, metric.name)}–${shown(found.high, metric.name)}`));
      return cell;
    }), metric.told);
  }
  if (data.against) row(`win rate over ${data.against}`, data.lines.map((line) => {
    const rate = rates[line.system];
    return !rate || rate.rate === null ? el("td", {}, "–") : el("td", {}, percent(rate.rate), el("small", {}, `${percent(rate.low)}–${percent(rate.high)}`));
  }));
  row("replies", data.lines.map((line) => el("td", {}, String(line.replies), line.failed + line.missing ? el("small", {}, `${line.failed + line.missing} lost`) : "")));
  const ms = (value) => value.toFixed(value < 10 ? 1 : 0);
  row("ms, median and 95 %", data.lines.map((line) => el("td", {}, ms(line.p50), el("small", {}, ms(line.p95)))));
  if (data.lines.some((line) => line.calls)) {
    row("model calls", data.lines.map((line) => el("td", {}, String(line.calls))));
    row("tokens", data.lines.map((line) => el("td", {}, String(line.tokens))));
    row("dollars", data.lines.map((line) => el("td", {}, line.dollars === null ? "–" : line.dollars.toFixed(4))));
  }
  $("table").append(el("table", {}, el("thead", {}, head), body));
}

function remarks() {
  const told = [];
  if (data.run.stopped) told.push(`Stopped early: ${data.run.stopped}. The numbers are of what was answered by then.`);
  for (const [name, left] of Object.entries(data.run.skipped || {})) for (const [what, count] of Object.entries(left)) told.push(`${name}: ${count} ${what} left out.`);
  for (const [name, why] of Object.entries(data.run.given_up || {})) told.push(`${name} was given up after failing often in a row: ${why}`);
  for (const [name, why] of Object.entries(data.run.reasons || {})) if (!(name in data.run.given_up)) told.push(`${name} failed so: ${why}`);
  for (const line of data.lines) {
    if (line.failed) told.push(`${line.system}: ${line.failed} replies failed and do not count.`);
    if (line.missing) told.push(`${line.system}: ${line.missing} replies are missing and do not count.`);
    if (line.fallbacks) told.push(`${line.system}: ${line.fallbacks} replies were given without its model, which failed.`);
  }
  if (data.run.stale) told.push(`${data.run.stale} answers in the folder are of other code, data or settings and do not count.`);
  for (const metric of data.metrics) {
    const partly = data.lines.filter((line) => line.metrics[metric.name].count < line.replies);
    if (partly.length) told.push(`${metric.name} is of the replies with the labels it needs: ${data.lines.map((line) => `${line.metrics[metric.name].count} of ${line.replies} (${line.system})`).join(", ")}.`);
  }
  for (const rate of data.wins) {
    if (rate.malformed || rate.unjudged) told.push(`${rate.judge} on ${rate.system}: ${rate.malformed} pairs with a malformed verdict, ${rate.unjudged} not judged.`);
    if (rate.agreement !== null) told.push(`${rate.judge} on ${rate.system}: its two orders agree on ${percent(rate.agreement)} of the pairs; ${percent(rate.first)} of its verdicts are for what stood first.`);
  }
  $("remarks").append(...told.map((text) => el("li", {}, text)));
}

/* Round numbers from low to beyond high, about five of them. */
function ticks(low, high) {
  const raw = (high - low || 1) / 4, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((part) => part * power).find((value) => value >= raw * 0.999);
  const from = Math.floor(low / step + 1e-9), found = [];
  for (let n = from; found.length < 2 || found.at(-1) < high - 1e-9 * step; n++) found.push(Number((n * step).toPrecision(6)));
  return found;
}
const plainNumber = (value) => String(Number(value.toPrecision(4)));

/* Dots with whiskers: groups down the side, one dot a system in each. */
function whiskers(place, groups, marks, label, guide, width = 560) {
  const left = 178, right = 30, step = 13, gap = 12;
  const height = groups.reduce((sum, group) => sum + group.dots.length * step + gap, 30);
  const root = svg(width, height, label);
  const low = marks[0], high = marks.at(-1), x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  for (const value of marks) {
    mark(root, "line", { class: "axis", x1: x(value), x2: x(value), y1: 4, y2: height - 22 });
    mark(root, "text", { x: x(value), y: height - 6, "text-anchor": "middle" }, guide !== null ? `${Math.round(100 * value)} %` : plainNumber(value));
  }
  if (guide !== null) mark(root, "line", { class: "guide", x1: x(guide), x2: x(guide), y1: 4, y2: height - 22 });
  let y = 6;
  for (const group of groups) {
    const name = mark(root, "text", { class: "name", x: left - 14, y: y + (group.dots.length * step) / 2 + 4, "text-anchor": "end" }, short(group.name, 22));
    mark(name, "tspan", { class: "count" }, group.count ? `  ${group.count}` : "");
    tip(name, group.count ? `${group.name}: ${group.count} dialogues` : group.name);
    for (const dot of group.dots) {
      const at = y + step / 2;
      if (dot.low !== null) mark(root, "line", { x1: x(dot.low), x2: x(dot.high), y1: at, y2: at, stroke: colour(dot.system), "stroke-width": 2, opacity: 0.55 });
      tip(mark(root, "circle", { cx: x(dot.value), cy: at, r: 4, fill: colour(dot.system) }), `${dot.system}: ${dot.text}`);
      y += step;
    }
    y += gap;
  }
  place.replaceChildren(root, legend(groups.flatMap((group) => group.dots.map((dot) => dot.system))));
}
function legend(systems) {
  return el("p", { className: "note" }, ...[...new Set(systems)].map((system) => el("span", { style: "margin-right:14px" }, el("span", { className: "dot", style: `background:${colour(system)}` }), system)));
}

function wins() {
  const rates = headRates();
  const overall = rates(data.wins).filter((rate) => rate.rate !== null);
  if (!overall.length) {
    $("wins-note").textContent = data.against ? "No pair was judged." : "The experiment names no judge, so there are no win rates; the metrics need none.";
    return;
  }
  $("wins-note").textContent = `How often a completed dialogue was preferred to that of ${data.against}; a tie counts half. Right of the dashed line is better than ${data.against}.`;
  const dot = (rate) => ({ system: rate.system, value: rate.rate, low: rate.low, high: rate.high, text: `${percent(rate.rate)} (${rate.wins} won, ${rate.ties} tied, ${rate.losses} lost)` });
  const judged = (rates) => Math.max(...rates.map((rate) => rate.wins + rate.ties + rate.losses));
  const groups = [{ name: "all", count: judged(overall), dots: overall.map(dot) }];
  const domains = rates(data.winsByDomain).filter((rate) => rate.rate !== null);
  for (const domain of [...new Set(domains.map((rate) => rate.domain))]) {
    const listed = domains.filter((rate) => rate.domain === domain);
    groups.push({ name: domain, count: judged(listed), dots: listed.map(dot) });
  }
  whiskers($("wins-chart"), groups.length === 2 ? groups.slice(0, 1) : groups, [0, 0.25, 0.5, 0.75, 1], "Win rates", 0.5, 900);
}

/* One histogram a system, all on the same axes, with a line at the mean. */
function histograms(name, values) {
  const all = values.flat(), marks = ticks(Math.min(0, ...all), Math.max(...all, 1e-9));
  const low = marks[0], high = marks.at(-1), bins = 24, width = 480, each = 74, left = 42, right = 12;
  const counts = values.map((found) => {
    const bars = new Array(bins).fill(0);
    for (const value of found) bars[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))]++;
    return bars.map((count) => count / Math.max(1, found.length));
  });
  const most = Math.max(...counts.flat(), 0.01), height = each * values.length + 24;
  const root = svg(width, height, `Distribution of ${name}`), x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
  counts.forEach((bars, number) => {
    const system = data.systems[number], base = each * (number + 1) - 4, tall = each - 26;
    mark(root, "line", { class: "axis", x1: left, x2: width - right, y1: base, y2: base });
    mark(root, "text", { x: left - 6, y: base - tall + 8, "text-anchor": "end" }, percent(most).replace(" ", ""));
    mark(root, "text", { class: "name", x: width - right, y: base - tall + 2, "text-anchor": "end" }, short(system, 40));
    bars.forEach((share, bin) => {
      if (!share) return;
      const at = low + (bin * (high - low)) / bins, tallness = (share / most) * tall;
      tip(mark(root, "rect", { x: x(at) + 0.5, width: (width - left - right) / bins - 1, y: base - tallness, height: tallness, fill: colour(system) }), `${system}: ${percent(share)} from ${plainNumber(at)}`);
    });
    if (!values[number].length) return;
    const mean = values[number].reduce((sum, value) => sum + value, 0) / values[number].length;
    tip(mark(root, "line", { class: "mean", x1: x(mean), x2: x(mean), y1: base - tall, y2: base + 3 }), `mean ${shown(mean, name)}`);
  });
  for (const value of marks) mark(root, "text", { x: x(value), y: height - 6, "text-anchor": "middle" }, plainNumber(value));
  $("histogram").replaceChildren(root);
}

function spread() {
  const name = $("metric").value;
  const values = data.systems.map((_, number) => data.rows.filter((row) => row[0] === number && name in row[8]).map((row) => row[8][name]));
  if (values.flat().length) histograms(name, values);
  else $("histogram").replaceChildren(el("p", { className: "note" }, "This metric belongs to all replies together: it has no value for one."));
  const place = (line, found) => ({ system: line.system, value: found.value, low: found.low, high: found.high, text: shown(found.value, name) });
  const known = (lines, of) => lines.filter((line) => of(line) && of(line).value !== null).map((line) => place(line, of(line)));
  const domains = [...new Set(data.lines.flatMap((line) => Object.keys(line.domains)))].sort();
  const sizes = Object.fromEntries(domains.map((domain) => [domain, new Set(data.rows.filter((row) => row[5] === domain).map((row) => row[1] + row[2])).size]));
  const groups = domains.map((domain) => ({ name: domain, count: sizes[domain], dots: known(data.lines, (line) => line.domains[domain] && line.domains[domain][name]) })).filter((group) => group.dots.length);
  if (groups.length > 1) groups.unshift({ name: "all", count: Object.values(sizes).reduce((sum, size) => sum + size, 0), dots: known(data.lines, (line) => line.metrics[name]) });
  const ends = groups.flatMap((group) => group.dots.flatMap((dot) => [dot.value, dot.high ?? dot.value]));
  if (groups.length) whiskers($("by-domain"), groups, ticks(0, Math.max(...ends, 1e-9)), `${name} by domain`, null);
}

function scatter() {
  const quality = $("quality").value, across = $("across").value;
  const rates = Object.fromEntries(headRates()(data.wins).map((rate) => [rate.system, rate]));
  const points = data.lines.map((line) => {
    const rate = rates[line.system] || (line.system === data.against ? { rate: 0.5, low: null, high: null } : undefined);
    const found = quality === "win-rate" ? rate && { value: rate.rate, low: rate.low, high: rate.high } : line.metrics[quality];
    const cost = { p50: line.p50, p95: line.p95, tokens: line.tokens / Math.max(1, line.replies), dollars: line.dollars === null ? null : (1000 * line.dollars) / Math.max(1, line.replies) }[across];
    return { system: line.system, cost, ...(found || { value: null }) };
  }).filter((point) => point.value !== null && point.cost !== null);
  if (!points.length) return void $("scatter").replaceChildren(el("p", { className: "note" }, "Nothing is known of this price."));
  const width = 860, height = 320, over = quality === "win-rate" ? (value) => `${Math.round(100 * value)} %` : plainNumber;
  const costs = ticks(0, Math.max(...points.map((point) => point.cost), 1e-9)), goods = ticks(0, Math.max(...points.map((point) => point.high ?? point.value), 1e-9));
  const x = (value) => 60 + (value / costs.at(-1)) * (width - 200), y = (value) => height - 46 - (value / goods.at(-1)) * (height - 60);
  const root = svg(width, height, `${quality} against ${across}`);
  for (const value of goods) {
    mark(root, "line", { class: "axis", x1: 60, x2: width - 140, y1: y(value), y2: y(value) });
    mark(root, "text", { x: 52, y: y(value) + 4, "text-anchor": "end" }, over(value));
  }
  for (const value of costs) mark(root, "text", { x: x(value), y: height - 26, "text-anchor": "middle" }, plainNumber(value));
  mark(root, "text", { x: (width - 80) / 2, y: height - 3, "text-anchor": "middle" }, $("across").selectedOptions[0].text);
  const labels = [];
  for (const point of points.sort((a, b) => b.value - a.value)) {
    if (point.low !== null && point.low !== undefined) mark(root, "line", { x1: x(point.cost), x2: x(point.cost), y1: y(point.low), y2: y(point.high), stroke: colour(point.system), "stroke-width": 2, opacity: 0.5 });
    tip(mark(root, "circle", { cx: x(point.cost), cy: y(point.value), r: 6, fill: colour(point.system) }), `${point.system}: ${over(point.value)} at ${plainNumber(point.cost)}`);
    let at = y(point.value) + 4;
    while (labels.some((label) => Math.abs(label.x - x(point.cost)) < 110 && Math.abs(label.at - at) < 14)) at += 14;
    labels.push({ x: x(point.cost), at });
    mark(root, "text", { class: "name", x: x(point.cost) + 12, y: at }, short(point.system, 22));
  }
  $("scatter").replaceChildren(root);
}

const KEY = `dialoom-comments:${data.name}`;
const comments = (() => { try { return JSON.parse(localStorage.getItem(KEY) || "{}"); } catch { return {}; } })();
const place = (dataset, id) => JSON.stringify([dataset, id]);
const byDialogue = new Map();
for (const row of data.rows) {
  const key = place(row[1], row[2]);
  if (!byDialogue.has(key)) byDialogue.set(key, []);
  byDialogue.get(key).push(row);
}
const outcomes = new Map(data.outcomes.map(([dataset, id, seed, system, outcome]) => [JSON.stringify([dataset, id, seed, system]), outcome]));
let most = FEW;

function replies(dialogue, system) {
  const number = data.systems.indexOf(system), found = new Map();
  for (const row of byDialogue.get(place(dialogue.dataset, dialogue.id)) || []) if (row[0] === number && !found.has(row[3])) found.set(row[3], row);
  return found;
}
function outcomeOf(dialogue) {
  const left = $("left").value, right = $("right").value;
  const rows = byDialogue.get(place(dialogue.dataset, dialogue.id)) || [];
  const seed = rows.length ? rows[0][4] : 0;
  const of = (system) => outcomes.get(JSON.stringify([dialogue.dataset, dialogue.id, seed, system]));
  if (right === data.against) return of(left);
  if (left === data.against) return { win: "loss", loss: "win" }[of(right)] || of(right);
  return undefined;
}
function matching() {
  const domain = $("domain").value, which = $("which").value, words = $("words").value.trim().toLowerCase();
  return data.dialogues.filter((dialogue) => {
    const rows = byDialogue.get(place(dialogue.dataset, dialogue.id)) || [];
    if (domain && !rows.some((row) => row[5] === domain)) return false;
    if (which === "commented" && !comments[place(dialogue.dataset, dialogue.id)]) return false;
    if (["win", "loss", "tie"].includes(which) && outcomeOf(dialogue) !== which) return false;
    const left = replies(dialogue, $("left").value), right = replies(dialogue, $("right").value);
    if (which === "differ" && [...left].every(([turn, row]) => right.has(turn) && right.get(turn)[6] === row[6])) return false;
    if (!words) return true;
    const lines = [...dialogue.said.map((said) => said[1]), ...[...left.values(), ...right.values()].map((row) => row[6] || ""), dialogue.id];
    return lines.some((line) => line.toLowerCase().includes(words));
  });
}
function replyBox(name, row, tint) {
  const box = el("div", { className: `reply${row && row[10] ? "" : " none"}`, style: `border-left-color:${tint}` }, el("b", {}, name));
  box.append(row ? (row[10] ? row[6] : row[7] ? `no reply: ${row[7]}` : "no reply") : "no reply");
  if (row && row[10]) {
    const told = Object.entries(row[8]).filter(([metric]) => metric !== "length").map(([metric, value]) => `${metric} ${value}`).join(", ");
    if (told) box.append(el("small", {}, told));
  }
  return box;
}
function dialogueCard(dialogue) {
  const left = $("left").value, right = $("right").value, mine = replies(dialogue, left), theirs = replies(dialogue, right);
  const key = place(dialogue.dataset, dialogue.id), rows = byDialogue.get(key) || [];
  const outcome = outcomeOf(dialogue);
  const head = el("h3", {}, dialogue.id, el("span", {}, rows.length ? rows[0][5] : dialogue.dataset));
  if (outcome) head.append(el("span", { className: "won" }, { win: `${left} won`, loss: `${right} won`, tie: "tie" }[outcome] || outcome));
  const turns = el("div", { className: "turns" });
  dialogue.said.forEach(([role, text], number) => {
    if (mine.has(number) || theirs.has(number)) turns.append(el("div", { className: "asked" }, el("div", { className: "reply" }, el("b", {}, "what was said"), text), replyBox(left, mine.get(number), colour(left)), replyBox(right, theirs.get(number), colour(right))));
    else turns.append(el("div", { className: `said ${role}` }, text));
  });
  const note = el("textarea", { rows: 1, placeholder: "Your comment (kept in this browser)", value: comments[key] || "", ariaLabel: `Comment on ${dialogue.id}` });
  note.addEventListener("input", () => {
    if (note.value.trim()) comments[key] = note.value; else delete comments[key];
    try { localStorage.setItem(KEY, JSON.stringify(comments)); } catch { /* private windows keep nothing */ }
  });
  return el("article", {}, head, turns, note);
}
function read() {
  const found = matching();
  $("found").textContent = `${found.length} of ${data.dialogues.length} dialogues${data.left ? ` (${data.left} more are in the numbers only)` : ""}.`;
  $("dialogues").replaceChildren(...found.slice(0, most).map(dialogueCard));
  $("more").hidden = found.length <= most;
}
function save() {
  const told = Object.entries(comments).map(([key, comment]) => { const [dataset, dialogue] = JSON.parse(key); return { dataset, dialogue, comment }; });
  const link = el("a", { href: URL.createObjectURL(new Blob([JSON.stringify(told, null, 1)], { type: "application/json" })), download: "comments.json" });
  link.click();
}
function options(select, values, chosen) {
  select.append(...values.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));
}

lead(); table(); remarks(); wins();
const itemMetrics = data.metrics.filter((metric) => data.rows.some((row) => metric.name in row[8]));
const ordered = [...itemMetrics, ...data.metrics.filter((metric) => !itemMetrics.includes(metric))];
options($("metric"), ordered.map((metric) => [metric.name, metric.name]));
options($("quality"), [...(data.wins.length ? [["win-rate", "win rate"]] : []), ...ordered.filter((metric) => metric.better).map((metric) => [metric.name, metric.name])]);
const other = data.against || data.systems[0];
options($("left"), data.systems.map((name) => [name, name]), data.systems.filter((name) => name !== other).at(-1) || other);
options($("right"), data.systems.map((name) => [name, name]), other);
options($("domain"), [["", "all"], ...[...new Set(data.rows.map((row) => row[5]))].sort().map((name) => [name, name])]);
spread(); scatter(); read();
$("metric").addEventListener("change", spread);
for (const id of ["across", "quality"]) $(id).addEventListener("change", scatter);
for (const id of ["left", "right", "domain", "which", "words"]) $(id).addEventListener("input", () => { most = FEW; read(); });
$("more").addEventListener("click", () => { most += FEW; read(); });
$("save").addEventListener("click", save);
