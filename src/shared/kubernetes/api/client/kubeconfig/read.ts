// Converts a kubeconfig's fields to a ClientConfig: the cluster and the user of the current context. client-go's rules
// apply to fields that exclude each other. Unknown fields are ignored, as in client-go.

import { dirname, isAbsolute, join } from "node:path";
import { omitUndefined } from "../../../../base/objects/omit-undefined.js";
import { quote } from "../../../../base/text/quote.js";
import { withoutTrailing } from "../../../../base/text/without-trailing.js";
import type { ClientConfig, Source } from "../config.js";
import type { KubeconfigError } from "./errors.js";
import { readExec } from "./read-exec.js";
import type { Fields } from "./tree.js";

/** Gets a mistake with which client-go starts. May throw it. */
export type Tolerated = (problem: KubeconfigError) => void;

export interface ReadContext {
  file: string;
  root: Fields;
  tolerated: Tolerated;
}

/** Throws KubeconfigError. */
export function readClientConfig({ file, root, tolerated }: ReadContext): ClientConfig {
  refuseOtherKind(root);
  for (const list of ["clusters", "users", "contexts"]) refuseEqualNames(root, list);
  const current = root.text("current-context");
  if (current === "") throw root.wrong("current-context", "is missing: it selects the context to use");
  const context = entryOf(root, "contexts", current)?.map("context");
  if (context === undefined) throw missing(root, "contexts", current, "current-context");
  const clusterName = context.text("cluster");
  const cluster = entryOf(root, "clusters", clusterName)?.map("cluster");
  if (cluster === undefined) throw missing(root, "clusters", clusterName, "the cluster of the current context");
  const config: ClientConfig = { origin: file, server: "", ...readCluster(cluster, file) };
  const userName = context.text("user");
  const user = entryOf(root, "users", userName)?.map("user");
  if (user !== undefined)
    Object.assign(config, readUser(user, file, tolerated), readExec(user, cluster, file, tolerated));
  else if (userName !== "") tolerated(missing(root, "users", userName, "the user of the current context"));
  config.server = serverUrl(cluster, config);
  return /^https:/i.test(config.server) ? config : withoutSecrets(config, cluster, tolerated);
}

/** As client-go: over plain HTTP others could read credentials. The impersonated user is no secret. */
function withoutSecrets(config: ClientConfig, cluster: Fields, tolerated: Tolerated): ClientConfig {
  const { origin, server, proxyUrl, disableCompression, impersonate } = config;
  const kept = omitUndefined<ClientConfig>({ origin, server, proxyUrl, disableCompression, impersonate });
  const dropped = Object.keys(config).filter((name) => !(name in kept));
  if (dropped.length > 0) tolerated(cluster.wrong("server", "is not https: no credentials are sent to it"));
  return kept;
}

/** A file of another kind is a path that was mistaken. Old files have neither field. */
function refuseOtherKind(root: Fields): void {
  for (const [field, expected] of [
    ["kind", "Config"],
    ["apiVersion", "v1"],
  ] as const) {
    const given = root.text(field);
    if (given !== "" && given !== expected) throw root.wrong(field, `${quote(given)} must be ${expected}`);
  }
}

/** As client-go, whatever the current context selects. */
function refuseEqualNames(root: Fields, list: string): void {
  const names = new Set<string>();
  for (const entry of root.list(list)) {
    const name = entry.text("name");
    if (names.has(name)) throw entry.wrong("name", `${quote(name)} is the name of an earlier one, too`);
    names.add(name);
  }
}

/** The entry of a list of names. */
function entryOf(root: Fields, list: string, name: string): Fields | undefined {
  return root.list(list).find((each) => each.text("name") === name);
}

function missing(root: Fields, list: string, name: string, wantedBy: string): KubeconfigError {
  const there = root
    .list(list)
    .map((each) => quote(each.text("name")))
    .join(", ");
  return root.wrong(list, `has no ${quote(name)}, ${wantedBy}; there is ${there === "" ? "none" : there}`);
}

function readCluster(cluster: Fields, file: string): Partial<ClientConfig> {
  const certificateAuthority = pem(cluster, "certificate-authority", file);
  const insecure = cluster.bool("insecure-skip-tls-verify");
  if (insecure && certificateAuthority !== undefined) {
    throw cluster.wrong("insecure-skip-tls-verify", "can't be true beside a certificate-authority: remove one of them");
  }
  const proxyUrl = cluster.text("proxy-url");
  if (proxyUrl !== "" && !/^(?:https?|socks5):\/\//i.test(proxyUrl)) {
    throw cluster.wrong("proxy-url", "must be a URL that begins with http://, https:// or socks5://");
  }
  const tlsServerName = cluster.text("tls-server-name");
  return omitUndefined({
    certificateAuthority,
    insecureSkipTlsVerify: insecure ? true : undefined,
    proxyUrl: proxyUrl === "" ? undefined : checked(cluster, "proxy-url", proxyUrl),
    tlsServerName: tlsServerName === "" ? undefined : tlsServerName,
    disableCompression: cluster.bool("disable-compression") ? true : undefined,
  });
}

function readUser(user: Fields, file: string, tolerated: Tolerated): Partial<ClientConfig> {
  if (user.has("auth-provider")) {
    throw user.wrong("auth-provider", "is no longer served, as in client-go 1.26: use exec, a certificate or a token");
  }
  const token = user.text("token");
  const tokenFile = user.text("tokenFile");
  const username = user.text("username");
  const password = user.text("password");
  if (username !== "" && (token !== "" || tokenFile !== "")) {
    throw user.wrong("username", "is set beside a token: only one authentication method is allowed");
  }
  return omitUndefined({
    ...clientCertificate(user, file, tolerated),
    token: token === "" ? undefined : token,
    tokenFile: tokenFile === "" ? undefined : resolved(tokenFile, file),
    basic: username === "" && password === "" ? undefined : { username, password },
    ...impersonate(user),
  });
}

function clientCertificate(user: Fields, file: string, tolerated: Tolerated): Partial<ClientConfig> {
  const certificate = pem(user, "client-certificate", file);
  const key = pem(user, "client-key", file);
  if (certificate === undefined) {
    if (key !== undefined) tolerated(user.wrong("", "has a client-key and no client-certificate"));
    return {};
  }
  if (key === undefined) throw user.wrong("", "has a client-certificate and no client-key");
  return { clientCertificate: { certificate, key } };
}

function impersonate(user: Fields): Partial<ClientConfig> {
  const name = user.text("as");
  const groups = user.texts("as-groups");
  const uid = user.text("as-uid");
  const fields = user.map("as-user-extra");
  const extra = Object.fromEntries(fields.keys().map((key) => [key, fields.texts(key)]));
  const isAny = groups.length > 0 || uid !== "" || Object.keys(extra).length > 0;
  if (name === "") {
    if (isAny) throw user.wrong("as", "is missing: as-groups, as-uid and as-user-extra are about that user");
    return {};
  }
  return { impersonate: omitUndefined({ user: name, groups, extra, uid: uid === "" ? undefined : uid }) };
}

/** `<name>-data` (base64) comes before `<name>` (a path). */
function pem(fields: Fields, name: string, file: string): Source | undefined {
  const encoded = fields.text(`${name}-data`);
  if (encoded !== "") {
    const data = Buffer.from(encoded, "base64").toString("latin1");
    if (data.includes("-----BEGIN ")) return { data };
    throw fields.wrong(`${name}-data`, "must be PEM in base64");
  }
  const path = fields.text(name);
  return path === "" ? undefined : { file: resolved(path, file) };
}

/** Paths in a kubeconfig are relative to its folder. */
function resolved(path: string, file: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

function serverUrl(cluster: Fields, config: ClientConfig): string {
  const written = cluster.text("server");
  if (written === "") throw cluster.wrong("server", "is missing: the URL of the API server");
  const isSecure =
    config.certificateAuthority !== undefined ||
    config.clientCertificate !== undefined ||
    config.insecureSkipTlsVerify === true;
  const url = written.includes("://") ? written : `${isSecure ? "https" : "http"}://${written}`;
  if (!/^https?:\/\//i.test(url)) throw cluster.wrong("server", "must begin with https:// or http://");
  return withoutTrailing(checked(cluster, "server", url), "/");
}

function checked(fields: Fields, name: string, url: string): string {
  try {
    const { username, password } = new URL(url);
    decodeURIComponent(username + password);
    return url;
  } catch (error) {
    throw fields.wrong(name, `${quote(url.replace(/\/\/[^@/]*@/, "//…@"))} is no URL`, { cause: error });
  }
}
