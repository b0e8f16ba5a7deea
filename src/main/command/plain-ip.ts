// Addresses of flags and of the configuration as upstream's ParseIPSloppy reads them: zeros in front of the parts of an
// IPv4 address are dropped (010.96.0.10 is 10.96.0.10).

import { isIP } from "node:net";

/** The address as Node reads it; undefined: it is none. */
export function plainIP(text: string): string | undefined {
  const plain = text.replace(/(^|[.:])0+(?=\d{1,3}(\.|$))/g, "$1");
  // A zone names an interface: no address to listen on or to report.
  return isIP(plain) > 0 && !plain.includes("%") ? plain : undefined;
}
