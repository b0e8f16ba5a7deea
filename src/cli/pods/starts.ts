// Since when a pod is on this node. On a stand-alone node status.startTime begins anew with each start of the kubelet,
// as upstream's; main knows the pod's record and its sandbox.

import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Client } from "../client.js";
import { timeOf } from "../output/amounts.js";
import { ofMain } from "./of-main.js";

export type StartOf = (pod: Pod) => number | undefined;

/** By the status alone. */
export const statusStart: StartOf = ({ status }) => timeOf(status?.startTime);

/** Where main does not respond, or is of an older version, the status counts. */
export async function startsOf(client: Client): Promise<StartOf> {
  const starts = await ofMain(() => client.json<Record<string, number>>("/nodelet/pod-starts"));
  return starts === undefined ? statusStart : (pod) => starts[pod.metadata.uid] ?? statusStart(pod);
}
