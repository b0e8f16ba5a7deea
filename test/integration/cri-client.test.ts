// The client against a real runtime (containerd 1.6 or newer), over both channels: a pod's life, the codes a real
// runtime answers with, and what older runtimes do not have. Needs NODELET_CRI_ENDPOINT, an image with a shell in the
// runtime (NODELET_TEST_IMAGE, default nodelet.local/busybox:1) and the runtime's sandbox image; pulls nothing. Leaves
// nothing behind.
// @promise Failures: After the pod's deletion or the kubelet's stop, a start that was sent to the runtime has 5 s. So
//   containerd keeps no task that no call can remove.
// @with test/shared/kubernetes/cri/client-errors.test.ts

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { messageOf } from "../../src/shared/base/errors/thrown.js";
import { chooseCgroupDriver } from "../../src/shared/kubernetes/cri/cgroup-driver.js";
import type { CriChannelKind } from "../../src/shared/kubernetes/cri/channel-kind.js";
import { createCriClient, type CriClient } from "../../src/shared/kubernetes/cri/client.js";
import {
  CriError,
  CriCancelledError,
  CriDeadlineExceededError,
  CriNotFoundError,
  CriUnimplementedError,
} from "../../src/shared/kubernetes/cri/errors.js";
import { ContainerState, NamespaceMode, PodSandboxState } from "../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { readRuntimeStatus } from "../../src/workers/pleg/runtime-status.js";

const ENDPOINT = process.env["NODELET_CRI_ENDPOINT"] ?? "";
const IMAGE = process.env["NODELET_TEST_IMAGE"] ?? "nodelet.local/busybox:1";
const skip = ENDPOINT === "" ? "NODELET_CRI_ENDPOINT is not set: no runtime to test against" : false;

interface World {
  client: CriClient;
  logDirectory: string;
}

async function open(context: TestContext, channel: CriChannelKind): Promise<World> {
  // This runtime has no streams for lists: each list falls back to its unary call.
  const options = { runtimeRequestTimeoutMs: 30_000, listStreaming: true };
  const faults: Error[] = [];
  const onFallback = (error: Error): void => void faults.push(error);
  const client = createCriClient({ endpoint: ENDPOINT, clock: systemClock, channel, onFallback, ...options });
  const logDirectory = await mkdtemp(join(tmpdir(), "cri-integration-"));
  context.after(async () => {
    client.close();
    assert.deepEqual(faults, [], "the runtime keeps to HTTP/2");
    await rm(logDirectory, { recursive: true, force: true });
  });
  return { client, logDirectory };
}

async function runSandbox(context: TestContext, { client, logDirectory }: World) {
  const uid = randomUUID();
  const config = {
    metadata: { name: `cri-${uid.slice(0, 8)}`, namespace: "integration", uid, attempt: 0 },
    logDirectory,
    hostname: "integration",
    labels: { "integration.test/uid": uid },
    linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
  };
  const { podSandboxId } = await client.runPodSandbox({ config });
  // After-hooks run in the order they were registered: the test's own client is closed by now.
  context.after(async () => {
    const cleaner = createCriClient({ endpoint: ENDPOINT, runtimeRequestTimeoutMs: 30_000, clock: systemClock });
    await cleaner.stopPodSandbox({ podSandboxId }).catch((error: unknown) => {
      if (!(error instanceof CriNotFoundError)) throw error; // containerd 1.6 says NotFound for a sandbox that is gone
    });
    await cleaner.removePodSandbox({ podSandboxId });
    cleaner.close();
  });
  return { uid, config, podSandboxId };
}

interface Sandbox {
  podSandboxId: string;
  config: object;
  uid: string;
}

async function startContainer(world: World, sandbox: Sandbox, command: string) {
  const containerId = await createContainer(world, sandbox, command);
  await world.client.startContainer({ containerId });
  return containerId;
}

async function createContainer({ client }: World, sandbox: Sandbox, command: string, attempt = 0) {
  const { containerId } = await client.createContainer({
    podSandboxId: sandbox.podSandboxId,
    sandboxConfig: sandbox.config,
    config: {
      metadata: { name: "app", attempt },
      image: { image: IMAGE },
      command: ["/bin/sh", "-c", command],
      logPath: "app.log",
      labels: { "integration.test/uid": sandbox.uid },
    },
  });
  return containerId;
}

for (const channel of ["own", "grpc-js"] as const) describe(`over the channel ${channel}`, () => cases(channel));

function cases(channel: CriChannelKind): void {
  const world = (context: TestContext): Promise<World> => open(context, channel);

  test("name and version of the runtime, and that it is ready", { skip }, async (context) => {
    const { client } = await world(context);
    const version = await client.version({});
    assert.equal(version.runtimeApiVersion, "v1");
    context.diagnostic(`${version.runtimeName} ${version.runtimeVersion}`);
    const readiness = readRuntimeStatus(await client.status({}));
    assert.equal(readiness.runtimeReady.status, true);
    assert.equal(readiness.networkReady.status, true, readiness.networkReady.message);
    const choice = await chooseCgroupDriver(client, "cgroupfs", { clock: systemClock });
    assert.ok(choice.source === "runtime" || choice.driver === "cgroupfs");
    const { imageFilesystems } = await client.imageFsInfo({});
    assert.ok(imageFilesystems[0]?.fsId?.mountpoint.startsWith("/"));
  });

  test("images: the test image is there, an unknown one is absent without an error", { skip }, async (context) => {
    const { client } = await world(context);
    const { image } = await client.imageStatus({ image: { image: IMAGE } });
    assert.ok(image?.repoTags.includes(IMAGE), `the runtime has no ${IMAGE}`);
    const { images } = await client.listImages({});
    assert.ok(images.some((each) => each.repoTags.includes(IMAGE)));
    assert.equal((await client.imageStatus({ image: { image: "nodelet.local/none:1" } })).image, undefined);
  });

  test("a pod lives from RunPodSandbox to RemovePodSandbox", { skip, timeout: 300_000 }, async (context) => {
    const here = await world(context);
    const { client, logDirectory } = here;
    const sandbox = await runSandbox(context, here);
    await assert.rejects(client.runPodSandbox({ config: sandbox.config }), (error) => {
      assert.ok(error instanceof CriError && error.code === "ALREADY_EXISTS", String(error));
      assert.ok(error.details.includes(sandbox.podSandboxId), error.details);
      return true;
    });
    const { status: sandboxStatus } = await client.podSandboxStatus({ podSandboxId: sandbox.podSandboxId });
    assert.equal(sandboxStatus?.state, PodSandboxState.SANDBOX_READY);
    assert.equal(sandboxStatus.metadata?.uid, sandbox.uid);
    assert.match(sandboxStatus.network?.ip ?? "", /^[\d.]+$|:/);

    const command = "trap 'exit 7' TERM; touch /hears; echo hello; while :; do sleep 0.05; done";
    const containerId = await startContainer(here, sandbox, command);
    const hears = ["/bin/sh", "-c", "until [ -e /hears ]; do sleep 0.02; done"];
    await client.execSync({ containerId, cmd: hears, timeout: 20n });
    const running = (await client.containerStatus({ containerId })).status;
    assert.equal(running?.state, ContainerState.CONTAINER_RUNNING);
    assert.ok(running.startedAt >= running.createdAt && running.createdAt > 0n);
    const mine = { labelSelector: { "integration.test/uid": sandbox.uid } };
    assert.deepEqual(
      (await client.listContainers({ filter: mine })).containers.map(({ id, podSandboxId }) => [id, podSandboxId]),
      [[containerId, sandbox.podSandboxId]],
    );
    assert.equal((await client.listPodSandbox({ filter: mine })).items.length, 1);
    await assert.rejects(client.startContainer({ containerId }), /CONTAINER_RUNNING/);

    const run = await client.execSync({
      containerId,
      cmd: ["/bin/sh", "-c", "echo out; echo err >&2; exit 4"],
      timeout: 20n,
    });
    assert.deepEqual([run.exitCode, String(run.stdout), String(run.stderr)].map(String), ["4", "out\n", "err\n"]);
    const late = client.execSync({ containerId, cmd: ["/bin/sleep", "30"], timeout: 1n });
    await assert.rejects(late, CriDeadlineExceededError);
    const stats = (await client.containerStats({ containerId })).stats;
    assert.ok((stats?.memory?.workingSetBytes?.value ?? 0n) > 0n);
    await client.updateContainerResources({ containerId, linux: { cpuShares: 512n } });
    assert.match((await client.exec({ containerId, cmd: ["sh"], stdout: true })).url, /^http/);

    await client.stopContainer({ containerId, timeout: 25n });
    const ended = (await client.containerStatus({ containerId })).status;
    assert.equal(ended?.state, ContainerState.CONTAINER_EXITED);
    assert.equal(ended.exitCode, 7, "the container heard SIGTERM");
    assert.ok(ended.finishedAt >= ended.startedAt);
    assert.match(await readFile(join(logDirectory, "app.log"), "utf8"), / stdout F hello\n/);
    await client.stopContainer({ containerId, timeout: 10n });
    await client.removeContainer({ containerId });
    await client.removeContainer({ containerId });
    await assert.rejects(client.containerStatus({ containerId }), CriNotFoundError);

    await client.stopPodSandbox({ podSandboxId: sandbox.podSandboxId });
    await client.stopPodSandbox({ podSandboxId: sandbox.podSandboxId });
    const stopped = (await client.podSandboxStatus({ podSandboxId: sandbox.podSandboxId })).status;
    assert.equal(stopped?.state, PodSandboxState.SANDBOX_NOTREADY);
    await client.removePodSandbox({ podSandboxId: sandbox.podSandboxId });
    await client.removePodSandbox({ podSandboxId: sandbox.podSandboxId });
    await assert.rejects(client.podSandboxStatus({ podSandboxId: sandbox.podSandboxId }), CriNotFoundError);
  });

  test(
    "a container that ignores the stop signal is killed when its grace is over",
    { skip, timeout: 300_000 },
    async (context) => {
      const here = await world(context);
      const sandbox = await runSandbox(context, here);
      const containerId = await startContainer(
        here,
        sandbox,
        "trap '' TERM; touch /deaf; while :; do sleep 0.05; done",
      );
      const deaf = ["/bin/sh", "-c", "until [ -e /deaf ]; do sleep 0.02; done"];
      await here.client.execSync({ containerId, cmd: deaf, timeout: 20n });
      await here.client.stopContainer({ containerId, timeout: 1n });
      assert.equal((await here.client.containerStatus({ containerId })).status?.exitCode, 137);
    },
  );

  test("unknown objects are NotFound; an aborted call ends at once", { skip }, async (context) => {
    const { client } = await world(context);
    const unknown = "0".repeat(64);
    await assert.rejects(client.containerStatus({ containerId: unknown }), CriNotFoundError);
    await assert.rejects(client.podSandboxStatus({ podSandboxId: unknown }), CriNotFoundError);
    await assert.rejects(client.startContainer({ containerId: unknown }), CriNotFoundError);
    await assert.rejects(client.execSync({ containerId: unknown, cmd: ["true"], timeout: 1n }), CriNotFoundError);
    await client.removeContainer({ containerId: unknown });
    await client.removePodSandbox({ podSandboxId: unknown });
    const controller = new AbortController();
    const call = client.listContainers({}, { signal: controller.signal });
    controller.abort();
    await assert.rejects(call, CriCancelledError);
  });

  test("the event stream is open and silent, or Unimplemented", { skip }, async (context) => {
    const { client } = await world(context);
    const { runtimeName, runtimeVersion } = await client.version({});
    const isAbsent = runtimeName === "containerd" && /^v?1\.6\./.test(runtimeVersion);
    const controller = new AbortController();
    // An open stream stays silent: it is looked at for a moment. The refusal of a runtime without it is waited for.
    const timer = setTimeout(() => controller.abort(), isAbsent ? 60_000 : 300);
    const read = client.getContainerEvents({}, { signal: controller.signal })[Symbol.asyncIterator]().next();
    const outcome = await read.then(
      () => "an event",
      (error: unknown) => {
        if (error instanceof CriUnimplementedError) return "unimplemented";
        if (error instanceof CriCancelledError) return "open";
        throw error;
      },
    );
    clearTimeout(timer);
    // After an event the stream is open, and would keep this process alive.
    controller.abort();
    context.diagnostic(`GetContainerEvents: ${outcome}`);
    if (isAbsent) assert.equal(outcome, "unimplemented");
  });

  // containerd that loses its client in the middle of StartContainer may keep a task that no call removes.
  test("a start that is aborted at any moment leaves a container that can be removed", { skip }, async (context) => {
    const here = await world(context);
    const { client } = here;
    const sandbox = await runSandbox(context, here);
    const first = await createContainer(here, sandbox, "sleep 1000");
    const begin = systemClock.monotonic();
    await client.startContainer({ containerId: first });
    const startMs = systemClock.monotonic() - begin;
    // On a slow machine the runtime may still end the start when the client's patience is over.
    const remove = async (containerId: string): Promise<void> => {
      for (;;) {
        try {
          await client.stopContainer({ containerId, timeout: 0n });
          await client.removeContainer({ containerId });
          return;
        } catch (error) {
          if (!/is in starting state/.test(messageOf(error))) throw error;
          await systemClock.sleep(50);
        }
      }
    };
    await remove(first);
    const rounds = 30;
    for (let round = 0; round < rounds; round++) {
      const containerId = await createContainer(here, sandbox, "sleep 1000", round + 1);
      const controller = new AbortController();
      const started = client.startContainer({ containerId }, { signal: controller.signal }).catch((error: unknown) => {
        if (!(error instanceof CriCancelledError)) throw error;
      });
      await systemClock.sleep((startMs * round) / rounds);
      controller.abort(new Error("the pod is being terminated"));
      await started;
      await remove(containerId);
    }
  });
}
