// nodelet top, also called stats: the usage of the node and its pods, from /stats/summary.

import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table } from "../output/table.js";
import { findPod, podsOf } from "../pods/find.js";

interface Usage {
  cpu?: { usageNanoCores?: number };
  memory?: { workingSetBytes?: number };
}

/** The part of the summary that is shown. */
interface Summary {
  node: Usage & { nodeName: string; fs?: { usedBytes?: number; capacityBytes?: number } };
  pods: (Usage & {
    podRef: { name: string; namespace: string; uid?: string };
    containers?: (Usage & { name: string })[];
    "ephemeral-storage"?: { usedBytes?: number };
  })[];
}

export interface TopOptions {
  namespace?: string;
  containers?: boolean;
}

/** A rate needs two samples; the kubelet takes one with a request, and keeps it for two seconds. */
const BETWEEN_SAMPLES_MS = 2100;

/** The whole summary, for programs; the table for people. */
export async function topCommand(context: Context, named: string | undefined, options: TopOptions): Promise<ExitCode> {
  const { client, clock } = context;
  const only = named === undefined ? undefined : findPod(await podsOf(client), named, options.namespace).metadata.uid;
  let summary = await client.json<Summary>("/stats/summary");
  if (lacksRate(summary)) {
    await clock.sleep(BETWEEN_SAMPLES_MS);
    summary = await client.json<Summary>("/stats/summary");
  }
  const shown =
    only === undefined ? summary : { ...summary, pods: summary.pods.filter(({ podRef }) => podRef.uid === only) };
  await print(context, shown, () => topText(context, shown, options));
  return EXIT.fine;
}

/** Nobody has requested the usage of the node, or of one of the pods, before. */
function lacksRate({ node, pods }: Summary): boolean {
  const lacks = ({ cpu }: Usage): boolean => cpu !== undefined && cpu.usageNanoCores === undefined;
  return lacks(node) || pods.some((pod) => lacks(pod) || (pod.containers ?? []).some(lacks));
}

/** @internal */
export function topText(
  { columns }: Pick<Context, "columns">,
  { node, pods }: Summary,
  { namespace, containers = false }: TopOptions,
): string {
  const rows = pods
    .filter(({ podRef }) => namespace === undefined || podRef.namespace === namespace)
    .sort((a, b) => (b.memory?.workingSetBytes ?? 0) - (a.memory?.workingSetBytes ?? 0))
    .flatMap(({ podRef, "ephemeral-storage": disk, containers: list = [], ...usage }) => {
      const name = `${podRef.namespace}/${podRef.name}`;
      const ofPod = { name, usage, disk: disk?.usedBytes };
      const ofContainers = list.map((one) => ({ name: `  ${one.name}`, usage: one, disk: undefined }));
      return containers ? [ofPod, ...ofContainers] : [ofPod];
    });
  const whole = { name: `node ${node.nodeName}`, usage: node, disk: node.fs?.usedBytes };
  return table(
    [
      { title: "NAME", text: ({ name }) => name },
      { title: "CPU", text: ({ usage }) => cpuText(usage.cpu?.usageNanoCores) },
      { title: "MEMORY", text: ({ usage }) => sizeText(usage.memory?.workingSetBytes) },
      { title: "DISK", text: ({ disk }) => sizeText(disk) },
    ],
    [whole, ...rows],
    columns,
  );
}

function cpuText(nanoCores: number | undefined): string {
  return nanoCores === undefined ? "-" : `${Math.round(nanoCores / 1e6)}m`;
}

function sizeText(amount: number | undefined): string {
  return amount === undefined ? "-" : bytes(amount);
}
