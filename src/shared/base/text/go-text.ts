/** UTF-8 as Go decodes it: bytes that are no character become U+FFFD, each one. */
export function goText(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes("\uFFFD")) return text;
  const characters: string[] = [];
  for (let index = 0; index < bytes.length;) {
    const first = bytes[index] ?? 0;
    const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const part = bytes.subarray(index, index + size);
    const character = part.toString();
    const valid = Buffer.from(character).equals(part);
    characters.push(valid ? character : "\uFFFD");
    index += valid ? size : 1;
  }
  return characters.join("");
}
