// nodelet pods: the pods of the node, one per line.
import type { Pod } from "../../shared/api/pod.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { duration } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table, type Column } from "../output/table.js";
import { manifestRows, rowAsPod } from "../manifests/rows.js";
import { manifestsOf } from "../manifests/find.js";
import { podsOf } from "../pods/find.js";
import { brokenFirst } from "../pods/order.js";
import { startsOf, statusStart, type StartOf } from "../pods/starts.js";
import { podState } from "../pods/state.js";
import { podTone, TONE_COLOURS } from "../pods/tone.js";

export async function podsCommand(context: Context, { namespace }: { namespace?: string }): Promise<ExitCode> {
  const { client } = context;
  const [all, known, startOf] = await Promise.all([podsOf(client), manifestsOf(client), startsOf(client)]);
  const pods = brokenFirst(all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace));
  const manifests = manifestRows(known, namespace);
  const list = { kind: "PodList", apiVersion: "v1", items: pods, manifests };
  const rows = brokenFirst([...pods, ...manifests.map(rowAsPod)]);
  await print(context, list, () => podTable(context, rows, context.clock.now(), startOf));
  return manifests.length === 0 && pods.every((pod) => podState(pod).fine) ? EXIT.fine : EXIT.wrong;
}

/** @internal */
export function podTable(
  { paint, format, columns: width }: Pick<Context, "paint" | "format" | "columns">,
  pods: readonly Pod[],
  now: number,
  startOf: StartOf = statusStart,
): string {
  if (pods.length === 0) return "this node has no pods\n";
  const columns: Column<Pod>[] = [
    { title: "NAMESPACE", text: ({ metadata }) => metadata.namespace },
    { title: "NAME", text: ({ metadata }) => metadata.name },
    { title: "READY", text: (pod) => `${podState(pod).ready}/${podState(pod).containers}` },
    {
      title: "STATUS",
      text: (pod) => podState(pod).word,
      paint: (pod, text) => paint(TONE_COLOURS[podTone(pod)], text),
    },
    { title: "RESTARTS", text: (pod) => String(podState(pod).restarts) },
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
