// StopPodSandbox and RemovePodSandbox. Invariant: the network is taken down once, before the namespace ends where
// possible; the checkpoint is removed last, so that a removal that failed half way is repeated.

import { isHostNetworkMode } from "../containers/namespaces.js";
import { listed, inspected, remove, SANDBOX_GRACE_S, stop } from "../engine/containers.js";
import { isNotFound } from "../fault.js";
import { sandboxMetadata } from "../names.js";
import type { Shim } from "../shim.js";
import { metadataOf } from "./checkpoints.js";

/** Resolves also for a sandbox that is not there. */
export function stopSandbox(shim: Shim, id: string, signal: AbortSignal): Promise<void> {
  return shim.whileStopping(id, () => stopWithContainers(shim, id, signal));
}

async function stopWithContainers(shim: Shim, id: string, signal: AbortSignal): Promise<void> {
  const { engine } = shim;
  const found = await inspected(engine, signal, id, "podsandbox").catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  await killContainers(shim, id, signal);
  await disconnect(shim, id, found, signal);
  if (found?.State.Running !== true) return;
  await stop(engine, signal, id, SANDBOX_GRACE_S);
  // Those whose start was under way.
  await killContainers(shim, id, signal);
}

async function killContainers({ engine }: Shim, sandboxId: string, signal: AbortSignal): Promise<void> {
  const containers = await listed(engine, signal, { type: "container", sandboxId });
  await Promise.all(containers.filter(({ State }) => State === "running").map(({ Id }) => stop(engine, signal, Id, 0)));
}

type Found = Awaited<ReturnType<typeof inspected>>;

async function disconnect(
  { checkpoints, network }: Shim,
  id: string,
  found: Found | undefined,
  signal: AbortSignal,
): Promise<void> {
  const checkpoint = await checkpoints.read(id);
  const onHost =
    checkpoint?.data.host_network ?? (found === undefined || isHostNetworkMode(found.HostConfig.NetworkMode));
  if (onHost || checkpoint?.data.network_removed === true) return;
  const metadata = checkpoint === undefined ? found && sandboxMetadata(found.Name) : metadataOf(checkpoint);
  if (metadata === undefined) return;
  const pid = found?.State.Running === true ? found.State.Pid : 0;
  await network.tearDown({ sandboxId: id, metadata, pid, ports: checkpoint?.data.port_mappings ?? [] }, signal);
  if (checkpoint !== undefined) {
    await checkpoints.write(id, { ...checkpoint, data: { ...checkpoint.data, ips: [], network_removed: true } });
  }
}

/** With all its containers. */
export async function removeSandbox(shim: Shim, id: string, signal: AbortSignal): Promise<void> {
  const { engine, logs } = shim;
  await stopSandbox(shim, id, signal);
  for (const { Id } of await listed(engine, signal, { type: "container", sandboxId: id })) {
    await remove(engine, signal, Id);
    await logs.stop(Id);
  }
  await remove(engine, signal, id);
  await shim.checkpoints.remove(id);
}
