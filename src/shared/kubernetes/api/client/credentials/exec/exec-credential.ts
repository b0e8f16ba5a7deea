// Input and output of a credential plugin (client.authentication.k8s.io).
// Invariant: no message contains the plugin's output: it may be secret in any form.

import { type WallTime, wallTime } from "../../../../../base/clock/moments.js";
import { goTimeMs } from "../../../../../base/text/go-time.js";
import { parseJson } from "../../../../../base/text/parse-json.js";
import { looksLikeJson } from "../../../../../io/yaml/json.js";
import { readKubernetesYaml } from "../../../../../io/yaml/kubernetes-yaml.js";
import type { ClientConfig, ExecConfig } from "../../config.js";
import { CredentialError } from "../errors.js";
import type { KeyPair } from "../tls-identity.js";

export interface ExecCredential {
  token: string | undefined;
  pair: KeyPair | undefined;
  /** undefined: until the server refuses it. */
  expiresAt: WallTime | undefined;
}

/** KUBERNETES_EXEC_INFO. @param ca the cluster's, PEM */
export function execInfo(exec: ExecConfig, config: ClientConfig, ca: string | undefined): string {
  const cluster = {
    server: config.server,
    "tls-server-name": config.tlsServerName,
    "insecure-skip-tls-verify": config.insecureSkipTlsVerify,
    "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca, "latin1").toString("base64"),
    "proxy-url": config.proxyUrl,
    "disable-compression": config.disableCompression,
    config: exec.clusterConfig,
  };
  const spec = { cluster: exec.provideClusterInfo ? cluster : undefined, interactive: false };
  return JSON.stringify({ kind: "ExecCredential", apiVersion: exec.apiVersion, spec });
}

/** @throws CredentialError */
export function readExecCredential(text: string, { apiVersion, command }: ExecConfig): ExecCredential {
  const wrong = (why: string): CredentialError => new CredentialError(`the credential plugin ${command} ${why}`);
  const answer = objectOf(parsed(text, wrong));
  if (answer["kind"] !== "ExecCredential" || answer["apiVersion"] !== apiVersion) {
    throw wrong(`printed no ExecCredential of ${apiVersion}: does its version fit the kubeconfig's apiVersion?`);
  }
  const status = objectOf(answer["status"]);
  const field = (name: string): string => {
    const value = status[name] ?? "";
    if (typeof value !== "string") throw wrong(`printed a status.${name} that is no string`);
    return value;
  };
  const [token, cert, key] = [field("token"), field("clientCertificateData"), field("clientKeyData")];
  if ((cert === "") !== (key === "")) throw wrong("printed a client certificate or key without the other");
  if (token === "" && cert === "") throw wrong("printed neither status.token nor a client certificate");
  // It becomes a header.
  if (/[^\x21-\x7e]/.test(token)) throw wrong("printed a status.token with spaces or unprintable characters");
  const expiration = field("expirationTimestamp");
  const expiresAt = expiration === "" ? undefined : wallTime(goTimeMs(expiration) ?? NaN);
  if (Number.isNaN(expiresAt)) throw wrong("printed a status.expirationTimestamp that is no time of RFC 3339");
  return { token: token === "" ? undefined : token, pair: cert === "" ? undefined : { cert, key }, expiresAt };
}

/** As client-go reads it: JSON, or YAML. Without a parser's own message: it shows part of the text. */
function parsed(text: string, wrong: (why: string) => CredentialError): unknown {
  const isJson = looksLikeJson(text);
  try {
    return isJson ? parseJson(text) : readKubernetesYaml(text).root.value;
  } catch {
    throw wrong(isJson ? "printed no JSON" : "printed neither JSON nor YAML");
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
