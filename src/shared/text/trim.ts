// Trims one repeated character from a text. An expression like /x+$/ takes quadratic time: it tries each run from each start.

/** The text without the run of `character` at its end. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
