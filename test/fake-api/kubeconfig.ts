// A kubeconfig as text: one cluster, one user.

import { stringify } from "yaml";
import type { CertificatePair } from "../../src/main/node/api-server/authority.js";

export function kubeconfigText(server: string, ca: string, user: CertificatePair | { token: string }): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const credentials =
    "token" in user
      ? { token: user.token }
      : { "client-certificate-data": base64(user.cert), "client-key-data": base64(user.key) };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "fake", cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [{ name: "user", user: credentials }],
    contexts: [{ name: "fake", context: { cluster: "fake", user: "user" } }],
    "current-context": "fake",
  });
}
