// StartContainer: starts a created container and follows its log.

import type { StartContainerRequest } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { inspected, start } from "../engine/containers.js";
import { engineMessage, Fault, isNotFound } from "../fault.js";
import { LOG_PATH_LABEL, SANDBOX_ID_LABEL } from "../names.js";
import type { Shim } from "../shim.js";

export async function startContainer(
  shim: Shim,
  { containerId }: StartContainerRequest,
  signal: AbortSignal,
): Promise<Record<string, never>> {
  const { engine, logs } = shim;
  const { Id, Config, State } = await inspected(engine, signal, containerId, "container");
  if (State.Running)
    throw new Fault("FAILED_PRECONDITION", `container ${containerId} cannot start: it is in state CONTAINER_RUNNING`);
  shim.checkStarts(Config.Labels[SANDBOX_ID_LABEL] ?? "");
  try {
    await start(engine, signal, containerId);
  } catch (error) {
    if (isNotFound(error))
      throw new Fault("UNKNOWN", `failed to start container ${containerId}: ${engineMessage(error)}`, {
        cause: error,
      });
    throw error;
  }
  logs.follow({ id: Id, path: Config.Labels[LOG_PATH_LABEL] ?? "", tty: Config.Tty, adopted: false });
  return {};
}
