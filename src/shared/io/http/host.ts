// The Host of a request, parsed once: the name of an authority as RFC 3986 has it, with an optional port.
// Invariant: a text that two parsers could read differently is no host.

import { isIPv4, isIPv6 } from "node:net";

export interface Host {
  /** In lower case; an IPv6 address has its brackets. "": the client named no host. */
  readonly name: string;
  /** undefined: the scheme's own. */
  readonly port: number | undefined;
}

const LITERAL = /^(\[[^\]]*\])(?::(\d{0,5}))?$/;
const NAME = /^((?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::(\d{0,5}))?$/i;

/** undefined: the text is no host. */
export function parseHost(text: string): Host | undefined {
  const literal = LITERAL.exec(text);
  if (literal !== null && !isIPv6(literal[1]?.slice(1, -1) ?? "")) return undefined;
  const [, name, digits] = literal ?? NAME.exec(text) ?? [];
  if (name === undefined) return undefined;
  const port = digits === undefined || digits === "" ? undefined : Number(digits);
  if (port !== undefined && port > 65_535) return undefined;
  return { name: name.toLowerCase(), port };
}

/** Whether two authorities are the same, apart from upper and lower case. */
export function isSameHost(one: Host, other: Host): boolean {
  return one.name === other.name && one.port === other.port;
}

/** An address of this machine's loopback interface, also as an IPv6 socket shows an IPv4 client. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:/, "");
  return plain === "::1" || (isIPv4(plain) && plain.startsWith("127."));
}

/** localhost, an address of 127.0.0.0/8, or [::1]. */
export function isLoopbackHost({ name }: Host): boolean {
  return name === "localhost" || name === "[::1]" || (isIPv4(name) && name.startsWith("127."));
}
