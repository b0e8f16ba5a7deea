// The mappings of a source map (https://tc39.es/ecma426/), as lists of numbers and back.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

/**
 * Segments in the order of the generated text: [line, column, source, its line, its column, name], all from 0; name is
 * undefined if there is none. Segments without a source are left out.
 */
export function decodeMappings(mappings) {
  const segments = [];
  const now = [0, 0, 0, 0, 0];
  for (const [line, text] of mappings.split(";").entries()) {
    now[0] = 0;
    for (const part of text === "" ? [] : text.split(",")) {
      const deltas = numbersOf(part);
      for (const [index, delta] of deltas.entries()) now[index] += delta;
      const [column, source, sourceLine, sourceColumn, name] = now;
      if (deltas.length < 4) continue;
      segments.push([line, column, source, sourceLine, sourceColumn, deltas.length > 4 ? name : undefined]);
    }
  }
  return segments;
}

/** The text of such segments. */
export function encodeMappings(segments) {
  let [text, line] = ["", 0];
  const before = [0, 0, 0, 0, 0];
  let first = true;
  for (const [atLine, ...fields] of segments) {
    if (atLine > line) {
      text += ";".repeat(atLine - line);
      [line, before[0], first] = [atLine, 0, true];
    }
    if (!first) text += ",";
    first = false;
    for (const [index, value] of fields.entries()) {
      if (value === undefined) continue;
      text += digitsOf(value - before[index]);
      before[index] = value;
    }
  }
  return text;
}

function numbersOf(text) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const digit of text) {
    const bits = VALUES.get(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if ((bits & 32) !== 0) continue;
    numbers.push((value & 1) === 0 ? value >>> 1 : -(value >>> 1));
    [value, shift] = [0, 0];
  }
  return numbers;
}

function digitsOf(number) {
  let text = "";
  let rest = number < 0 ? (-number << 1) | 1 : number << 1;
  do {
    const bits = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest === 0 ? bits : bits | 32];
  } while (rest !== 0);
  return text;
}
