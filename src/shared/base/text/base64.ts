// Base64 as Go's StdEncoding reads it: padded, with line breaks anywhere (https://pkg.go.dev/encoding/base64).

/** The text without its line breaks; undefined: it is no base64. */
export function bareBase64(text: string): string | undefined {
  const bare = text.replace(/[\r\n]/g, "");
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare) ? bare : undefined;
}
