// Nothing of a pod is started while the runtime's network is not ready: it would come up without an address.

import type { RuntimeState } from "../../../shared/contracts/pleg.js";
import type { Pod } from "../../../shared/kubernetes/api/pod.js";
import type { Plan } from "../../model/step.js";

/** Ends when the runtime reports that its network is ready. */
export class NetworkNotReadyError extends Error {
  override readonly name = "NetworkNotReadyError";
  constructor(why: string) {
    super(`network is not ready: ${why}`);
  }
}

/** If a runtime does not respond at all, the calls themselves fail. @throws NetworkNotReadyError */
export function requireNetwork(pod: Pod, plan: Plan, runtime: RuntimeState | undefined): void {
  if (pod.spec.hostNetwork === true || runtime === undefined || !runtime.reachable || runtime.networkReady) return;
  const starts = plan.steps.some(({ kind }) => kind === "create-sandbox" || kind === "start-container");
  if (starts) throw new NetworkNotReadyError(runtime.message);
}
