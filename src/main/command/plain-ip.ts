// Addresses of flags and of the configuration as upstream's ParseIPSloppy reads them: zeros in front of the parts of an
// IPv4 address are dropped (010.96.0.10 is 10.96.0.10). Each address has one form, that of Go's net.IP.

import { isIP } from "node:net";
import { formatIP } from "../model/format-ip.js";

/** undefined: the text is no address. */
export function plainIP(text: string): string | undefined {
  const plain = text.replace(/(^|[.:])0+(?=\d{1,3}(\.|$))/g, "$1");
  // A zone names an interface: no address to listen on or to report.
  return isIP(plain) > 0 && !plain.includes("%") ? unmapped(formatIP(plain) ?? plain) : undefined;
}

/** An IPv4 address in the form of an IPv6 address is an IPv4 address. */
function unmapped(address: string): string {
  const [, high = "", low = ""] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address) ?? [];
  if (low === "") return address;
  const bytes = [high, low].map((part) => parseInt(part, 16)).flatMap((pair) => [pair >> 8, pair & 255]);
  return bytes.join(".");
}
