// Verbs of containers, except those that run commands in them.

import type { ContainerStatus } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Verbs } from "../call.js";
import { inspected, listed, remove, stop } from "../engine/containers.js";
import { request } from "../engine/engine.js";
import { Fault } from "../fault.js";
import { matchesId, matchesState } from "../filters.js";
import { LOG_PATH_LABEL } from "../names.js";
import type { Shim } from "../shim.js";
import { createContainer } from "./create-container.js";
import { dockerResources } from "./resources.js";
import { startContainer } from "./start-container.js";
import { containerStatus, listedContainer } from "./status.js";
import { unsupportedResources } from "./unsupported.js";

type ContainerVerb =
  | "createContainer"
  | "startContainer"
  | "stopContainer"
  | "removeContainer"
  | "listContainers"
  | "containerStatus"
  | "updateContainerResources"
  | "reopenContainerLog";

export function containerVerbs(shim: Shim): Verbs<ContainerVerb> {
  const { engine, logs } = shim;
  return {
    createContainer: (request, signal) => createContainer(shim, request, signal),
    startContainer: (request, signal) => startContainer(shim, request, signal),

    async stopContainer({ containerId, timeout }, signal) {
      await stop(engine, signal, containerId, Number(timeout));
      await logs.settled(containerId);
      return {};
    },

    async removeContainer({ containerId }, signal) {
      await remove(engine, signal, containerId);
      await logs.stop(containerId);
      return {};
    },

    async listContainers({ filter }, signal) {
      const labels = filter?.labelSelector ?? {};
      const sandboxId = filter?.podSandboxId === "" ? undefined : filter?.podSandboxId;
      const found = await listed(engine, signal, { type: "container", labels, sandboxId });
      const containers = found.flatMap((container) => shim.ifKubernetes(() => listedContainer(container)));
      return {
        containers: containers.filter(
          ({ id, state }) => matchesId(id, filter?.id ?? "") && matchesState(state, filter?.state),
        ),
      };
    },

    async containerStatus({ containerId, verbose }, signal) {
      const status = await statusOf(shim, containerId, signal);
      return { status, info: verbose ? { info: JSON.stringify({ runtime: "docker" }) } : {} };
    },

    async updateContainerResources({ containerId, linux }, signal) {
      await inspected(engine, signal, containerId, "container");
      shim.warnUnsupported(`container ${containerId}`, unsupportedResources(linux));
      await engine.call(signal, (docker, abort) =>
        docker.getContainer(containerId).update(request(abort, {}, dockerResources(linux))),
      );
      return {};
    },

    async reopenContainerLog({ containerId }, signal) {
      const { Id, Config, State } = await inspected(engine, signal, containerId, "container");
      if (!State.Running)
        throw new Fault(
          "FAILED_PRECONDITION",
          `container ${containerId} is not running: its log will not grow any more`,
        );
      await logs.reopen({ id: Id, path: Config.Labels[LOG_PATH_LABEL] ?? "", tty: Config.Tty, adopted: true });
      return {};
    },
  };
}

async function statusOf({ engine, logs, images }: Shim, id: string, signal: AbortSignal): Promise<ContainerStatus> {
  const found = await inspected(engine, signal, id, "container");
  if (!found.State.Running) await logs.settled(id);
  return containerStatus(found, await images.inspect(found.Image, signal));
}
