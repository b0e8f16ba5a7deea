import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import type { ClientConfig } from "../../../../../../src/shared/kubernetes/api/client/config.js";
import { KubeconfigError } from "../../../../../../src/shared/kubernetes/api/client/kubeconfig/errors.js";
import { loadClientConfig } from "../../../../../../src/shared/kubernetes/api/client/kubeconfig/load.js";

let dir: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-kubeconfig-"));
});
after(() => rm(dir, { recursive: true, force: true }));

const PEM = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
const PEM64 = Buffer.from(PEM).toString("base64");

/** A kubeconfig whose cluster and user have these lines. */
function text(cluster: string, user: string): string {
  const indented = (lines: string): string =>
    lines
      .split("\n")
      .map((line) => `    ${line}\n`)
      .join("");
  return `apiVersion: v1
kind: Config
current-context: here
preferences: {}
contexts:
- name: other
  context: {cluster: none, user: none}
- name: here
  context: {cluster: c, user: ${user === "" ? '""' : "u"}}
clusters:
- name: c
  cluster:
${indented(cluster)}users:
- name: u
  user:
${indented(user === "" ? "{}" : user)}`;
}
const SERVER = "server: https://10.0.0.1:6443/";

async function load(content: string): Promise<ClientConfig> {
  const file = join(dir, "config");
  await writeFile(file, content);
  return await loadClientConfig(file);
}
async function problem(content: string): Promise<string> {
  const error: unknown = await load(content).catch((failed: unknown) => failed);
  ok(error instanceof KubeconfigError, String(error));
  return error.message.replace(`kubeconfig ${dir}/`, "");
}

const GOOD: [name: string, cluster: string, user: string, config: Partial<ClientConfig>][] = [
  ["nobody", SERVER, "", {}],
  ["a token", SERVER, "token: abc", { token: "abc" }],
  ["a token file, relative", SERVER, "tokenFile: t/token", { tokenFile: "DIR/t/token" }],
  ["both tokens", SERVER, "token: abc\ntokenFile: /t", { token: "abc", tokenFile: "/t" }],
  ["a password", SERVER, 'username: me\npassword: "1"', { basic: { username: "me", password: "1" } }],
  [
    "certificates in files",
    `${SERVER}\ncertificate-authority: pki/ca.crt`,
    "client-certificate: /pki/current.pem\nclient-key: /pki/current.pem",
    {
      certificateAuthority: { file: "DIR/pki/ca.crt" },
      clientCertificate: { certificate: { file: "/pki/current.pem" }, key: { file: "/pki/current.pem" } },
    },
  ],
  [
    "data before files",
    `${SERVER}\ncertificate-authority: no\ncertificate-authority-data: ${PEM64}`,
    `client-certificate-data: ${PEM64}\nclient-certificate: no\nclient-key-data: ${PEM64}`,
    {
      certificateAuthority: { data: PEM },
      clientCertificate: { certificate: { data: PEM }, key: { data: PEM } },
    },
  ],
  [
    "the ways of the cluster",
    `${SERVER}\ntls-server-name: kube\ninsecure-skip-tls-verify: true\nproxy-url: http://p:3128\ndisable-compression: true`,
    "",
    { tlsServerName: "kube", insecureSkipTlsVerify: true, proxyUrl: "http://p:3128", disableCompression: true },
  ],
  ["a SOCKS proxy", `${SERVER}\nproxy-url: SOCKS5://me@p`, "", { proxyUrl: "SOCKS5://me@p" }],
  ["a server without scheme", "server: 10.0.0.1:8080", "", { server: "http://10.0.0.1:8080" }],
  [
    "a server without scheme, with TLS",
    "server: 10.0.0.1:6443\ninsecure-skip-tls-verify: true",
    "",
    { server: "https://10.0.0.1:6443", insecureSkipTlsVerify: true },
  ],
  [
    "a path before all paths",
    "server: https://rancher/k8s/clusters/c-1/",
    "",
    { server: "https://rancher/k8s/clusters/c-1" },
  ],
  [
    "impersonation",
    SERVER,
    "as: me\nas-groups: [a, b]\nas-uid: u1\nas-user-extra: {why: [x]}",
    { impersonate: { user: "me", groups: ["a", "b"], uid: "u1", extra: { why: ["x"] } } },
  ],
  [
    "a plugin beside the file",
    `${SERVER}\nextensions:\n- name: client.authentication.k8s.io/exec\n  extension: {audience: a}`,
    "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: ./bin/login\n  args: [-v]\n  env: [{name: A, value: b}]\n" +
      "  interactiveMode: IfAvailable\n  installHint: get it\n  provideClusterInfo: true",
    {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: "DIR/bin/login",
        args: ["-v"],
        env: [{ name: "A", value: "b" }],
        installHint: "get it",
        provideClusterInfo: true,
        clusterConfig: { audience: "a" },
      },
    },
  ],
  [
    "a plugin of PATH, v1beta1",
    SERVER,
    "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login}",
    {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1beta1",
        command: "login",
        args: [],
        env: [],
        installHint: "",
        provideClusterInfo: false,
      },
    },
  ],
];
for (const [name, cluster, user, expected] of GOOD) {
  it(`reads ${name}`, async () => {
    const wanted = JSON.parse(JSON.stringify(expected).replaceAll("DIR", dir)) as Partial<ClientConfig>;
    deepEqual(await load(text(cluster, user)), {
      origin: join(dir, "config"),
      server: "https://10.0.0.1:6443",
      ...wanted,
    });
  });
}

const EXEC = "exec:\n  apiVersion: client.authentication.k8s.io/v1\n";
const BAD: [content: string, message: string][] = [
  ["", "config: is empty"],
  ["- a", "config: must be a map of fields"],
  ["a: [", "config:1: expected a value"],
  ["clusters: []", "config: current-context: is missing: it selects the context to use"],
  ["current-context: x", 'config: contexts: has no "x", current-context; there is none'],
  ["current-context: 1", "config:1: current-context: must be a text; put it in quotes"],
  [
    text(SERVER, "a: b").replace("cluster: c,", "cluster: d,"),
    'config:11: clusters: has no "d", the cluster of the current context; there is "c"',
  ],
  [text(SERVER, "").replace("kind: Config", "kind: Pod"), 'config:2: kind: "Pod" must be Config'],
  [text(SERVER, "").replace("apiVersion: v1", "apiVersion: v2"), 'config:1: apiVersion: "v2" must be v1'],
  [
    text(SERVER, `${EXEC}  command: a\n  interactiveMode: Never\n  env: [{value: b}]`),
    "config:21: users[0].user.exec.env[0].name: is missing: the name of an environment variable",
  ],
  [text("a: b", ""), "config:13: clusters[0].cluster.server: is missing: the URL of the API server"],
  [text("server: ftp://x", ""), "config:13: clusters[0].cluster.server: must begin with https:// or http://"],
  [text("server: https://a:b", ""), 'config:13: clusters[0].cluster.server: "https://a:b" is no URL'],
  [
    text(`${SERVER}\ninsecure-skip-tls-verify: true\ncertificate-authority: a`, ""),
    "config:14: clusters[0].cluster.insecure-skip-tls-verify: can't be true beside a certificate-authority: remove one of them",
  ],
  [
    text(`${SERVER}\ncertificate-authority-data: '!'`, ""),
    "config:14: clusters[0].cluster.certificate-authority-data: must be PEM in base64",
  ],
  [
    text(`${SERVER}\nproxy-url: socks4://a`, ""),
    "config:14: clusters[0].cluster.proxy-url: must be a URL that begins with http://, https:// or socks5://",
  ],
  [
    text(`${SERVER}\nproxy-url: http://a%zz@p:1`, ""),
    'config:14: clusters[0].cluster.proxy-url: "http://…@p:1" is no URL',
  ],
  ...["clusters", "users", "contexts"].map((list): [string, string] => [
    `${list}: [{name: a}, {name: b}, {name: a}]`,
    `config:1: ${list}[2].name: "a" is the name of an earlier one, too`,
  ]),
  [text(SERVER, "client-certificate: a"), "config:17: users[0].user: has a client-certificate and no client-key"],
  [
    text(SERVER, "username: a\ntoken: b"),
    "config:17: users[0].user.username: is set beside a token: only one authentication method is allowed",
  ],
  [
    text(SERVER, "auth-provider: {name: gcp}"),
    "config:17: users[0].user.auth-provider: is no longer served, as in client-go 1.26: use exec, a certificate or a token",
  ],
  [
    text(SERVER, "as-groups: [a]"),
    "config:17: users[0].user.as: is missing: as-groups, as-uid and as-user-extra are about that user",
  ],
  [text(SERVER, EXEC), "config:18: users[0].user.exec.command: is missing: the program that prints credentials"],
  [
    text(SERVER, `${EXEC}  command: a`),
    "config:18: users[0].user.exec.interactiveMode: is missing: it must be Never or IfAvailable",
  ],
  [
    text(SERVER, "exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}"),
    'config:17: users[0].user.exec.apiVersion: "client.authentication.k8s.io/v1alpha1" must be one of ' +
      "client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1",
  ],
];
for (const [content, message] of BAD) {
  it(`refuses: ${message}`, async () => equal(await problem(content), message));
}

const TOLERATED: [title: string, content: string, config: Partial<ClientConfig>, message?: string][] = [
  [
    "a context whose user is not there",
    text(SERVER, "token: t").replace("- name: u", "- name: v"),
    {},
    'config:15: users: has no "u", the user of the current context; there is "v"',
  ],
  [
    "a context whose user is not there, and no users",
    text(SERVER, "token: t").replace(/users:[^]*/, ""),
    {},
    'config: users: has no "u", the user of the current context; there is none',
  ],
  [
    "a plugin that asks questions",
    text(SERVER, `${EXEC}  command: a\n  interactiveMode: Always`),
    {
      exec: {
        apiVersion: "client.authentication.k8s.io/v1",
        command: "a",
        args: [],
        env: [],
        installHint: "",
        provideClusterInfo: false,
        needsTerminal: true,
      },
    },
    "config:20: users[0].user.exec.interactiveMode: is Always, and the kubelet has no terminal for a prompt",
  ],
  [
    "a key without a certificate",
    text(SERVER, "client-key: a\ntoken: t"),
    { token: "t" },
    "config:17: users[0].user: has a client-key and no client-certificate",
  ],
  [
    "null in lists",
    text(SERVER, "as: a\nas-groups: [b, null]").replace("clusters:\n", "clusters:\n-\n"),
    { impersonate: { user: "a", groups: ["b", ""], extra: {} } },
  ],
  ["an entry without its map", `${text(SERVER, "")}- name: w\n- {}\n`, {}],
];
for (const [title, content, config, message] of TOLERATED) {
  it(`starts as client-go with ${title}`, async () => {
    const file = join(dir, "config");
    await writeFile(file, content);
    const messages: string[] = [];
    const loaded = await loadClientConfig(file, (problem) => messages.push(problem.message));
    deepEqual(loaded, { origin: file, server: "https://10.0.0.1:6443", ...config });
    deepEqual(
      messages.map((one) => one.replace(`kubeconfig ${dir}/`, "")),
      message === undefined ? [] : [message],
    );
  });
}

it("a kubeconfig may be written in JSON", async () => {
  const config = {
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "c" } }],
    clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
  };
  equal((await load(JSON.stringify(config))).server, "http://127.0.0.1:1");
});

it("says when there is no file", async () => {
  const error: unknown = await loadClientConfig(join(dir, "none")).catch((failed: unknown) => failed);
  ok(error instanceof KubeconfigError);
  ok(error.message.startsWith(`kubeconfig ${dir}/none: can't be read: ENOENT`), error.message);
});
