// Verbs of containers, except those that run commands in them.

import type { ContainerStatus } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Verbs } from "../call.js";
import { create, inspected, listed, remove, start, stop } from "../engine/containers.js";
import { request } from "../engine/engine.js";
import { engineMessage, Fault, isNotFound } from "../fault.js";
import { matchesId, matchesState } from "../filters.js";
import { containerName, LOG_PATH_LABEL, SANDBOX_ID_LABEL } from "../names.js";
import type { Shim } from "../shim.js";
import { createOptions } from "./create-config.js";
import { dockerResources } from "./resources.js";
import { containerStatus, listedContainer } from "./status.js";
import { unsupportedInContainer, unsupportedResources } from "./unsupported.js";

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
    async createContainer({ podSandboxId, config, sandboxConfig }, signal) {
      const pod = sandboxConfig?.metadata;
      if (config?.metadata === undefined || sandboxConfig === undefined || pod === undefined) {
        throw new Fault("INVALID_ARGUMENT", "the request has no metadata of the container or its sandbox");
      }
      warnOf(
        shim,
        `container ${config.metadata.name} of pod ${pod.namespace}/${pod.name}`,
        unsupportedInContainer(config),
      );
      const options = await createOptions({
        sandboxId: podSandboxId,
        config,
        sandboxConfig,
        cgroupDriver: await shim.cgroupDriver(signal),
        lowestOomScoreAdj: await shim.lowestOomScoreAdj(),
      });
      return { containerId: await create(engine, signal, containerName(pod, config.metadata), options) };
    },

    async startContainer({ containerId }, signal) {
      const { Id, Config, State } = await inspected(engine, signal, containerId, "container");
      if (State.Running)
        throw new Fault(
          "FAILED_PRECONDITION",
          `container ${containerId} cannot start: it is in state CONTAINER_RUNNING`,
        );
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
    },

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
      warnOf(shim, `container ${containerId}`, unsupportedResources(linux));
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

function warnOf({ log }: Shim, container: string, leftOut: readonly string[]): void {
  if (leftOut.length > 0) log.warn(`${container}: the Docker Engine has no form of ${leftOut.join("; ")}`);
}

async function statusOf({ engine, logs, images }: Shim, id: string, signal: AbortSignal): Promise<ContainerStatus> {
  const found = await inspected(engine, signal, id, "container");
  if (!found.State.Running) await logs.settled(id);
  return containerStatus(found, await images.inspect(found.Image, signal));
}
