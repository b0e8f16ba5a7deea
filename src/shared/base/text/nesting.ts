// Nesting depth of a JSON text, computed before it is parsed. JSON.parse takes 70 ns per level, so a megabyte of "["
// costs 70 ms.

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * True when lists and objects nest more than `limit` levels deep. Reads the text once; for texts that are not JSON the
 * result is arbitrary.
 */
export function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > limit) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
  return false;
}

/**
 * Index of the quote that ends the string which begins at `start`. indexOf passes over long strings at the speed of
 * memory. The length of the text if there is none.
 */
export function closingQuote(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++;
    // A quote behind an odd number of backslashes is a part of the string.
    if (backslashes % 2 === 0) return quote;
  }
  return text.length;
}
