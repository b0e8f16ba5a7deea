// Host names in other scripts as Go's client sends them: each label in Punycode (RFC 3492) as it is written, without a
// mapping of capital or compatible letters.

import { isAscii } from "../bytes.js";

/** Characters of a host name. DNS has 253; the time grows with the square. */
const MAX_HOST = 1024;
const [BASE, T_MIN, T_MAX, SKEW, DAMP] = [36, 1, 26, 38, 700];
const PREFIX = "xn--";
const DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789";
const FIRST_BIAS = 72;
const FIRST_CODE = 0x80;

/** Undefined for a name that is too long, or that has a label in Punycode which is none. */
export function punycodeHost(host: string): string | undefined {
  if (host.length > MAX_HOST) return undefined;
  const labels = host.split(".");
  if (labels.some((label) => label.startsWith(PREFIX) && !isAscii(label))) return undefined;
  return labels.map((label) => (isAscii(label) ? label : encoded(label))).join(".");
}

function encoded(label: string): string {
  const codes = Array.from(label, (character) => character.codePointAt(0) ?? 0);
  const basic = codes.filter((code) => code < FIRST_CODE);
  let output = String.fromCharCode(...basic) + (basic.length > 0 ? "-" : "");
  let [delta, bias, done] = [0, FIRST_BIAS, basic.length];
  let [next, isFirst] = [FIRST_CODE, true];
  while (done < codes.length) {
    const least = codes.reduce((low, code) => (code >= next && code < low ? code : low), Infinity);
    delta += (least - next) * (done + 1);
    next = least;
    for (const code of codes) {
      if (code < next) delta++;
      if (code !== next) continue;
      output += digitsOf(delta, bias);
      done++;
      bias = adapted(delta, done, isFirst);
      [delta, isFirst] = [0, false];
    }
    delta++;
    next++;
  }
  return PREFIX + output;
}

/** A number of digits whose thresholds depend on the bias. */
function digitsOf(delta: number, bias: number): string {
  let [left, digits] = [delta, ""];
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (left < threshold) return digits + DIGITS.charAt(left);
    digits += DIGITS.charAt(threshold + ((left - threshold) % (BASE - threshold)));
    left = Math.floor((left - threshold) / (BASE - threshold));
  }
}

function adapted(delta: number, count: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? DAMP : 2));
  left += Math.floor(left / count);
  let bias = 0;
  for (; left > ((BASE - T_MIN) * T_MAX) / 2; bias += BASE) left = Math.floor(left / (BASE - T_MIN));
  return bias + Math.floor((BASE * left) / (left + SKEW));
}
