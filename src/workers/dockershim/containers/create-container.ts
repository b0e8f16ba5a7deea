// CreateContainer: the container of the Docker Engine in the namespaces of its sandbox.

import type { CreateContainerRequest } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { create } from "../engine/containers.js";
import { Fault } from "../fault.js";
import { containerName } from "../names.js";
import type { Shim } from "../shim.js";
import { createOptions } from "./create-config.js";
import { unsupportedInContainer } from "./unsupported.js";

export async function createContainer(
  shim: Shim,
  { podSandboxId, config, sandboxConfig }: CreateContainerRequest,
  signal: AbortSignal,
): Promise<{ containerId: string }> {
  const pod = sandboxConfig?.metadata;
  if (config?.metadata === undefined || sandboxConfig === undefined || pod === undefined) {
    throw new Fault("INVALID_ARGUMENT", "the request has no metadata of the container or its sandbox");
  }
  const described = `container ${config.metadata.name} of pod ${pod.namespace}/${pod.name}`;
  shim.warnUnsupported(described, unsupportedInContainer(config));
  const options = await createOptions({
    sandboxId: podSandboxId,
    config,
    sandboxConfig,
    cgroupDriver: await shim.cgroupDriver(signal),
    lowestOomScoreAdj: await shim.lowestOomScoreAdj(),
  });
  return { containerId: await create(shim.engine, signal, containerName(pod, config.metadata), options) };
}
