// Monitors whether the runtime responds and is ready, and reports each change once.

import { messageOf } from "../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../shared/base/objects/omit-undefined.js";
import type { RuntimeCondition, RuntimeDetails, RuntimeState } from "../../shared/contracts/pleg.js";
import type { CriClient } from "../../shared/kubernetes/cri/client.js";
import type { StatusResponse } from "../../shared/kubernetes/cri/gen/runtime.v1.js";
import { messageText, MOST_HANDLERS, nameText } from "./bounds.js";
import { readRuntimeStatus } from "./runtime-status.js";

export type RuntimeWatchCri = Pick<CriClient, "version" | "status">;

export const UNKNOWN_RUNTIME: RuntimeState = {
  reachable: false,
  runtimeReady: false,
  networkReady: false,
  name: "",
  version: "",
  events: false,
  message: "the runtime has not responded yet",
};

/**
 * Asks the runtime for its state. Never rejects: an error is a state too. `deadlineMs` bounds each of the two calls.
 */
export async function askRuntime(cri: RuntimeWatchCri, deadlineMs: number, events: boolean): Promise<RuntimeState> {
  try {
    const [version, status] = await Promise.all([
      cri.version({ version: "0.1.0" }, { deadlineMs }),
      cri.status({}, { deadlineMs }),
    ]);
    const conditions = status.status?.conditions ?? [];
    const runtime = conditions.find((condition) => condition.type === "RuntimeReady");
    const network = conditions.find((condition) => condition.type === "NetworkReady");
    return {
      reachable: true,
      runtimeReady: runtime?.status ?? false,
      networkReady: network?.status ?? false,
      name: nameText(version.runtimeName),
      version: nameText(version.runtimeVersion),
      events,
      message: [runtime, network]
        .filter((condition) => condition?.status === false)
        .map((condition) =>
          messageText(`${condition?.type ?? ""}: ${condition?.reason ?? ""} ${condition?.message ?? ""}`.trim()),
        )
        .join("; "),
      details: detailsOf(status),
    };
  } catch (error) {
    return { ...UNKNOWN_RUNTIME, message: messageOf(error) };
  }
}

function detailsOf(reply: StatusResponse): RuntimeDetails {
  const { runtimeReady, networkReady, handlers, features } = readRuntimeStatus(reply);
  const condition = ({ status, reason, message }: RuntimeCondition): RuntimeCondition => ({
    status,
    reason: nameText(reason),
    message: messageText(message),
  });
  return omitUndefined({
    runtimeReady: condition(runtimeReady),
    networkReady: condition(networkReady),
    handlers: handlers
      .filter(({ name }) => name === nameText(name))
      .slice(0, MOST_HANDLERS)
      .map(({ name, features: { recursiveReadOnlyMounts = false, userNamespaces = false } = {} }) => ({
        name,
        recursiveReadOnlyMounts,
        userNamespaces,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    supplementalGroupsPolicy: features?.supplementalGroupsPolicy,
    userNamespacesHostNetwork: features?.userNamespacesHostNetwork,
  });
}

export function sameRuntimeState(a: RuntimeState, b: RuntimeState): boolean {
  return (
    a.reachable === b.reachable &&
    a.runtimeReady === b.runtimeReady &&
    a.networkReady === b.networkReady &&
    a.name === b.name &&
    a.version === b.version &&
    a.events === b.events &&
    // The text of a connection error may carry changing detail: only its presence counts.
    (a.reachable ? a.message === b.message && JSON.stringify(a.details) === JSON.stringify(b.details) : true)
  );
}

/**
 * Delay before the next Status call: short while the runtime is unreachable, so that pods start soon after its return.
 */
export function nextAskMs(state: RuntimeState, statusPeriodMs: number): number {
  return state.reachable && state.runtimeReady && state.networkReady ? statusPeriodMs : Math.min(200, statusPeriodMs);
}
