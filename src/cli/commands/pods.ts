// nodelet pods: the pods of the node, one per line.

import type { NodeletStatus } from "../../shared/contracts/nodelet.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { manifestsOf } from "../manifests/find.js";
import { manifestRows, rowAsPod } from "../manifests/rows.js";
import { duration } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table, type Column } from "../output/table.js";
import { podsOf } from "../pods/find.js";
import { brokenFirst } from "../pods/order.js";
import { startsOf, statusStart, type StartOf } from "../pods/starts.js";
import { podState, type StateOf } from "../pods/state.js";
import { podTone, TONE_COLOURS } from "../pods/tone.js";
import type { SeenPod } from "../why/seen-pod.js";
import { seenPods, stateIn } from "../why/seen-pods.js";

export async function podsCommand(context: Context, { namespace }: { namespace?: string }): Promise<ExitCode> {
  const { client } = context;
  const [node, all, known, startOf] = await Promise.all([
    client.json<NodeletStatus>("/nodelet/status"),
    podsOf(client),
    manifestsOf(client),
    startsOf(client),
  ]);
  const seen = await seenPods(client, node, all);
  const stateOf = stateIn(seen);
  const pods = brokenFirst(
    all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
    stateOf,
  );
  const manifests = manifestRows(known, namespace);
  const shown = pods.flatMap(({ metadata: { uid } }) => seen.get(uid) ?? []);
  const list = { kind: "PodList", apiVersion: "v1", items: pods, manifests, states: shown.map(stateRow) };
  const rows = brokenFirst([...pods, ...manifests.map(rowAsPod)], stateOf);
  const isNodeAtFault = shown.some(({ state, explainedAsFine }) => state.fine && !explainedAsFine);
  await print(context, list, () => {
    const text =
      rows.length === 0 && namespace !== undefined
        ? `this node has no pods in the namespace ${namespace}\n`
        : podTable(context, rows, context.clock.now(), startOf, stateOf);
    return isNodeAtFault ? `${text}\nthe node has a problem that concerns these pods: nodelet status\n` : text;
  });
  return manifests.length === 0 && shown.every((one) => one.explainedAsFine) ? EXIT.fine : EXIT.wrong;
}

function stateRow({ pod, state, verdict }: SeenPod): object {
  const { namespace, name } = pod.metadata;
  return { namespace, name, ...state, verdict };
}

/** @internal */
export function podTable(
  { paint, format, columns: width }: Pick<Context, "paint" | "format" | "columns">,
  pods: readonly Pod[],
  now: number,
  startOf: StartOf = statusStart,
  stateOf: StateOf = podState,
): string {
  if (pods.length === 0) return "this node has no pods\n";
  const columns: Column<Pod>[] = [
    { title: "NAMESPACE", text: ({ metadata }) => metadata.namespace },
    { title: "NAME", text: ({ metadata }) => metadata.name },
    { title: "READY", text: (pod) => `${stateOf(pod).ready}/${stateOf(pod).containers}` },
    {
      title: "STATUS",
      text: (pod) => stateOf(pod).word,
      paint: (pod, text) => paint(TONE_COLOURS[podTone(pod, stateOf(pod))], text),
    },
    { title: "RESTARTS", text: (pod) => String(stateOf(pod).restarts) },
    { title: "AGE", text: (pod) => age(startOf(pod), now) },
  ];
  const wide: Column<Pod>[] = [
    { title: "IP", text: ({ status }) => status?.podIP ?? "-" },
    { title: "QOS", text: ({ status }) => status?.qosClass ?? "-" },
    { title: "UID", text: ({ metadata }) => metadata.uid },
  ];
  return table(format === "wide" ? [...columns, ...wide] : columns, pods, width);
}

function age(at: number | undefined, now: number): string {
  return at === undefined ? "-" : duration(now - at);
}
