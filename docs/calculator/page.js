/* Reads the form, shows what `statistics.js` computes, and keeps the numbers in the page's address. */

"use strict";

const MOST_PROMPTS = 1e15;
const MOST_ON_PAGE = 100000; // examples
const MOST_PLANNED = 100000;
const field = (name) => document.getElementById(name);

/** A whole number in a range, such as 12000 or 12,000; null where the text is none. */
function whole(text, least, most) {
  if (!/^\s*(\d+|\d{1,3}(,\d{3})+)\s*$/.test(text)) return null;
  const value = Number(text.replaceAll(",", ""));
  return value >= least && value <= most ? value : null;
}

/** [[chance, examples], ...] of "4" or "2:50, 5:50"; null where the text is neither. */
function groupsOf(text, examples) {
  const one = whole(text, 2, 1e6);
  if (one !== null) return [[1 / one, examples]];
  const groups = text.split(/;|,(?!\d{3}(?!\d*\s*:))/).map((part) => {
    const [choices, count, ...more] = part.split(":").map((number) => whole(number, 1, 1e6));
    return more.length || !choices || !count ? null : [1 / choices, count];
  });
  return groups.includes(null) ? null : groups;
}

/** What is wrong with the form, as {name of a field: what to write}; nothing where all is right. */
function problems(examples, groups, prompts, numbers) {
  const found = {};
  if (examples === null) found.n = `Examples: write a whole number from 1 to ${MOST_ON_PAGE.toLocaleString("en")}.`;
  if (groups === null) found.c = "Choices: write a number from 2 to 1,000,000, or a mixture such as 2:50, 5:50.";
  else if (examples !== null && groups.reduce((total, [, count]) => total + count, 0) !== examples)
    found.c = `Choices: the mixture has ${groups.reduce((total, [, count]) => total + count, 0)} examples, not ${examples}.`;
  if (prompts === null) found.t = `Prompts: write a whole number from 1 to ${MOST_PROMPTS.toLocaleString("en")}.`;
  if (numbers === null) found.a = "Best accuracy: write a number from 0 to 1, or a percentage.";
  return found;
}

/** A probability in few digits. */
function inWords(value) {
  if (value === 0) return "0 (below 10⁻³⁰⁰)";
  if (value < 0.001)
    return value
      .toExponential(1)
      .replace("e-", " × 10⁻")
      .replace(/(?<=⁻)\d+/, (digits) => digits.replace(/./g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]));
  if (value > ALPHA && value < 0.055) return (Math.ceil(value * 1e4) / 1e4).toString();
  return value.toFixed(value < 0.01 ? 3 : 2);
}

/** An accuracy that is expected; a low one in two digits. */
function expected(value, decimals = 4) {
  return value > 0 && value < 0.001 ? value.toPrecision(2) : value.toFixed(decimals);
}

/** A share of the examples, with enough digits to tell it from its neighbours. */
function share(correct, examples) {
  return (correct / examples).toFixed(Math.max(4, String(examples).length));
}

function range(values) {
  const words = [...new Set([Math.min(...values), Math.max(...values)].map(inWords))];
  return words.join(" to ");
}

const REASONS = {
  yes: "The best prompt is better than chance",
  no: "The best prompt is not shown to be better than chance",
  unclear: "The accuracy is rounded, and the conclusion depends on its other digits",
};

function show(examples, prompts, result, exact, accuracy) {
  const { baseline, standard, maximum, rows, better } = result;
  const verdict = field("verdict");
  verdict.dataset.better = better || "";
  const least = baseline.critical(ALPHA, prompts);
  const of = prompts === 1 ? "one guesser" : `the best of ${prompts.toLocaleString("en")} guessers`;
  verdict.textContent = better
    ? `${REASONS[better]}: p = ${range(rows.map((row) => row.maximumTail))} against ${of}.`
    : least <= examples
      ? `The lowest accuracy that is better than chance is ${share(least, examples)}.`
      : "No accuracy on so few examples is better than chance.";
  const lines = [
    ["Standard random baseline (one guesser)", expected(standard)],
    ["Maximum random baseline (best of the guessers)", expected(maximum)],
    [
      `Lowest accuracy with p ≤ ${ALPHA}`,
      least <= examples ? `${share(least, examples)} (${least} of ${examples})` : "none",
    ],
  ];
  if (rows.length) {
    const numbers = [...new Set([rows[0].correct, rows[rows.length - 1].correct])];
    const correct = numbers.join(exact ? " to " : " or ");
    const advice = numbers.length > 1 ? "check both numbers" : "this is the nearest";
    const nearest = `; no number gives this accuracy exactly, so ${advice}`;
    lines.push(["Correct examples", `${correct} of ${examples}${exact ? "" : nearest}`]);
    if (prompts > 1) lines.push(["p for one guesser", range(rows.map((row) => row.standardTail))]);
    lines.push([`p for ${of}`, range(rows.map((row) => row.maximumTail))]);
  }
  const table = field("numbers");
  table.replaceChildren();
  for (const [name, value] of lines) {
    const row = table.insertRow();
    const heading = document.createElement("th");
    heading.scope = "row";
    heading.textContent = name;
    row.append(heading);
    row.insertCell().textContent = value;
  }
  field("plot").replaceChildren(plot(examples, prompts, result, accuracy));
}

function svg(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** The distribution of the best guesser's accuracy, with the baselines and the score. */
function plot(examples, prompts, { baseline, standard, maximum, rows }, accuracy) {
  const [height, left, bottom, top] = [260, 18, 214, 62];
  const width = Math.max(field("plot").clientWidth, 280);
  const masses = [];
  const last = baseline.first + baseline.logCdfs.length;
  for (let k = baseline.first; k <= last; k++) masses.push([k, baseline.mass(k, prompts)]);
  const seen = masses.filter(([, mass]) => mass > 1e-4).map(([k]) => k / examples);
  const score = rows.length ? accuracy : maximum;
  const [least, most] = [Math.min(standard, score, ...seen.slice(0, 1)), Math.max(maximum, score, ...seen.slice(-1))];
  const margin = Math.min(0.03, 0.3 * (most - least) + 2 / examples);
  const [low, high] = [Math.max(least - margin, 0), Math.min(most + margin, 1)];
  const x = (accuracy) => left + ((accuracy - low) / (high - low)) * (width - 2 * left);
  const highest = Math.max(...masses.map(([, mass]) => mass));
  const words =
    `Distribution of the accuracy of the best of ${prompts} guessers. Standard baseline ${standard.toFixed(3)}, ` +
    `maximum baseline ${maximum.toFixed(3)}` + (rows.length ? `, best accuracy ${score.toFixed(3)}.` : ".");
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  const bar = Math.min(Math.max(x(1 / examples) - x(0) - 0.6, 0.8), 2 * left);
  for (const [k, mass] of masses) {
    const size = (mass / highest) * (bottom - top);
    if (size > 0.2 && k / examples >= low && k / examples <= high)
      picture.append(
        svg("rect", { x: x(k / examples) - bar / 2, y: bottom - size, width: bar, height: size, fill: "var(--bar)" }),
      );
  }
  picture.append(svg("line", { x1: left, x2: width - left, y1: bottom, y2: bottom, stroke: "var(--line)" }));
  const steps = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
  const decimalsOf = (size) => Math.max(2, Math.ceil(-Math.log10(size) - 1e-9));
  const step = steps.find((size) => x(low + size) - left > 8 * decimalsOf(size) + 24) || 0.5;
  const decimals = decimalsOf(step);
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9; place++) {
    const tick = place * step;
    picture.append(svg("text", { x: x(tick), y: bottom + 18, "text-anchor": "middle" }, tick.toFixed(decimals)));
  }
  picture.append(svg("text", { x: width / 2, y: bottom + 38, "text-anchor": "middle" }, "accuracy"));
  const marks = [[standard, "one guesser", "--standard"], [maximum, "best guesser", "--maximum"]];
  if (rows.length) marks.push([score, "your score", "--score"]);
  marks.sort((a, b) => a[0] - b[0]).forEach(([accuracy, name, color], place) => {
    const y = 14 + 16 * place;
    picture.append(
      svg("line", { x1: x(accuracy), x2: x(accuracy), y1: y + 4, y2: bottom, stroke: `var(${color})`, "stroke-width": 2 }),
    );
    const anchor = x(accuracy) > width - 90 ? "end" : x(accuracy) < 90 ? "start" : "middle";
    picture.append(svg("text", { x: x(accuracy), y, "text-anchor": anchor, style: `fill: var(${color})` }, name));
  });
  return picture;
}

/** The accuracy that is written; null if none is. */
function accuracyOf(text) {
  const value = Number(text.replace("%", "").replace(",", "."));
  return text.trim() === "" ? null : text.includes("%") ? value / 100 : value;
}

/** How many examples would show that an accuracy is better than chance. */
function planned(groups, prompts, accuracy, standard) {
  if (accuracy === null) return "Write the accuracy that you expect of your best prompt.";
  if (accuracy <= standard || accuracy === 1)
    return "Write an accuracy above the standard random baseline and below 1.";
  // a mixture has the same mean, and less variance (Hoeffding, 1956): it needs about as many, or fewer
  const number = examplesForPower(standard, accuracy, prompts, MOST_PLANNED);
  const mean = ` Each example is taken to have a chance of ${expected(standard, 3)}; this mixture needs about as many, or fewer.`;
  const mixed = groups.length > 1 ? mean : "";
  const tried = prompts === 1 ? "one prompt is tried and" : `${prompts.toLocaleString("en")} prompts are tried and one`;
  return number === null
    ? `More than ${MOST_PLANNED.toLocaleString("en")} examples.${mixed.replace("about as many, or fewer", "fewer, perhaps")}`
    : `If ${tried} has a true accuracy of ${expected(accuracy, 3)}, you need ${number.toLocaleString("en")} ` +
        `examples to show with a power of ${POWER} that it is better than chance (p ≤ ${ALPHA}).${mixed}`;
}

function update() {
  const text = Object.fromEntries(["n", "c", "t", "a"].map((name) => [name, field(name).value]));
  const examples = whole(text.n, 1, MOST_ON_PAGE);
  const groups = groupsOf(text.c, examples);
  const prompts = whole(text.t, 1, MOST_PROMPTS);
  const rounding = text.a.trim() === "" ? [] : correctOf(text.a, examples ?? 1); // of any number, is it an accuracy?
  const exact = text.a.trim() === "" || (rounding || []).length > 0;
  const found = problems(examples, groups, prompts, rounding);
  for (const name of ["n", "c", "t", "a"]) field(name).setAttribute("aria-invalid", String(name in found));
  field("problem").textContent = Object.values(found).join(" ");
  field("results").hidden = Object.keys(found).length > 0;
  history.replaceState(null, "", `?${new URLSearchParams(text)}`);
  if (Object.keys(found).length) return;
  const result = judge(groups, prompts, exact ? rounding : nearestOf(text.a, examples));
  show(examples, prompts, result, exact, accuracyOf(text.a));
  field("needed").textContent = planned(groups, prompts, accuracyOf(text.a), result.standard);
}

const given = new URLSearchParams(location.search);
for (const name of ["n", "c", "t", "a"]) if (given.has(name)) field(name).value = given.get(name);
let waiting;
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(update, 150);
}
field("form").addEventListener("input", later);
addEventListener("resize", later);
field("form").addEventListener("submit", (event) => event.preventDefault());
update();
