// Credential providers: their configuration, their plugins as real processes, and how long an answer holds.

import assert from "node:assert/strict";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CredentialProviderSettings } from "../../../../src/main/containers/images/credential-providers/config.js";
import { execPlugin } from "../../../../src/main/containers/images/credential-providers/exec-plugin.js";
import { loadProviders } from "../../../../src/main/containers/images/credential-providers/load-config.js";
import {
  CredentialProvider,
  type RunPlugin,
} from "../../../../src/main/containers/images/credential-providers/provider.js";
import { CredentialProviders } from "../../../../src/main/containers/images/credential-providers/providers.js";
import { readProviderConfig } from "../../../../src/main/containers/images/credential-providers/read-config.js";
import {
  readResponse,
  type CacheKeyType,
} from "../../../../src/main/containers/images/credential-providers/response.js";
import { startCredentialProviders } from "../../../../src/main/containers/images/credential-providers/start.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { AuthConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod as makePod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { never } from "./puller-kit.js";

const V1 = "credentialprovider.kubelet.k8s.io/v1";
const GOOD = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: first
  matchImages: ["*.registry.example", "registry.example:5000/team"]
  defaultCacheDuration: 1h30m
  apiVersion: ${V1}
  args: [get, credentials]
  env:
  - name: PROFILE
    value: test
- name: second
  matchImages: [registry.example]
  defaultCacheDuration: 0s
  apiVersion: credentialprovider.kubelet.k8s.io/v1alpha1
`;

test("a configuration, as it is documented", () => {
  const { providers, problems } = readProviderConfig(GOOD, { file: "c.yaml", tokensAllowed: true });
  assert.deepEqual(problems, []);
  assert.deepEqual(providers, [
    {
      name: "first",
      matchImages: ["*.registry.example", "registry.example:5000/team"],
      defaultCacheDurationMs: 5_400_000,
      apiVersion: V1,
      args: ["get", "credentials"],
      env: [{ name: "PROFILE", value: "test" }],
    },
    {
      name: "second",
      matchImages: ["registry.example"],
      defaultCacheDurationMs: 0,
      apiVersion: "credentialprovider.kubelet.k8s.io/v1alpha1",
      args: [],
      env: [],
    },
  ]);
  for (const version of ["v1beta1", "v1alpha1"]) {
    const older = GOOD.replace("kubelet.config.k8s.io/v1\n", `kubelet.config.k8s.io/${version}\n`);
    assert.deepEqual(readProviderConfig(older, { file: "c", tokensAllowed: true }).problems, []);
  }
});

const broken: [what: string, from: string | RegExp, to: string, problem: RegExp][] = [
  ["another kind", "kind: Cred", "kind: Red", /^c.yaml:2:7: kind: must be CredentialProviderConfig$/],
  [
    "another version",
    "k8s.io/v1\n",
    "k8s.io/v2\n",
    /^c.yaml:1:13: apiVersion: "kubelet.config.k8s.io\/v2" is not one of/,
  ],
  ["no providers", /providers:[^]*/, "providers: []\n", /^c.yaml:3:12: providers: must name one provider at least$/],
  [
    "a name with a slash",
    "name: first",
    "name: ../first",
    /providers\[0\]\.name: "..\/first" is not the name of a file/,
  ],
  ["no name", "- name: first\n ", "-", /providers\[0\]\.name: is missing/],
  ["an unknown field", "matchImages: [reg", "matchImage: [reg", /unknown field; did you mean matchImages\?/],
  ["no duration", "  defaultCacheDuration: 0s\n", "", /providers\[1\]\.defaultCacheDuration: is missing/],
  ["a negative duration", "Duration: 0s", "Duration: -1s", /^c.yaml:14:25: .*"-1s" is not a duration of 0 or more/],
  ["a pattern without host", "[registry.example]", '["/team"]', /matchImages\[0\]: "\/team" is no pattern of images/],
  ["an unknown protocol", "io/v1alpha1", "io/v9", /providers\[1\]\.apiVersion: .* is not one of/],
  ["args that are no list", "[get, credentials]", "get", /providers\[0\]\.args: must be a list of strings/],
  ["an env value that is no text", "value: test", "value: 1", /env\[0\]\.value: must be a text/],
  ["no YAML", "providers:", "providers: [", /^c.yaml:\d+:\d+: /],
];
for (const [what, from, to, problem] of broken) {
  test(`a configuration with ${what} is refused with its place`, () => {
    const text = GOOD.replace(from, to);
    assert.notEqual(text, GOOD);
    const { problems } = readProviderConfig(text, { file: "c.yaml", tokensAllowed: true });
    assert.ok(
      problems.some((each) => problem.test(each)),
      problems.join("\n"),
    );
  });
}

async function plugins(t: TestContext, scripts: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(t);
  const binDir = join(folder, "bin");
  await mkdir(binDir);
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(binDir, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(binDir, name), 0o755);
  }
  return binDir;
}

const flags = (config: string, binDir: string) => ({
  imageCredentialProviderConfig: config,
  imageCredentialProviderBinDir: binDir,
  kubeletServiceAccountTokenForCredentialProviders: true,
});

test("a file, or a folder of files in the order of their names; every plugin must be there", async (t) => {
  const binDir = await plugins(t, { first: "", second: "", third: "" });
  const config = join(binDir, "..", "conf");
  await mkdir(config);
  const third = GOOD.replace(/- name: second[^]*/, "").replace("first", "third");
  await Promise.all([
    writeFile(join(config, "b.yaml"), GOOD),
    writeFile(join(config, "a.json"), third),
    writeFile(join(config, "README"), "no configuration"),
  ]);
  const loaded = await loadProviders(flags(config, binDir));
  assert.deepEqual(
    loaded.providers.map(({ name }) => name),
    ["third", "first", "second"],
  );
  assert.match(loaded.hash, /^sha256:[0-9a-f]{64}$/);
  const refused = (which: string, folder: string, why: RegExp) =>
    assert.rejects(loadProviders(flags(which, folder)), { name: "OperatorError", message: why });
  await writeFile(join(config, "c.yml"), GOOD);
  await refused(config, binDir, /the provider "first" is configured twice; the provider "second" is configured twice$/);
  await chmod(join(binDir, "second"), 0o644);
  await refused(join(config, "b.yaml"), binDir, /the plugin .*\/second is not there or not executable$/);
  await refused(join(config, "gone"), binDir, /gone can't be read: ENOENT/);
  await refused(binDir, binDir, /has no file that ends in/);
  await refused(config, "", /config is given without --image-credential-provider-bin-dir: give both or none/);
  await refused("", binDir, /bin-dir is given without --image-credential-provider-config/);
  const deps = { clock: systemClock, log: keptLog().log, registry: new ThreadRegistry("main") };
  assert.equal(await startCredentialProviders(flags("", ""), deps), undefined);
});

const settingsOf = (fields: Partial<CredentialProviderSettings> = {}): CredentialProviderSettings => ({
  name: "plugin",
  matchImages: ["registry.example"],
  defaultCacheDurationMs: 60_000,
  apiVersion: V1,
  args: [],
  env: [],
  ...fields,
});
const answer = (fields: Record<string, unknown> = {}): string =>
  JSON.stringify({
    kind: "CredentialProviderResponse",
    apiVersion: V1,
    cacheKeyType: "Image",
    auth: { "registry.example": { username: "user", password: "word" } },
    ...fields,
  });

test("a plugin gets the request, its arguments and its environment, and its response is read", async (t) => {
  const script = `cat > "$0.request"; echo "$PROFILE $*" > "$0.told"; echo '${answer({ cacheDuration: "10s" })}'`;
  const binDir = await plugins(t, { plugin: script });
  const settings = settingsOf({ args: ["get", "it"], env: [{ name: "PROFILE", value: "test" }] });
  const image = "registry.example/team/app";
  const response = await execPlugin({ binDir, settings, question: { image }, clock: systemClock, signal: never });
  assert.deepEqual(JSON.parse(await readFile(join(binDir, "plugin.request"), "utf8")), {
    kind: "CredentialProviderRequest",
    apiVersion: V1,
    image,
  });
  assert.equal(await readFile(join(binDir, "plugin.told"), "utf8"), "test get it\n");
  assert.equal(response.cacheDurationMs, 10_000);
  assert.deepEqual(
    [...response.auths],
    [["registry.example", AuthConfig.fromPartial({ username: "user", password: "word" })]],
  );
});

test("a plugin that fails, floods or can't be run is reported by name", async (t) => {
  const binDir = await plugins(t, {
    fails: "echo 'no metadata server' >&2; exit 3",
    floods: "yes",
    deaf: `exec <&-; echo '${answer()}'`,
    silent: "exit 0",
  });
  const run = (name: string) => {
    const settings = settingsOf({ name });
    return execPlugin({
      binDir,
      settings,
      question: { image: "x".repeat(200_000) },
      clock: systemClock,
      signal: never,
    });
  };
  const error = (message: RegExp) => ({ name: "PluginError", message });
  await assert.rejects(
    run("fails"),
    error(/^credential provider fails: failed with exit status 3: no metadata server$/),
  );
  await assert.rejects(run("floods"), error(/floods: printed more than 1048576 bytes, killed/));
  await assert.rejects(run("gone"), error(/^credential provider gone: is not there$/));
  await assert.rejects(run("silent"), error(/its response is not JSON/));
  assert.equal((await run("deaf")).auths.size, 1);
});

test("a plugin's run ends with its caller", async (t) => {
  const binDir = await plugins(t, { hangs: "exec sleep 1000" });
  const [clock, controller] = [new SteppedClock(), new AbortController()];
  const { signal } = controller;
  const aborted = execPlugin({
    binDir,
    settings: settingsOf({ name: "hangs" }),
    question: { image: "a" },
    clock,
    signal,
  });
  controller.abort(new Error("the pod is being terminated"));
  await assert.rejects(aborted, /^Error: the pod is being terminated$/);
  assert.equal(clock.pending, 0);
});

const badAnswers: [what: string, text: string, why: RegExp][] = [
  ["no JSON", "secret", /is not JSON$/],
  ["a list", "[]", /is not a JSON object$/],
  ["another kind", answer({ kind: "Other" }), /is not of kind CredentialProviderResponse$/],
  [
    "another version",
    answer({ apiVersion: "v1" }),
    /is not of credentialprovider.kubelet.k8s.io\/v1, the version of the request/,
  ],
  ["no key type", answer({ cacheKeyType: undefined }), /cacheKeyType that is not one of Image, Registry, Global/],
  ["a bad duration", answer({ cacheDuration: "soon" }), /cacheDuration that is not a duration/],
  ["a list of auth", answer({ auth: [] }), /"auth" that is not an object/],
  [
    "a number for a password",
    answer({ auth: { a: { username: "u", password: 1 } } }),
    /no username and password for "a"/,
  ],
  ["a text for an entry", answer({ auth: { a: "secret" } }), /no username and password for "a"/],
];
for (const [what, text, why] of badAnswers) {
  test(`a response with ${what} is refused, and the error quotes none of it`, () => {
    assert.throws(
      () => readResponse(text, "plugin", V1),
      (error) => error instanceof Error && why.test(error.message) && !error.message.includes("secret"),
    );
  });
}
test("null in a response and the case of kind mean what they mean to Go", () => {
  const auth = { a: null, b: { username: "u", password: null } };
  const text = answer({ auth, kind: null, Kind: "CredentialProviderResponse" });
  assert.deepEqual(
    [...readResponse(text, "plugin", V1).auths],
    [
      ["a", AuthConfig.fromPartial({})],
      ["b", AuthConfig.fromPartial({ username: "u" })],
    ],
  );
});

test("null in lists of a provider is the empty text", () => {
  const { providers, problems } = readProviderConfig(
    GOOD.replace("[get, credentials]", "[get, null]").replace("value: test", "value: null"),
    { file: "f", tokensAllowed: true },
  );
  assert.deepEqual(problems, []);
  assert.deepEqual([providers[0]?.args, providers[0]?.env], [["get", ""], [{ name: "PROFILE", value: "" }]]);
});

test("a response may have no credentials", () => {
  assert.equal(readResponse(answer({ auth: null, cacheDuration: null }), "plugin", V1).auths.size, 0);
  // As upstream: credentials that are to be kept for less than no time are used, and not kept.
  assert.equal(readResponse(answer({ cacheDuration: "-1s" }), "plugin", V1).cacheDurationMs, -1000);
});

function counting(cacheKeyType: CacheKeyType, cacheDurationMs?: number) {
  const asked: string[] = [];
  const run: RunPlugin = (_settings, { image }) => {
    asked.push(image);
    const auths = new Map([["*.example", AuthConfig.fromPartial({ username: image })]]);
    return Promise.resolve({ cacheKeyType, cacheDurationMs, auths });
  };
  const clock = new SteppedClock();
  return { asked, clock, provider: new CredentialProvider(settingsOf(), clock, run) };
}

test("a response is cached for the image, the registry or all images, for the time that it sets", async () => {
  const [a, b, c] = ["a.example/x", "a.example/y", "b.example/z"];
  for (const [type, expected] of [
    ["Image", [a, b, c]],
    ["Registry", [a, c]],
    ["Global", [a]],
  ] as const) {
    const { asked, clock, provider } = counting(type, 10_000);
    for (const image of [a, b, c, a, b, c]) await provider.credentials({ image }, never);
    assert.deepEqual(asked, expected, type);
    clock.step(9_999);
    await provider.credentials({ image: a }, never);
    assert.equal(asked.length, expected.length);
    clock.step(1);
    await provider.credentials({ image: a }, never);
    assert.equal(asked.length, expected.length + 1);
  }
  const defaulted = counting("Global");
  await defaulted.provider.credentials({ image: a }, never);
  defaulted.clock.step(59_999);
  await defaulted.provider.credentials({ image: a }, never);
  assert.equal(defaulted.asked.length, 1);
  defaulted.clock.step(1);
  await defaulted.provider.credentials({ image: a }, never);
  assert.equal(defaulted.asked.length, 2);
  const unkept = counting("Global", 0);
  await unkept.provider.credentials({ image: a }, never);
  await unkept.provider.credentials({ image: a }, never);
  assert.equal(unkept.asked.length, 2);
});

test("concurrent pulls of one image share one run; it ends when the last of them ends", async () => {
  const signals: AbortSignal[] = [];
  const question = { image: "registry.example/a" };
  const run: RunPlugin = (_settings, _question, signal) => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  };
  const provider = new CredentialProvider(settingsOf(), new SteppedClock(), run);
  const [first, second] = [new AbortController(), new AbortController()];
  const asking = [first, second].map(({ signal }) => provider.credentials(question, signal));
  first.abort(new Error("first goes"));
  await assert.rejects(asking[0] ?? Promise.resolve(), /first goes/);
  assert.equal(signals.length, 1);
  assert.equal(signals[0]?.aborted, false);
  second.abort(new Error("second goes"));
  await assert.rejects(asking[1] ?? Promise.resolve(), /second goes/);
  assert.equal(signals[0].aborted, true);
  void provider.credentials(question, AbortSignal.timeout(1)).catch(() => undefined);
  assert.equal(signals.length, 2, "a new run, not the one that was given up");
});

test("a failed provider does not lose the others' credentials", async (t) => {
  const binDir = await plugins(t, { good: `echo '${answer()}'`, bad: "exit 1" });
  const providers = [settingsOf({ name: "bad" }), settingsOf({ name: "good" })];
  const kept = keptLog();
  const registry = new ThreadRegistry("main");
  const all = new CredentialProviders(
    { binDir, providers, hash: "sha256:0" },
    { clock: systemClock, log: kept.log, registry },
  );
  for (let round = 0; round < 2; round++) {
    const found = await all.forImage(makePod(), "registry.example/a", never);
    assert.deepEqual(
      found.map(({ auth, source }) => [auth.username, source.kind]),
      [["user", "node"]],
    );
  }
  assert.deepEqual(await all.forImage(makePod(), "other.example/a", never), []);
  assert.deepEqual(await all.ofServiceAccount(makePod(), "registry.example/a", never), []);
  assert.deepEqual(kept.errors(), [
    'no credentials for image "registry.example/a": credential provider bad: failed with exit status 1',
    'no credentials for image "registry.example/a": credential provider bad: failed with exit status 1',
  ]);
  assert.deepEqual(kept.warnings(), []);
  const { families } = await registry.exportSnapshot();
  const errors = families.find(({ name }) => name === "kubelet_credential_provider_plugin_errors_total");
  assert.deepEqual(
    errors?.samples.map(({ labels, value }) => [labels["plugin_name"], value]),
    [["bad", 2]],
  );
});
