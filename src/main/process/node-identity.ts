// The name of this node, by upstream's rule. Its addresses: shared/io/net/host-addresses.ts.

import { OperatorError } from "../../shared/base/errors/operator-error.js";
const MAX_NAME = 253;
const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The host name, or --hostname-override, is no DNS subdomain. */
function nodeNameError(nodeName: string, fromFlag: boolean): OperatorError {
  const where = fromFlag ? "--hostname-override" : "the host name";
  return new OperatorError(
    `${where} ${JSON.stringify(nodeName)} cannot be a node name: use at most ${MAX_NAME} of a-z, 0-9, "-" and ".", ` +
      `beginning and ending with a letter or digit; set another with --hostname-override`,
  );
}

/** The override, or else the host name: in lower case, without surrounding space. */
export function nodeName(hostnameOverride: string, hostname: string): string {
  const override = hostnameOverride.trim();
  const name = (override === "" ? hostname.trim() : override).toLowerCase();
  if (name.length > MAX_NAME || !NAME.test(name)) throw nodeNameError(name, override !== "");
  return name;
}
