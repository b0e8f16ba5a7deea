// Work of a whole node that brings a kind of handler about, for the fault tests. Each resolves when the work was done.

import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { join } from "node:path";
import { systemClock } from "../../src/shared/base/clock/clock.js";
import { PluginConnection } from "../../src/shared/kubernetes/plugins/connection.js";
import { PodResourcesListerService } from "../../src/shared/kubernetes/plugins/gen/podresources.v1.js";
import { waitFor, type PodView, type TestNode } from "../harness/node.js";
import { TestDevicePlugin } from "./device-plugin/plugin.js";
import { agentLog, PATIENCE_MS, podOf } from "./fault-node.js";
import { secureAsk, secureOpen } from "./secure-ask.js";
import { conditionsOf, IDLE, manifest, NODE_NAME, shell, statusOf } from "./static-pods.js";
import { ChannelSocket } from "./websocket.js";

/** The pod that stands beside all faults. It writes a line each second, which a follower of its log waits for. */
export const PROBED = "probed";

export function isReady(pods: readonly PodView[], name = PROBED): boolean {
  const pod = podOf(pods, name);
  return pod !== undefined && conditionsOf(pod)["Ready"] === "True";
}

export async function shortPod(node: TestNode): Promise<void> {
  await node.writeManifest("short", manifest("short", [shell("c0", IDLE)]));
  await node.waitFor((seen) => podOf(seen, "short") !== undefined && isReady(seen, "short"), {
    what: "another pod to be Ready",
    timeoutMs: PATIENCE_MS,
  });
  await node.removeManifest("short");
  await node.waitFor((seen) => podOf(seen, "short") === undefined, {
    what: "the other pod to be removed",
    timeoutMs: PATIENCE_MS,
  });
}

/** Main asks all threads for their figures. */
export async function scrape(node: TestNode): Promise<void> {
  const response = await fetch(`${node.kubelet.url}/metrics`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  await response.text();
  assert.equal(response.status, 200);
}

export async function ok(node: TestNode, path: string): Promise<void> {
  assert.equal((await secureAsk(node, path)).status, 200);
}

export async function execTrue(node: TestNode): Promise<void> {
  const path = `/exec/default/probed-${NODE_NAME}/c0?command=true&output=1`;
  const socket = await ChannelSocket.connect(`${node.kubelet.secureUrl}${path}`, {});
  await socket.until(() => socket.closed);
}

/** A command that prints its argument. */
export async function execCat(node: TestNode): Promise<void> {
  const path = `/exec/default/probed-${NODE_NAME}/c0?command=cat&input=1&output=1`;
  const headers = { "Sec-WebSocket-Protocol": "v5.channel.k8s.io" };
  const socket = await ChannelSocket.connect(`${node.kubelet.secureUrl}${path}`, { headers });
  try {
    socket.send(0, "hello");
    await socket.until(() => socket.closed || socket.text(1) === "hello");
    assert.equal(socket.text(1), "hello");
  } finally {
    socket.close();
  }
}

export async function http2Healthz(node: TestNode): Promise<void> {
  const session = connectHttp2(node.kubelet.secureUrl, { rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => {
      session.once("error", reject).once("close", () => reject(new Error("the session ended")));
      const stream = session.request({ ":path": "/healthz" });
      stream.once("error", reject).once("close", () => reject(new Error("the stream ended")));
      stream.once("response", ({ ":status": status }) =>
        status === 200 ? resolve() : reject(new Error(`status ${status}`)),
      );
      stream.resume();
    });
  } finally {
    session.destroy();
  }
}

/** Follows a log until two parts of it have come: the second was written meanwhile. */
export async function followLog(node: TestNode): Promise<void> {
  const log = await secureOpen(node, `/containerLogs/default/${PROBED}-${NODE_NAME}/c0?follow=true&tailLines=1`);
  try {
    assert.equal(log.statusCode, 200);
    for (let part = 0; part < 2; part++) await once(log, "data", { signal: AbortSignal.timeout(PATIENCE_MS) });
  } finally {
    log.destroy();
  }
}

const DEVICE = "example.com/fault";

/** A device plugin's socket appears, is registered, and goes; its device was allocatable meanwhile. */
export async function devicePlugin(node: TestNode): Promise<void> {
  const { rootDir } = node.kubelet;
  const logged = (await agentLog(node)).length;
  const isOver = async (): Promise<boolean> =>
    (await agentLog(node)).slice(logged).some(({ msg }) => msg.startsWith(`ListAndWatch of device plugin ${DEVICE}`));
  const plugin = await TestDevicePlugin.start({ resource: DEVICE, rootDir, devices: { one: {} } });
  try {
    await plugin.registerBySocket();
    await waitFor(() => plugin.statuses.some(({ pluginRegistered }) => pluginRegistered), {
      what: "the plugin to be registered",
      timeoutMs: PATIENCE_MS,
    });
    const isAllocatable = async (): Promise<boolean> => (await allocatable(node)).includes("one");
    await waitFor(async () => (await isAllocatable()) || (await isOver()), {
      what: "the device to be allocatable",
      timeoutMs: PATIENCE_MS,
    });
    // A plugin whose stream is over registers anew, or stays away.
    assert.ok(await isAllocatable(), "the plugin's stream is over");
  } finally {
    await plugin.stop();
  }
  await waitFor(async () => !(await allocatable(node)).includes("one"), {
    what: "the device to be removed",
    timeoutMs: PATIENCE_MS,
  });
}

async function allocatable(node: TestNode): Promise<string[]> {
  const socket = `${node.kubelet.rootDir}/pod-resources/kubelet.sock`;
  const connection = new PluginConnection(socket, systemClock);
  try {
    const { getAllocatableResources } = PodResourcesListerService;
    const { devices } = await connection.call(getAllocatableResources, {}, { timeoutMs: PATIENCE_MS });
    return devices.filter(({ resourceName }) => resourceName === DEVICE).flatMap(({ deviceIds }) => deviceIds);
  } finally {
    connection[Symbol.dispose]();
  }
}

/** Nothing listens there: pulls fail after the provider was asked. */
const REGISTRY = "127.0.0.1:1";
const PROVIDER_API = "credentialprovider.kubelet.k8s.io/v1";

/**
 * A credential provider that writes a line for each run to `<dir>/provider.runs`.
 * @returns the kubelet's flags for it
 */
export async function credentialProvider(dir: string): Promise<string[]> {
  const response = { kind: "CredentialProviderResponse", apiVersion: PROVIDER_API, cacheKeyType: "Image", auth: {} };
  const script = `#!/bin/sh\ncat > /dev/null\necho run >> "$0.runs"\necho '${JSON.stringify(response)}'\n`;
  await writeFile(join(dir, "provider"), script);
  await chmod(join(dir, "provider"), 0o755);
  await writeFile(join(dir, "provider.runs"), "");
  const provider = {
    name: "provider",
    matchImages: [REGISTRY],
    defaultCacheDuration: "0s",
    apiVersion: PROVIDER_API,
  };
  const config = { apiVersion: "kubelet.config.k8s.io/v1", kind: "CredentialProviderConfig", providers: [provider] };
  await writeFile(join(dir, "providers.json"), JSON.stringify(config));
  return [
    `--image-credential-provider-config=${join(dir, "providers.json")}`,
    `--image-credential-provider-bin-dir=${dir}`,
  ];
}

/** A pull for which the provider of `dir` runs. */
export function pullWithProvider(dir: string): (node: TestNode) => Promise<void> {
  const runs = async (): Promise<number> => (await readFile(join(dir, "provider.runs"), "utf8")).length;
  return async (node) => {
    const before = await runs();
    // Another image each time: one whose pull failed is in back-off.
    const image = `${REGISTRY}/fault/app:${before}`;
    await node.writeManifest("pulls", manifest("pulls", [shell("c0", IDLE, { image, imagePullPolicy: "Always" })]));
    await node.waitFor((seen) => ["ErrImagePull", "ImagePullBackOff"].includes(waitingOf(podOf(seen, "pulls")) ?? ""), {
      what: "the pull to fail",
      timeoutMs: PATIENCE_MS,
    });
    await node.removeManifest("pulls");
    await node.waitFor((seen) => podOf(seen, "pulls") === undefined, {
      what: "the pod that pulls to be removed",
      timeoutMs: PATIENCE_MS,
    });
    assert.ok((await runs()) > before, "the provider has run");
  };
}

function waitingOf(pod: PodView | undefined): string | undefined {
  return statusOf(pod, "c0")?.state.waiting?.reason;
}
