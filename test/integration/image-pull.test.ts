// Real pulls from real registries, with policies and with credentials of the node and of a plugin. Also an image that
// is pushed late, and local images that not every pod may use.
// @promise Images and logs: Pulls: policies, order by rank, rate, back-off, events and metrics as upstream's; an abort
//   ends a pull or its wait at once.
// @with test/main/containers/images

import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { PullPolicy } from "../../src/shared/kubernetes/api/pod.js";
import { PullImageRequest } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { call } from "../../tools/standalone/cri.js";
import { PAUSE_IMAGE } from "../../tools/standalone/images.js";
import { isRunning } from "../../tools/standalone/pods.js";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { agentLog, metric, PATIENCE_MS } from "../support/fault-node.js";
import { PASSWORD, startRegistry, USER, type TestRegistry } from "../support/registry.js";
import { IDLE, manifest, NODE_NAME, RuntimeView, shell, statusOf, waitForPod } from "../support/static-pods.js";

let dir: string;
let node: TestNode;
/** Anybody may pull. */
let open: TestRegistry;
/** Only the user may. */
let closed: TestRegistry;
let runtime: RuntimeView;

const archive = (): string => process.env["NODELET_TEST_IMAGES"] ?? "";
const pushTo = (registry: TestRegistry, repository: string): Promise<void> =>
  registry.push({ archive: archive(), source: testImage(), repository, tag: "1" });

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-pull-"));
  [open, closed] = await Promise.all([startRegistry({ auth: false }), startRegistry({ auth: true })]);
  for (const name of ["first", "again"]) await pushTo(open, name);
  for (const name of ["files/app", "plugin/app", "wrong/app", "nobody/app"]) await pushTo(closed, name);
  node = await startNode({
    // Its images would show up under further names in other tests.
    containerd: "own",
    start: false,
    config: {
      imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages",
      preloadedImagesVerificationAllowlist: ["nodelet.local/*"],
      serializeImagePulls: false,
      maxParallelImagePulls: 3,
    },
    flags: [
      // From this verbosity on the log has the events of every start and end.
      "--v=3",
      `--image-credential-provider-config=${join(dir, "providers.yaml")}`,
      `--image-credential-provider-bin-dir=${dir}`,
    ],
  });
  await writeNodeCredentials();
  runtime = new RuntimeView(node.endpoint);
});
after(async () => {
  runtime.close();
  await node.stop();
  await Promise.all([open.stop(), closed.stop()]);
  await rm(dir, { recursive: true });
});

async function writePlugin(): Promise<void> {
  const response = {
    kind: "CredentialProviderResponse",
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    cacheKeyType: "Registry",
    auth: { [`${closed.address}/plugin`]: { username: USER, password: PASSWORD } },
  };
  await writeFile(join(dir, "plugin"), `#!/bin/sh\ncat > "$0.request"\necho '${JSON.stringify(response)}'\n`);
  await chmod(join(dir, "plugin"), 0o755);
  const config = {
    apiVersion: "kubelet.config.k8s.io/v1",
    kind: "CredentialProviderConfig",
    providers: [
      {
        name: "plugin",
        matchImages: [`127.0.*.1:${closed.address.split(":")[1] ?? ""}/plugin`],
        defaultCacheDuration: "1h",
        apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      },
    ],
  };
  await writeFile(join(dir, "providers.yaml"), JSON.stringify(config));
}

async function writeNodeCredentials(): Promise<void> {
  const entry = (password: string) => ({ auth: Buffer.from(`${USER}:${password}`).toString("base64") });
  const auths = { [`${closed.address}/files`]: entry(PASSWORD), [`${closed.address}/wrong`]: entry("guessed") };
  await mkdir(node.kubelet.rootDir, { recursive: true });
  await writeFile(join(node.kubelet.rootDir, "config.json"), JSON.stringify({ auths }));
}

async function run(name: string, image: string, imagePullPolicy: PullPolicy): Promise<void> {
  await node.writeManifest(name, manifest(name, [shell("app", IDLE, { image, imagePullPolicy })]));
}

/** The events of a pod's container in order, without their object. */
async function events(name: string): Promise<string[]> {
  const object = `pod ${name}-${NODE_NAME}_default(`;
  const lines = (await agentLog(node)).filter((line) => String(line["object"]).startsWith(object));
  return lines.map(({ event, msg }) => `${String(event)}: ${msg.slice(msg.indexOf("container app: ") + 15)}`);
}

/** Its events, once there are `count`: the kubelet logs beside its work. */
async function firstEvents(name: string, count: number): Promise<string[]> {
  return await waitFor(
    async () => {
      const seen = await events(name);
      return seen.length >= count ? seen : undefined;
    },
    { what: `${count} events of ${name}`, timeoutMs: PATIENCE_MS },
  );
}

async function waitRunning(name: string): Promise<void> {
  await waitForPod(node, name, isRunning, "running");
}

/** The message of the wait that has one of these reasons. */
async function waitWaiting(name: string, ...reasons: string[]): Promise<string> {
  const waiting = (pod: Parameters<typeof statusOf>[0]) => statusOf(pod, "app")?.state.waiting;
  const fits = (pod: PodView): boolean => reasons.includes(waiting(pod)?.reason ?? "");
  return waiting(await waitForPod(node, name, fits, reasons.join(" or ")))?.message ?? "";
}

/** The error is shown for a second only, then the back-off with the error in it. */
const failedPull = (name: string): Promise<string> => waitWaiting(name, "ErrImagePull", "ImagePullBackOff");

test("a broken configuration of credential providers fails the start, and the error names the place", async () => {
  await writeFile(join(dir, "providers.yaml"), "apiVersion: kubelet.config.k8s.io/v1\nkind: Credentials\n");
  const place = /the kubelet can't start: image credential providers: .*providers\.yaml:2:7: kind: must be Cred/;
  await assert.rejects(node.restart(), place);
});

describe("pulls", { concurrency: 8 }, () => {
  before(async () => {
    await writePlugin();
    await node.restart();
  });

  test("IfNotPresent pulls a missing image once; the next pod has access by the record", async () => {
    const image = `${open.address}/first:1`;
    await run("first", image, "IfNotPresent");
    await waitRunning("first");
    const [pulling, pulled = ""] = await firstEvents("first", 2);
    assert.equal(pulling, `Pulling: Pulling image "${image}"`);
    const words = / in [0-9.ms]+ \([0-9.ms]+ including waiting\)\. Image size: [1-9]\d* bytes\.$/;
    assert.match(pulled, words);
    await run("second", image, "Never");
    await waitRunning("second");
    assert.equal(
      (await firstEvents("second", 1)).at(0),
      `Pulled: Container image "${image}" already present on machine and can be accessed by the pod`,
    );
  });

  test("Always sends a request to the registry for every container", async () => {
    const image = `${open.address}/again:1`;
    for (const name of ["again-a", "again-b"]) {
      await run(name, image, "Always");
      await waitRunning(name);
      assert.match((await firstEvents(name, 2)).at(1) ?? "", /^Pulled: Successfully pulled image/);
    }
  });

  test("Never does not pull", async () => {
    const image = `${open.address}/first:absent`;
    await run("never", image, "Never");
    assert.equal(
      await waitWaiting("never", "ErrImageNeverPull"),
      `Container image "${image}" is not present with pull policy of Never`,
    );
  });

  test("an image that appears late: the error, the back-off, then the pod runs", async () => {
    const image = `${open.address}/late:1`;
    await run("late", image, "IfNotPresent");
    assert.match(await failedPull("late"), /late:1.*not found/);
    assert.match(
      await waitWaiting("late", "ImagePullBackOff"),
      new RegExp(`^Back-off pulling image "${image}": ErrImagePull: .*not found`),
    );
    await pushTo(open, "late");
    await waitRunning("late");
    assert.match((await firstEvents("late", 2)).at(1) ?? "", /^Failed: Failed to pull image .*not found/);
  });

  test("credentials of the node's config.json", async () => {
    await run("files", `${closed.address}/files/app:1`, "IfNotPresent");
    await waitRunning("files");
    const folder = join(node.kubelet.rootDir, "image_manager", "pulled");
    // Other tests of this file change records meanwhile: one may be replaced between the two calls.
    const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8").catch(() => "");
    const records = await Promise.all((await readdir(folder)).map(read));
    const access = `"${closed.address}/files/app":{"nodePodsAccessible":true}`;
    assert.ok(
      records.some((record) => record.includes(access)),
      records.join("\n"),
    );
  });

  test("credentials of a plugin", async () => {
    await run("plugin", `${closed.address}/plugin/app:1`, "Always");
    await waitRunning("plugin");
    assert.deepEqual(JSON.parse(await readFile(join(dir, "plugin.request"), "utf8")), {
      kind: "CredentialProviderRequest",
      apiVersion: "credentialprovider.kubelet.k8s.io/v1",
      image: `${closed.address}/plugin/app`,
    });
    const duration = "kubelet_credential_provider_plugin_duration_count";
    await waitFor(async () => (await metric(node, duration, { plugin_name: "plugin" })) > 0, {
      what: "the plugin's run to be counted",
      timeoutMs: PATIENCE_MS,
    });
    assert.equal(await metric(node, duration, { plugin_name: "plugin" }), 1);
  });

  test("wrong credentials are the registry's error", async () => {
    await run("wrong", `${closed.address}/wrong/app:1`, "IfNotPresent");
    assert.match(await failedPull("wrong"), /wrong\/app:1.*(401|authorization)/s);
  });

  test("an image that another client pulled needs proof", async () => {
    const image = `${closed.address}/nobody/app:1`;
    const request = PullImageRequest.fromPartial({ image: { image }, auth: { username: USER, password: PASSWORD } });
    await call((done) => runtime.cri.image.pullImage(request, done));
    await run("nobody", image, "IfNotPresent");
    assert.match(await failedPull("nobody"), /nobody\/app:1.*(401|authorization)/s);
    await run("nobody-never", image, "Never");
    await waitWaiting("nobody-never", "ErrImageNeverPull");
    // The busybox image itself counts as pulled by now: the images of the registries are the same one.
    await node.writeManifest("allowed", manifest("allowed", [{ name: "app", image: PAUSE_IMAGE }]));
    await waitRunning("allowed");
  });
});
