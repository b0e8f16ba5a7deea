// The proxy of a connection: the kubeconfig's, or that of the environment by Go's rules
// (https://pkg.go.dev/golang.org/x/net/http/httpproxy).

import { isExempt } from "./no-proxy.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for a server, or undefined. @throws TypeError when a value with a scheme is no URL */
export function proxyFor(server: URL, proxyUrl: string | undefined, env: Environment): URL | undefined {
  if (proxyUrl !== undefined) return new URL(proxyUrl);
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = anyOf(env, name);
  if (value === "" || isExempt(server, anyOf(env, "NO_PROXY"))) return undefined;
  if (value.includes("://")) return new URL(value);
  // As Go: a text that is no host and port is as no value.
  return URL.canParse(`http://${value}`) && !value.startsWith(" ") ? new URL(`http://${value}`) : undefined;
}

/** A variable that is empty is as one that is not there. */
function anyOf(env: Environment, name: string): string {
  const upper = env[name] ?? "";
  return upper === "" ? (env[name.toLowerCase()] ?? "") : upper;
}
