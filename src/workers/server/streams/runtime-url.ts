// The address of the runtime's streaming server. Only loopback addresses of this machine are accepted: a server
// elsewhere is not the runtime.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
/** @throws OperatorError */
export function runtimeUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new OperatorError(
      `the runtime serves the stream at ${JSON.stringify(text)}, which is no http or https address`,
    );
  }
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    throw new OperatorError(
      `the runtime serves the stream at ${url.host}, not on this machine's loopback: let its streaming server listen on 127.0.0.1`,
    );
  }
  return url;
}
