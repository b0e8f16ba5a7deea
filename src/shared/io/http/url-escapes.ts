// Percent-encoding of the parts of a URL as Go's net/url has it: which bytes stay, which become %XX, and what is
// refused.

import { quoteBytes } from "./bytes.js";

/** The text is no URL. */
export class UrlError extends Error {
  override readonly name = "UrlError";
}

/** Parts with an encoding of their own. */
type Part = "path" | "fragment" | "host" | "user";

/** Bytes that stay when the part is encoded. */
const KEPT: Readonly<Record<Part, RegExp>> = {
  path: /[^A-Za-z0-9\-_.~$&+,/:;=@]/g,
  fragment: /[^A-Za-z0-9\-_.~$&+,/:;=?@!()*]/g,
  host: /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/g,
  user: /[^A-Za-z0-9\-_.~$&+,;=]/g,
};
/** Encoded parts in which no byte has to be encoded: they stay as they were given. */
const VALID: Readonly<Record<"path" | "fragment", RegExp>> = {
  path: /^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/,
  fragment: /^[A-Za-z0-9\-_.~$&+,/:;=?@!'()*[\]%]*$/,
};
export const VALID_USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const ESCAPES = /%[0-9A-Fa-f]{2}/g;

/** Encodes every byte that the part may not hold. */
export function escape(bytes: string, part: Part): string {
  return bytes.replace(KEPT[part], (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

/** The encoded form of a part that may be encoded already. Throws UrlError for a wrong escape. */
export function escapedForm(bytes: string, part: "path" | "fragment"): string {
  const decoded = unescape(bytes);
  return VALID[part].test(bytes) ? bytes : escape(decoded, part);
}

/** Throws UrlError for a wrong escape. */
export function unescape(bytes: string): string {
  if (!bytes.includes("%")) return bytes;
  const wrong = /%(?![0-9A-Fa-f]{2})/.exec(bytes);
  if (wrong !== null) throw new UrlError(`invalid URL escape ${quoteBytes(bytes.slice(wrong.index, wrong.index + 3))}`);
  return bytes.replace(ESCAPES, decodeOne);
}

/** In a host only bytes beyond ASCII may be encoded. */
export function unescapeHost(host: string): string {
  for (const [one] of host.matchAll(ESCAPES)) {
    if (decodeOne(one).charCodeAt(0) < 0x80 && one !== "%25")
      throw new UrlError(`invalid URL escape ${quoteBytes(one)}`);
  }
  checkHostBytes(host);
  return unescape(host);
}

/** The zone of an IPv6 address, "%25eth0". */
export function unescapeZone(zone: string): string {
  for (const [one] of zone.matchAll(ESCAPES)) {
    const byte = decodeOne(one);
    if (one !== "%25" && byte !== " " && escape(byte, "host") !== byte) {
      throw new UrlError(`invalid URL escape ${quoteBytes(one)}`);
    }
  }
  checkHostBytes(zone);
  return unescape(zone);
}

function checkHostBytes(host: string): void {
  const wrong = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\x80-\xff]/.exec(host);
  if (wrong !== null) throw new UrlError(`invalid character ${quoteBytes(wrong[0])} in host name`);
}

const decodeOne = (escaped: string): string => String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
