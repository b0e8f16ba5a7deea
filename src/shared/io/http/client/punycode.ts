// Host names in other scripts as Go's client sends them: each label in Punycode (RFC 3492) as it is written, without a
// mapping of capital or compatible letters.

// With the file: the name alone is a module of Node that is deprecated.
import punycode from "punycode/punycode.js";
import { isAscii } from "../bytes.js";

/** Characters of a host name. DNS has 253; the time grows with the square. */
const MAX_HOST = 1024;
const PREFIX = "xn--";

/** Undefined for a name that is too long, or that has a label in Punycode which is none. */
export function punycodeHost(host: string): string | undefined {
  if (host.length > MAX_HOST) return undefined;
  const labels = host.split(".");
  if (labels.some((label) => label.startsWith(PREFIX) && !isAscii(label))) return undefined;
  return labels.map((label) => (isAscii(label) ? label : PREFIX + punycode.encode(label))).join(".");
}
