// The User-Agent of probes over HTTP and gRPC.

import { KUBERNETES_VERSION } from "../command/version.js";

/** "kube-probe/1.36" */
export function probeUserAgent(): string {
  const [major = "", minor = ""] = KUBERNETES_VERSION.slice(1).split(".");
  return `kube-probe/${major}.${minor}`;
}
