// Every pod of a node ends gracefully, from each of its sources: the manifest folder, `nodelet apply`, or kubectl with
// --api-port. A pod whose request stays would run until it is ended by force.

import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { askKubelet } from "./admin-socket.js";
import type { KubeletProcess } from "./kubelet-process.js";
import { podTable, type PodView } from "./pods.js";
import { errnoOf, messageOf } from "./problem.js";
import { waitFor } from "./wait.js";

/** Longer than the longest grace period of the examples. */
const PODS_GONE_TIMEOUT_MS = 45_000;

/**
 * Takes back what asks for pods, and waits until the kubelet has ended all of them, or has ended itself. Rejects when
 * a pod does not end, or when `signal` aborts. `say` gets what could not be taken back.
 */
export async function endPods(
  kubelet: KubeletProcess,
  say: (line: string) => unknown,
  signal: AbortSignal,
): Promise<void> {
  await rm(kubelet.manifests, { recursive: true, force: true });
  await mkdir(kubelet.manifests);
  const report = (error: unknown): unknown => say(`nodelet: ${messageOf(error)}`);
  await Promise.all([removeSentManifests(kubelet).catch(report), removePodObjects(kubelet).catch(report)]);
  let left: readonly PodView[] = [];
  const areGone = async (): Promise<boolean> => {
    if (kubelet.pid === undefined) return true;
    left = await kubelet.pods();
    return left.length === 0;
  };
  await waitFor(areGone, {
    what: "the pods to end",
    timeoutMs: PODS_GONE_TIMEOUT_MS,
    signal,
    lastSeen: () => `\n${podTable(left)}\n`,
  });
}

/** Manifests of the manifest API: docs/manifest-api.md. */
async function removeSentManifests({ rootDir }: KubeletProcess): Promise<void> {
  const list = JSON.parse(await askKubelet(rootDir, "GET", "/manifests/")) as {
    items?: readonly { metadata: { namespace: string; name: string } }[] | null;
  };
  for (const { metadata } of list.items ?? [])
    await askKubelet(rootDir, "DELETE", `/manifests/${metadata.namespace}/${metadata.name}`);
}

/** The removal of an object's file is a `kubectl delete`: docs/without-a-cluster.md. */
async function removePodObjects({ rootDir }: KubeletProcess): Promise<void> {
  const folder = join(rootDir, "nodelet/api/store/objects/pods");
  const names = await readdir(folder, { recursive: true }).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return []; // --api-port is off
    throw error;
  });
  for (const name of names.filter((one) => one.endsWith(".json"))) await rm(join(folder, name), { force: true });
}
