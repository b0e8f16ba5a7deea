// Which credentials fit which image, and where the node's own are found.
// @promise Images and logs: Credentials: globs and longest match (property test), changed files read again, plugins
//   killed at their deadline; no message contains a credential.
// @with test/main/containers/images/credential-providers.test.ts, test/integration/image-pull.test.ts

import assert from "node:assert/strict";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { PullCredentials } from "../../../../src/main/containers/images/credentials.js";
import { fullRepository } from "../../../../src/main/containers/images/image-name.js";
import { DockerConfigError, readDockerConfig } from "../../../../src/main/containers/images/keyring/docker-config.js";
import { matchesImage } from "../../../../src/main/containers/images/keyring/image-match.js";
import {
  KeyringCredentials,
  type ProviderCredentials,
} from "../../../../src/main/containers/images/keyring/keyring-credentials.js";
import { lookUp } from "../../../../src/main/containers/images/keyring/look-up.js";
import { NodeCredentialFiles } from "../../../../src/main/containers/images/keyring/node-files.js";
import {
  standalonePullSecrets,
  type PullSecrets,
} from "../../../../src/main/containers/images/keyring/pull-secrets.js";
import { AuthConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { pod as makePod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { assertCpuBelow } from "../../../support/thread-cpu.js";
import { never } from "./puller-kit.js";

const loop = { turn: () => Promise.resolve() };

const matches: [pattern: string, image: string, expected: boolean][] = [
  ["registry.io", "registry.io/team/app:1", true],
  ["registry.io", "registry.io:5000/team/app:1", false],
  ["registry.io:5000", "registry.io:5000/team/app:1", true],
  ["registry.io:5000", "registry.io/team/app:1", false],
  ["*.registry.io", "a.registry.io/app", true],
  ["*.registry.io", "registry.io/app", false],
  ["*.registry.io", "a.b.registry.io/app", false],
  ["*.*.registry.io", "a.b.registry.io/app", true],
  ["*.io", "a.registry.io/app", false],
  ["registry.*", "registry.com/app", true],
  ["reg*.io", "registry.io/app", true],
  ["*try.io", "registry.io/app", true],
  ["r*g*y.io", "registry.io/app", true],
  // A URL's query, as upstream parses it.
  ["r?gistry.io", "registry.io/app", false],
  ["registry.io?x=1", "registry.io/app", true],
  ["registry.io/team?x=1", "registry.io/team/app", true],
  ["registry.io/team#f", "registry.io/app", false],
  ["https://me:word@registry.io:5000/team", "registry.io:5000/team/app", true],
  ["r?egistry.io", "registry.io/app", false],
  ["registry.io/team", "registry.io/team/app", true],
  ["registry.io/team", "registry.io/other/app", false],
  ["registry.io/team/app", "registry.io/team", false],
  ["https://registry.io/team", "registry.io/team/app", true],
  ["[::1]:5000", "[::1]:5000/app", true],
  ["", "registry.io/app", false],
  ["registry.io/*", "registry.io/app", false],
];
for (const [pattern, image, expected] of matches) {
  test(`"${pattern}" ${expected ? "fits" : "does not fit"} ${image}`, () => {
    assert.equal(matchesImage(pattern, image), expected);
  });
}

test("a star in a label stands for any text of that label, and never for a dot", () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/);
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), fc.nat(3), fc.nat(7), (labels, which, cut) => {
      const index = which % labels.length;
      const target = labels[index] ?? "";
      const glob = `${target.slice(0, cut)}*`;
      const pattern = labels.with(index, glob).join(".");
      assert.ok(matchesImage(pattern, `${labels.join(".")}/app:1`));
      assert.ok(!matchesImage(pattern, `${labels.with(index, `${target}.x`).join(".")}/app:1`));
    }),
  );
});

const auth = (username: string, password = "p"): AuthConfig => AuthConfig.fromPartial({ username, password });
const users = (found: AuthConfig[]): string[] => found.map(({ username }) => username);

test("the longest key first, exact before wildcard; docker's own registry by its old name", () => {
  const auths = new Map(
    ["*.io", "registry.io", "registry.io/team", "registry.io/team/app", "registry.io/other"].map((key) => [
      key,
      auth(key),
    ]),
  );
  assert.deepEqual(users(lookUp(auths, "registry.io/team/app:1")), [
    "registry.io/team/app",
    "registry.io/team",
    "registry.io",
    "*.io",
  ]);
  const hub = new Map([["https://index.docker.io/v1/", auth("hub")]]);
  for (const image of ["busybox:1", "library/busybox:1", "docker.io/library/busybox:1"]) {
    assert.equal(fullRepository(image), "docker.io/library/busybox");
  }
  assert.deepEqual(users(lookUp(hub, "docker.io/library/busybox")), ["hub"]);
  assert.deepEqual(lookUp(hub, "registry.io/busybox"), []);
  assert.deepEqual(lookUp(hub, fullRepository("localhost:5000/busybox:1")), []);
  assert.deepEqual(users(lookUp(new Map([["http://localhost:5000/v2/", auth("local")]]), "localhost:5000/a:1")), [
    "local",
  ]);
});

test("fields in any case, base64 in lines and null for an entry are read as Go reads them", () => {
  const base64 = Buffer.from("user:pass").toString("base64");
  const expected = AuthConfig.fromPartial({ username: "user", password: "pass" });
  for (const entry of [
    { Username: "user", Password: "pass" },
    { AUTH: base64, username: "other" },
    { auth: null, Auth: base64 },
    { auth: `${base64.slice(0, 4)}\r\n${base64.slice(4)}\n` },
    { username: "other", userName: "user", password: "pass", Password: null },
  ]) {
    const { auths, problems } = readDockerConfig(JSON.stringify({ Auths: { a: entry } }), "config.json");
    assert.deepEqual([problems, auths.get("a")], [[], expected], JSON.stringify(entry));
  }
  const { auths, problems } = readDockerConfig('{"AUTHS":{"a":null}}', "config.json");
  assert.deepEqual([problems, auths.get("a")], [[], AuthConfig.fromPartial({})]);
});

test("both forms of docker's configuration; auth wins, tokens are kept", () => {
  const entry = { username: "x", password: "y", auth: Buffer.from("user:pass:word").toString("base64") };
  const unpadded = { auth: entry.auth.replaceAll("=", ""), identitytoken: "id", registrytoken: "reg" };
  const expected = AuthConfig.fromPartial({ username: "user", password: "pass:word" });
  const modern = readDockerConfig(JSON.stringify({ auths: { a: entry, b: unpadded }, credsStore: "x" }), "config.json");
  assert.deepEqual(modern.auths.get("a"), expected);
  assert.deepEqual(modern.auths.get("b"), { ...expected, identityToken: "id", registryToken: "reg" });
  const older = readDockerConfig(JSON.stringify({ a: { username: "x", password: "y", email: "e" } }), "dockercfg");
  assert.deepEqual(older.auths.get("a"), AuthConfig.fromPartial({ username: "x", password: "y" }));
  assert.equal(readDockerConfig("{}", "config.json").auths.size, 0);
});

test("an unusable entry is reported without its content; the other entries count", () => {
  const secret = Buffer.from("hunter2").toString("base64");
  for (const text of [`hunter2`, `"hunter2"`, `{"auths": "hunter2"}`, `{"auths": {"a": hunter2}}`]) {
    assert.throws(
      () => readDockerConfig(text, "config.json"),
      (error) => error instanceof DockerConfigError && !error.message.includes("hunter2"),
      text,
    );
  }
  const { auths, problems } = readDockerConfig(
    JSON.stringify({ auths: { a: { auth: secret }, b: { auth: "!" }, c: "hunter2", d: { username: 1 }, e: {} } }),
    "config.json",
  );
  assert.deepEqual([...auths.keys()], ["e"]);
  assert.deepEqual(problems, [
    'registry "a": "auth" is not user:password in base64',
    'registry "b": "auth" is not base64',
    'registry "c": the entry is not an object',
    'registry "d": "username" is not a text',
  ]);
});

test("the first usable file counts: config.json in every place before .dockercfg; changes are seen", async (t) => {
  const folder = await temporaryFolder(t);
  const [rootDir, workingDir, home] = ["root", "cwd", "home"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([mkdir(rootDir), mkdir(workingDir), mkdir(join(home, ".docker"), { recursive: true })]);
  const kept = keptLog();
  const files = new NodeCredentialFiles({ rootDir, workingDir, home }, kept.log);
  const find = async () => users(await files.forImage("registry.io/a"));
  const put = (path: string, user: string, older = false) => {
    const entry = { "registry.io": { username: user, password: "p" } };
    return writeFile(path, JSON.stringify(older ? entry : { auths: entry }));
  };
  assert.deepEqual(await find(), []);
  await put(join(rootDir, ".dockercfg"), "older", true);
  assert.deepEqual(await find(), ["older"]);
  await put(join(home, ".docker", "config.json"), "home");
  assert.deepEqual(await find(), ["home"]);
  await put(join(workingDir, "config.json"), "cwd");
  assert.deepEqual(await find(), ["cwd"]);
  await put(join(rootDir, "config.json"), "root");
  assert.deepEqual(await find(), ["root"]);
  await put(join(rootDir, "config.json"), "changed");
  assert.deepEqual(await find(), ["changed"]);
  await writeFile(join(rootDir, "config.json"), "{ broken");
  assert.deepEqual(await find(), ["cwd"]);
  assert.deepEqual(await find(), ["cwd"]);
  assert.equal(kept.warnings().length, 1, "said once for one content");
  assert.match(kept.warnings()[0] ?? "", /root\/config\.json: it is not JSON; fix the file/);
  await Promise.all([rm(join(workingDir, "config.json")), chmod(join(rootDir, "config.json"), 0o600)]);
  assert.deepEqual(await find(), ["home"]);
});

test("the pod's secrets come before the node's files and providers; the same credentials are tried once", async () => {
  const secrets: PullSecrets = {
    forPod: (pod) => {
      const { name, namespace } = pod.metadata;
      const secret = { uid: "s-1", namespace, name: `${name}-pull`, auths: new Map([["registry.io", auth("secret")]]) };
      return Promise.resolve({ secrets: [secret], missing: [] });
    },
  };
  const files = { forImage: () => Promise.resolve([auth("file"), auth("secret")]) };
  const account = { kind: "serviceAccount", uid: "sa-1", namespace: "default", name: "robot" } as const;
  const ofAccount: PullCredentials = { auth: auth("account"), source: account };
  const ofNode = (name: string): PullCredentials => ({ auth: auth(name), source: { kind: "node" } });
  const providers: ProviderCredentials = {
    forImage: () => Promise.resolve([ofNode("provider"), ofNode("file"), ofAccount]),
    ofServiceAccount: (_pod, image) => Promise.resolve(image === "registry.io/a" ? [ofAccount] : []),
  };
  const events = { pod: () => assert.fail("no event"), node: () => undefined };
  const keyring = new KeyringCredentials({ secrets, files, providers, events, loop });
  const found = await keyring.forImage(makePod(), "registry.io/a:1", never);
  assert.deepEqual(
    found.map(({ auth, source }) => `${source.kind} ${auth.username}`),
    ["secret secret", "node file", "node provider", "serviceAccount account"],
  );
  for (const kind of ["secret", "serviceAccount"] as const) {
    const expected = found.filter(({ source }) => source.kind === kind);
    assert.deepEqual(await keyring.ofPod(makePod(), "registry.io/a:1", kind, never), expected);
    assert.deepEqual(await keyring.ofPod(makePod(), "other.io/a:1", kind, never), []);
  }
});

test("secrets that a stand-alone node can't have are reported with their names", async () => {
  const events: string[] = [];
  const keyring = new KeyringCredentials({
    secrets: standalonePullSecrets,
    files: { forImage: () => Promise.resolve([]) },
    loop,
    events: {
      pod: (_pod, { type, reason, message }) => events.push(`${type} ${reason}: ${message}`),
      node: () => undefined,
    },
  });
  assert.deepEqual(await keyring.forImage(makePod(), "a:1", never), []);
  assert.deepEqual(events, []);
  await keyring.forImage(makePod({ imagePullSecrets: [{ name: "one" }, {}, { name: "two" }] }), "a:1", never);
  assert.deepEqual(events, [
    "Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (one, two); attempting to pull the image may not succeed.",
  ]);
  await keyring.warnOfMissing(makePod(), never);
  assert.equal(events.length, 1);
  await keyring.warnOfMissing(makePod({ imagePullSecrets: [{ name: "one" }, { name: "two" }] }), never);
  assert.equal(events[1], events[0]);
  const many = Array.from({ length: 20_000 }, (_, index) => ({ name: `s${index}` }));
  await keyring.warnOfMissing(makePod({ imagePullSecrets: many }), never);
  assert.match(events.join("\n"), /\(s0, s1, .*, s15 and 19984 more\); attempting to pull/);
});

// The smaller size comes first: quadratic work shows there within seconds.
for (const size of [64 * 1024, 1024 * 1024]) {
  test(`a docker configuration of ${size / 1024} KiB is read in linear time for any content of "auth"`, () => {
    const inside = ["\0", "\0a", ":\0", "=", " "];
    for (const piece of inside) {
      const bytes = Buffer.from(`${piece.repeat(Math.ceil(size / piece.length))}x`);
      const config = JSON.stringify({ a: { auth: bytes.toString("base64") }, b: { auth: bytes.toString("latin1") } });
      assertCpuBelow(50, () => readDockerConfig(config, "dockercfg"), JSON.stringify(piece));
    }
  });
}

test("zero bytes behind the password are no part of it", () => {
  const auth = Buffer.from("user:pa\0ss\0\0").toString("base64");
  const { auths } = readDockerConfig(JSON.stringify({ a: { auth } }), "dockercfg");
  assert.deepEqual(auths.get("a"), AuthConfig.fromPartial({ username: "user", password: "pa\0ss" }));
});

test("a configuration that nests without an end is refused before it is parsed", () => {
  const deep = `{"auths":${'{"a":'.repeat(200)}`;
  assert.throws(() => readDockerConfig(deep, "config.json"), /^DockerConfigError: it nests more than 32 levels deep$/);
});

test("thousands of credentials of a pod's secrets are looked up in turns, and registries are read once", async () => {
  let [turns, reads] = [0, 0];
  const auths = new Map<string, AuthConfig>();
  for (let at = 0; at < 1000; at++) auths.set(`registry.io?${at}`, AuthConfig.fromPartial({ username: `u${at}` }));
  const counted = new Proxy(auths, {
    get: (target, key): unknown => {
      if (key === Symbol.iterator) reads++;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const secret = (name: string) => ({ uid: "u", namespace: "ns", name, auths: counted });
  const keyring = new KeyringCredentials({
    secrets: { forPod: () => Promise.resolve({ secrets: [secret("one"), secret("two")], missing: [] }) },
    files: { forImage: () => Promise.resolve([]) },
    events: { pod: () => undefined, node: () => undefined },
    loop: { turn: () => Promise.resolve(void turns++) },
  });
  assert.equal((await keyring.forImage(makePod(), "registry.io/a:1", never)).length, 1000);
  assert.equal(reads, 1);
  assert.ok(turns >= 2000 / 64, `${turns} turns`);
});
