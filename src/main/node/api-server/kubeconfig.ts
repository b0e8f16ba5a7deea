// A kubeconfig as text: one cluster, one user. JSON is YAML.

export interface CertificatePair {
  /** PEM */
  cert: string;
  /** PEM, PKCS #8 */
  key: string;
}

export function kubeconfigText(
  server: string,
  ca: string,
  user: CertificatePair | { token: string },
  cluster = "node",
): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const credentials =
    "token" in user
      ? { token: user.token }
      : { "client-certificate-data": base64(user.cert), "client-key-data": base64(user.key) };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server, "certificate-authority-data": base64(ca) } }],
    users: [{ name: "user", user: credentials }],
    contexts: [{ name: cluster, context: { cluster, user: "user" } }],
    "current-context": cluster,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** PEM of the only client of a kubeconfig that {@link kubeconfigText} has made; undefined: another text. */
export function clientCertificateOf(text: string): string | undefined {
  try {
    const { users } = JSON.parse(text) as { users: [{ user: Record<"client-certificate-data", string> }] };
    return Buffer.from(users[0].user["client-certificate-data"], "base64").toString();
  } catch {
    return undefined;
  }
}
