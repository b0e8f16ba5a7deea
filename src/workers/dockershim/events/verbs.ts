// GetContainerEvents: each event with the state of its pod, as evented PLEGs read it.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import {
  ContainerEventType,
  PodSandboxState,
  type ContainerEventResponse,
  type ContainerStatus,
  type PodSandboxStatus,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { verbose } from "../../../shared/telemetry/log/logger.js";
import type { StreamVerbs } from "../call.js";
import { containerStatus } from "../containers/status.js";
import { inspected, listed } from "../engine/containers.js";
import { isNotFound } from "../fault.js";
import { criLabels, SANDBOX_ID_LABEL, sandboxMetadata, TYPE_LABEL } from "../names.js";
import { sandboxStatus } from "../sandboxes/status.js";
import type { Shim } from "../shim.js";
import type { EngineEvent } from "./engine-events.js";
import { EventHub } from "./event-hub.js";

/** Pods whose state is read at once. */
const AT_ONCE = 8;

export class ContainerEvents {
  private readonly hub: EventHub;

  constructor(private readonly shim: Shim) {
    const { engine, clock, log } = shim;
    this.hub = new EventHub({ engine, clock, log, responses: (events, signal) => this.responses(events, signal) });
  }

  verbs(): StreamVerbs<"getContainerEvents"> {
    return { getContainerEvents: (_request, send, signal) => this.hub.serve(send, signal) };
  }

  stop(): Promise<void> {
    return this.hub.stop();
  }

  private async responses(events: readonly EngineEvent[], signal: AbortSignal): Promise<ContainerEventResponse[]> {
    const pods = new Map<string, PodState>();
    const left = [...new Set(events.map(sandboxIdOf))];
    const work = async (): Promise<void> => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) pods.set(id, await this.podState(id, signal));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return events.map((event) => {
      const { sandbox, containers } = pods.get(sandboxIdOf(event)) ?? NOTHING;
      return {
        containerId: event.id,
        containerEventType: event.type,
        createdAt: event.at,
        podSandboxStatus: sandbox ?? lastKnown(event),
        containersStatuses: containers,
      };
    });
  }

  /** What the Engine shows of it. Never rejects: the event counts more than the state beside it. */
  private async podState(id: string, signal: AbortSignal): Promise<PodState> {
    const { engine, images, log } = this.shim;
    try {
      const found = await inspected(engine, signal, id, "podsandbox");
      const containers = await listed(engine, signal, { type: "container", sandboxId: id });
      const statuses = await Promise.all(
        containers.map(async ({ Id }) => {
          const one = await inspected(engine, signal, Id, "container");
          return containerStatus(one, await images.inspect(one.Image, signal));
        }),
      );
      return { sandbox: await sandboxStatus(this.shim, found), containers: statuses };
    } catch (error) {
      if (!isNotFound(error) && !signal.aborted)
        verbose(log, 2)?.(`an event is sent without the state of sandbox ${id}: ${messageOf(error)}`);
      return NOTHING;
    }
  }
}

interface PodState {
  sandbox: PodSandboxStatus | undefined;
  containers: ContainerStatus[];
}

const NOTHING: PodState = { sandbox: undefined, containers: [] };

function sandboxIdOf({ id, labels }: EngineEvent): string {
  return labels[TYPE_LABEL] === "podsandbox" ? id : (labels[SANDBOX_ID_LABEL] ?? "");
}

/** Describes a removed sandbox from the labels of its event, which name the pod. */
function lastKnown(event: EngineEvent): PodSandboxStatus | undefined {
  const { labels, name, type } = event;
  const isSandbox = labels[TYPE_LABEL] === "podsandbox";
  const removed = type === ContainerEventType.CONTAINER_DELETED_EVENT;
  return {
    id: sandboxIdOf(event),
    metadata: isSandbox ? metadataOf(name) : undefined,
    state: isSandbox && !removed ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY,
    createdAt: 0n,
    network: undefined,
    linux: undefined,
    runtimeHandler: "",
    ...criLabels(labels),
  };
}

function metadataOf(name: string): PodSandboxStatus["metadata"] {
  try {
    return sandboxMetadata(name);
  } catch {
    return undefined;
  }
}
