// The mappings of one module of positions.json.gz, as tools/bundle/positions.mjs writes them: those of a source map
// (https://tc39.es/ecma426/) whose names are functions. Pure.

/** From 0, as in a source map. */
export interface Segment {
  line: number;
  column: number;
  source: number;
  sourceLine: number;
  sourceColumn: number;
  /** Here a piece of this function begins. */
  name: number | undefined;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map(DIGITS.split("").map((digit, value) => [digit, value]));
const MORE = 32;

/** In the order of the text. */
export function decodeMappings(mappings: string): Segment[] {
  const segments: Segment[] = [];
  let [source, sourceLine, sourceColumn, lastName] = [0, 0, 0, 0];
  for (const [line, text] of mappings.split(";").entries()) {
    let column = 0;
    for (const part of text === "" ? [] : text.split(",")) {
      const deltas = numbersOf(part);
      column += deltas[0] ?? 0;
      source += deltas[1] ?? 0;
      sourceLine += deltas[2] ?? 0;
      sourceColumn += deltas[3] ?? 0;
      lastName += deltas[4] ?? 0;
      const name = deltas.length > 4 ? lastName : undefined;
      segments.push({ line, column, source, sourceLine, sourceColumn, name });
    }
  }
  return segments;
}

/** Base 64 VLQ: five bits of a number per digit, the lowest first; the lowest bit of all is the sign. */
function numbersOf(text: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const digit of text) {
    const bits = VALUES.get(digit) ?? 0;
    value += (bits % MORE) << shift;
    shift += 5;
    if (bits >= MORE) continue;
    numbers.push((value & 1) === 0 ? value >>> 1 : -(value >>> 1));
    [value, shift] = [0, 0];
  }
  return numbers;
}
