// The beginning of a text of unknown length.

/** The text, or its first characters and "…": never more than `most` UTF-16 units, and no half of a character. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most - 1);
  return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}…`;
}
