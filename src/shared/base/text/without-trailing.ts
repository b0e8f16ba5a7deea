// Trims a text's end. An expression like /x+$/ takes quadratic time: it tries each run of characters from each of its
// starts.

/** The text without the given `characters` at its end. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
