// The proxy of a connection: the kubeconfig's, or that of the environment by Go's rules
// (https://pkg.go.dev/golang.org/x/net/http/httpproxy).

import { isIP } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy for a server, or undefined. @throws TypeError when the variable holds no URL */
export function proxyFor(server: URL, proxyUrl: string | undefined, env: Environment): URL | undefined {
  if (proxyUrl !== undefined) return new URL(proxyUrl);
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = anyOf(env, name);
  if (value === "" || isExempt(server, anyOf(env, "NO_PROXY"))) return undefined;
  return new URL(value.includes("://") ? value : `http://${value}`);
}

/** A variable that is empty is as one that is not there. */
function anyOf(env: Environment, name: string): string {
  const upper = env[name] ?? "";
  return upper === "" ? (env[name.toLowerCase()] ?? "") : upper;
}

function isExempt(server: URL, list: string): boolean {
  const host = bareHost(server);
  if (host === "localhost" || host === "::1" || host.startsWith("127.")) return true;
  const port = portOf(server);
  return list.split(",").some((entry) => matches(entry.trim().toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === "") return false;
  if (entry === "*") return true;
  if (entry.includes("/")) return inNetwork(entry, host);
  const [, name = entry, wantedPort] = /^(.*?|\[.*\]):(\d+)$/.exec(isIP(entry) === 6 ? "" : entry) ?? [];
  if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
  const suffix = name.replace(/^\[|\]$/g, "").replace(/^\*(?=\.)/, "");
  if (suffix.startsWith(".")) return host.endsWith(suffix);
  return host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`));
}

function inNetwork(network: string, host: string): boolean {
  const [base = "", bits = ""] = network.split("/");
  const wanted = addressBits(base);
  const actual = addressBits(host);
  const length = Number(bits);
  if (wanted === undefined || actual === undefined || wanted.length !== actual.length) return false;
  return Number.isInteger(length) && length <= wanted.length && wanted.slice(0, length) === actual.slice(0, length);
}

/** An address as a string of 0 and 1. */
function addressBits(address: string): string | undefined {
  const kind = isIP(address);
  if (kind === 4)
    return address
      .split(".")
      .map((part) => Number(part).toString(2).padStart(8, "0"))
      .join("");
  if (kind === 0) return undefined;
  const [head = "", tail] = address.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].map((part) => parseInt(part, 16).toString(2).padStart(16, "0")).join("");
}

/** undefined: the text is no address. */
export function addressBytes(address: string): Buffer | undefined {
  const octets = addressBits(address)?.match(/.{8}/g);
  return octets == null ? undefined : Buffer.from(octets.map((octet) => parseInt(octet, 2)));
}

/** Without the brackets of an IPv6 address. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}
const PORTS: Readonly<Record<string, number>> = { "https:": 443, "socks5:": 1080, "socks5h:": 1080 };

export function portOf(url: URL): number {
  return url.port !== "" ? Number(url.port) : (PORTS[url.protocol] ?? 80);
}
