// Folds texts into columns of a table: at spaces, and within a word that is longer than its column after a separator
// such as / or -. Pure.

/** A column is not made narrower for another one's sake. */
const NARROWEST = 6;
/** Where a name, a path or a version may be divided: better after the first. */
const SEPARATORS = [/\//, /[-:.,_=@+;]/];

/**
 * Width of each column, so that all together have at most `room` if that is possible at all. `rows`: with the titles.
 */
export function columnWidths(rows: readonly (readonly string[])[], room: number): number[] {
  const natural = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  let over = natural.reduce((sum, one) => sum + one, 0) - room;
  const widths = [...natural];
  while (over > 0) {
    // The widest columns lose first, down to the width of the next.
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    const next = Math.max(NARROWEST, ...widths.filter((one) => one < widest));
    const wide = widths.flatMap((one, index) => (one === widest ? [index] : []));
    const each = Math.min(widest - next, Math.ceil(over / wide.length));
    for (const index of wide) {
      const lost = Math.min(each, over);
      widths[index] = widest - lost;
      over -= lost;
      if (over === 0) break;
    }
  }
  return widths;
}

/** The lines of a cell; [""] for an empty text. */
export function foldedCell(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = "";
  const end = (): void => {
    if (line !== "") lines.push(line);
    line = "";
  };
  for (const word of text.split(" ").filter((one) => one !== "")) {
    if (line !== "" && line.length + 1 + word.length <= width) {
      line += ` ${word}`;
      continue;
    }
    end();
    const parts = divided(word, width);
    lines.push(...parts.slice(0, -1));
    line = parts.at(-1) ?? "";
  }
  end();
  return lines.length === 0 ? [""] : lines;
}

/** A word in parts of at most `width`: after its last separator that leaves half a line, else anywhere. */
function divided(word: string, width: number): string[] {
  const parts: string[] = [];
  let rest = word;
  while (rest.length > width) {
    const begin = rest;
    const found = SEPARATORS.map((separator) => lastEnd(begin, width, separator)).find((end) => end > 0);
    const at = found ?? width;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...parts, rest];
}

/** Position after the last separator in the second half of a line; 0: there is none. */
function lastEnd(word: string, width: number, separator: RegExp): number {
  for (let end = width; end > width / 2; end--) if (separator.test(word[end - 1] ?? "")) return end;
  return 0;
}

/** Length of the longest part that a fold keeps whole, among those of at most `most` characters. */
export function longestPart(text: string, most: number): number {
  const lengths = text.split(/[ /:.,_=@+;-]/).map(({ length }) => length);
  return Math.max(0, ...lengths.filter((length) => length <= most));
}
