// Where the kubelet listens.
import { isIP } from "node:net";
import type { ConfigView, Violation } from "./rule.js";
import { inRange, quote } from "./check.js";

export function* ports(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "port", 1, 65535, "port");
  for (const path of ["readOnlyPort", "healthzPort"] as const) {
    const value = config.get(path) ?? 0;
    if (value < 0 || value > 65535)
      yield { path, message: `${value} is not a port from 1 to 65535, or 0 to disable it` };
  }
  for (const path of ["address", "healthzBindAddress"] as const) {
    const value = config.get(path);
    if (value !== undefined && isIP(value) === 0) {
      yield {
        path,
        message: `${quote(value)} is not an IP address; use 0.0.0.0 for all IPv4 addresses or :: for all addresses`,
      };
    }
  }
}
