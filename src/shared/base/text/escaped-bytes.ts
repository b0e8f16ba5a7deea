// Bytes as text and back without loss. Bytes that are no UTF-8 become lone low surrogates, which no UTF-8 text has, so
// the text may be cut and joined like any other.

const LOW = 0xdc00;
const ESCAPED = /[\udc80-\udcff]/u;

/** Equal to Buffer's `toString("utf8")` for UTF-8. */
export function textOfBytes(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  // The replacement character may also stand in the text itself.
  if (!text.includes("\ufffd") || Buffer.from(text, "utf8").equals(bytes)) return text;
  const parts: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    parts.push(length === 0 ? String.fromCharCode(LOW + (bytes[at] ?? 0)) : bytes.toString("utf8", at, at + length));
    at += Math.max(length, 1);
  }
  return parts.join("");
}

/** The bytes from which `textOfBytes` made the text; of any other text its UTF-8. */
export function bytesOfText(text: string): Uint8Array {
  if (!ESCAPED.test(text)) return Buffer.from(text, "utf8");
  const parts: Buffer[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    parts.push(ESCAPED.test(character) ? Buffer.of(code - LOW) : Buffer.from(character, "utf8"));
  }
  return Buffer.concat(parts);
}

/** Bytes of the character that begins here; 0: none does. */
function sequenceLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const sequence = bytes.subarray(at, at + length);
  return Buffer.from(sequence.toString("utf8"), "utf8").equals(sequence) ? length : 0;
}
