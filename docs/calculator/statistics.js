/* The random baselines of Yauney and Mimno (2024), as in the Python package abovechance.

   Everything is computed from tails, so that small probabilities keep their digits. tests/test_calculator.py
   compares all functions with the package in a browser. */

"use strict";

const ALPHA = 0.05;
const POWER = 0.8;
const STEPS = 30; // see abovechance.chance.planning.examples_for_power
const MOST_EXAMPLES = 1e7;
const FLOAT32 = 2n ** 24n; // of its digits

/** Probabilities of a binomial distribution, from the least number that has one above zero. */
function binomial(examples, chance) {
  if (chance === 0 || chance === 1) return { first: chance * examples, mass: Float64Array.of(1) };
  const mode = Math.min(Math.floor((examples + 1) * chance), examples);
  const odds = chance / (1 - chance);
  const up = [1];
  for (let k = mode; k < examples && up[up.length - 1] > 0; k++) {
    up.push((up[up.length - 1] * (examples - k) * odds) / (k + 1));
  }
  const down = [];
  for (let k = mode, last = 1; k > 0 && last > 0; k--) {
    last = (last * k) / ((examples - k + 1) * odds);
    down.push(last);
  }
  const mass = Float64Array.from([...down.reverse(), ...up]);
  return { first: mode - down.length, mass: normalized(mass) };
}

function normalized(mass) {
  const total = sum(mass);
  return mass.map((value) => value / total);
}

/** The sum of numbers, with the error of rounding added back (Neumaier). */
function sum(values) {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

/** The distribution of a sum of two independent numbers. */
function convolved(one, other) {
  const mass = new Float64Array(one.mass.length + other.mass.length - 1);
  for (let i = 0; i < one.mass.length; i++) {
    const weight = one.mass[i];
    if (weight > 0) for (let j = 0; j < other.mass.length; j++) mass[i + j] += weight * other.mass[j];
  }
  return { first: one.first + other.first, mass };
}

/** How many of a set of examples random guessers answer correctly. */
class RandomBaseline {
  /** groups: [[chance of a lucky guess, number of examples], ...] */
  constructor(groups) {
    const used = groups.filter(([, count]) => count > 0);
    this.examples = used.reduce((total, [, count]) => total + count, 0);
    this.standard = used.reduce((total, [chance, count]) => total + chance * count, 0) / this.examples;
    const counts = new Map();
    for (const [chance, count] of used) counts.set(chance, (counts.get(chance) || 0) + count);
    const law = [...counts].map(([chance, count]) => binomial(count, chance)).reduce(convolved);
    this.first = law.first;
    this.logCdfs = logCdfs(law.mass);
  }

  static fromChance(chance, examples) {
    return new RandomBaseline([[chance, examples]]);
  }

  /** log F(correct) of one guesser. */
  logCdf(correct) {
    const place = correct - this.first;
    if (place < 0) return -Infinity;
    return place >= this.logCdfs.length ? 0 : this.logCdfs[place];
  }

  /** The probability that the best of `prompts` guessers has at least `correct` correct: 1 - F(correct - 1)^prompts. */
  tail(correct, prompts = 1) {
    return -Math.expm1(prompts * this.logCdf(correct - 1)) + 0;
  }

  /** The probability that the best of `prompts` guessers has exactly `correct` correct. */
  mass(correct, prompts = 1) {
    return Math.max(this.tail(correct, prompts) - this.tail(correct + 1, prompts), 0);
  }

  /** The maximum random baseline: the expected accuracy of the best of `prompts` guessers. */
  maximum(prompts = 1) {
    const tails = [this.first];
    for (let k = this.first + 1; k <= this.first + this.logCdfs.length; k++) tails.push(this.tail(k, prompts));
    // guessers who can be wrong are not expected to be right everywhere
    return Math.min(sum(tails) / this.examples, this.standard < 1 ? 1 - 1e-15 : 1);
  }

  /** The least number of correct examples that the best guesser reaches with at most this probability. */
  critical(alpha, prompts = 1) {
    let low = this.first - 1; // reached too often
    let high = this.first + this.logCdfs.length;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.tail(middle, prompts) <= alpha) high = middle;
      else low = middle;
    }
    return Math.min(high, this.examples + 1);
  }
}

/** log F from the lower tail where F is small, and from the upper one where F is near 1. */
function logCdfs(mass) {
  const lower = new Float64Array(mass.length);
  const above = new Float64Array(mass.length);
  for (let k = 0, total = 0; k < mass.length; k++) lower[k] = total += mass[k];
  for (let k = mass.length - 1, total = 0; k >= 0; k--) {
    above[k] = total;
    total += mass[k];
  }
  return lower.map((value, k) => (above[k] <= 0.5 ? Math.log1p(-above[k]) : Math.log(value)));
}

/** The probability that the best of `prompts` prompts, one of which has this accuracy, is better than chance. */
function power(chance, accuracy, examples, prompts) {
  const guesser = RandomBaseline.fromChance(chance, examples);
  const least = guesser.critical(ALPHA, prompts);
  if (least > examples) return 0;
  const skilled = RandomBaseline.fromChance(accuracy, examples);
  return -Math.expm1(skilled.logCdf(least - 1) + (prompts > 1 ? (prompts - 1) * guesser.logCdf(least - 1) : 0));
}

/** The least whole number above `after` for which a condition holds that holds for all greater ones. */
function leastNumber(reached, limit, after = 0, step = 1) {
  let low = after;
  let high = Math.min(after + step, limit);
  while (!reached(high)) {
    if (high >= limit) return limit + 1;
    low = high;
    step *= 2;
    high = Math.min(high + step, limit);
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (reached(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The least number of examples from which on the power is at least 0.8; null if that is above `limit`. */
function examplesForPower(chance, accuracy, prompts, limit = MOST_EXAMPLES) {
  const enough = (examples) => power(chance, accuracy, examples, prompts) >= POWER;
  const threshold = (examples) => RandomBaseline.fromChance(chance, examples).critical(ALPHA, prompts);
  let result = leastNumber(enough, limit);
  let at = result;
  let step = Math.min(Math.round(1 / chance), limit);
  for (let run = 0; run < STEPS && at < limit; ) {
    const correct = threshold(at);
    at = leastNumber((examples) => threshold(examples) > correct, limit, at, step);
    run += 1;
    if (at <= limit && !enough(at)) {
      at = result = leastNumber(enough, limit, at, step);
      run = 0;
    }
  }
  return result > limit ? null : result;
}

/** The numbers of correct examples that round to an accuracy as it is written, such as "0.46" or "46 %".

    null if the text is no number from 0 to 1 (or 100 %); empty if no number of correct examples rounds to it. */
function correctOf(text, examples) {
  const fraction = fractionOf(text);
  if (fraction === null) return null;
  const [value, unit] = fraction;
  const all = BigInt(examples);
  if (unit === 1n) return [Number(value * all)]; // 0 and 1 without decimals are exact
  // in whole numbers, so that nothing is rounded: |correct / examples - value / unit| is at most 1 / (2 unit),
  // or half of float32's last digit, 2^-25
  const most = all * (unit > FLOAT32 ? unit : FLOAT32);
  const numbers = [];
  for (let k = Math.max(Number((value * all) / unit - all / (2n * unit)) - 1, 0); k <= examples; k++) {
    const difference = 2n * (BigInt(k) * unit - value * all) * FLOAT32;
    if (difference > most) break;
    if (difference >= -most) numbers.push(k);
  }
  return numbers;
}

/** The numerator and the denominator of an accuracy from 0 to 1 as it is written; null if it is none. */
function fractionOf(text) {
  const match = /^\s*(\d*)(?:[.,](\d*))?(?:e([+-]?\d{1,2}))?\s*(%?)\s*$/i.exec(text);
  if (!match || !(match[1] || match[2])) return null;
  const decimals = (match[2] || "").length - Number(match[3] || 0);
  const value = BigInt(`${match[1]}${match[2] || ""}`) * 10n ** BigInt(Math.max(-decimals, 0));
  const unit = 10n ** BigInt(Math.max(decimals, 0)) * (match[4] ? 100n : 1n);
  return value > unit ? null : [value, unit];
}

/** The one or two numbers of correct examples that are nearest to an accuracy to which none rounds. */
function nearestOf(text, examples) {
  const [value, unit] = fractionOf(text);
  const doubled = 2n * value * BigInt(examples);
  const highest = (doubled + unit) / (2n * unit);
  // halfway between two numbers, both are nearest
  return (doubled + unit) % (2n * unit) === 0n ? [Number(highest) - 1, Number(highest)] : [Number(highest)];
}

/** What an accuracy means: both baselines, both tails, and the conclusion; for each number of correct examples. */
function judge(groups, prompts, numbers) {
  const baseline = new RandomBaseline(groups);
  const maximum = baseline.maximum(prompts);
  const rows = numbers.map((correct) => {
    const accuracy = correct / baseline.examples;
    const above = (bound) => accuracy - bound > (accuracy === 1 ? 4e-16 : 1e-12);
    const tail = baseline.tail(correct, prompts);
    return {
      correct,
      accuracy,
      standardTail: baseline.tail(correct),
      maximumTail: tail,
      position: above(maximum) ? "above" : above(baseline.standard) ? "between" : "below",
      better: tail <= ALPHA ? "yes" : "no",
    };
  });
  const words = new Set(rows.map((row) => row.better));
  const better = words.size === 0 ? null : words.size > 1 ? "unclear" : [...words][0];
  return { baseline, standard: baseline.standard, maximum, rows, better };
}

if (typeof module !== "undefined") module.exports = { RandomBaseline, power, examplesForPower, correctOf, nearestOf, judge };
