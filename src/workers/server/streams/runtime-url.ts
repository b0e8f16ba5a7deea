// The address of the runtime's streaming server. Only loopback addresses of this machine are accepted: a server
// elsewhere is not the runtime.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";

/** Runtimes make addresses of some 60 characters. A longer one would be a request line of that length. */
const LONGEST = 4096;
/** Characters of a refused address that the message repeats. */
const SHOWN = 128;

/** @throws OperatorError */
export function runtimeUrl(text: string): URL {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const url = text.length <= LONGEST && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new OperatorError(
      `the runtime serves the stream at ${JSON.stringify(shown)}, which is no http or https address`,
    );
  }
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    throw new OperatorError(
      `the runtime serves the stream at ${url.host.slice(0, SHOWN)}, not on this machine's loopback: let its streaming server listen on 127.0.0.1`,
    );
  }
  return url;
}
