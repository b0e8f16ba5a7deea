// Names of header fields as Go's net/http keeps them (https://pkg.go.dev/net/textproto#CanonicalMIMEHeaderKey).

/** RFC 9110, section 5.6.2. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Longer names are no header's: they stay as they are. */
const MAX_CANONICAL = 1024;

/** "x-forwarded-for" is "X-Forwarded-For"; a name that is no token stays as it is. */
export function canonicalName(name: string): string {
  if (name.length > MAX_CANONICAL || !TOKEN.test(name)) return name;
  return name.toLowerCase().replace(/(?<=^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
