// nodelet stats and nodelet top: the usage of the node and its pods, from /stats/summary.
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { bytes } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table } from "../output/table.js";

interface Usage {
  cpu?: { usageNanoCores?: number };
  memory?: { workingSetBytes?: number };
}

/** The part of the summary that is shown. */
interface Summary {
  node: Usage & { nodeName: string; fs?: { usedBytes?: number; capacityBytes?: number } };
  pods: (Usage & {
    podRef: { name: string; namespace: string };
    containers?: (Usage & { name: string })[];
    "ephemeral-storage"?: { usedBytes?: number };
  })[];
}

export interface TopOptions {
  namespace?: string;
  containers?: boolean;
}

/** The whole summary, for programs; the table of `top` for people. */
export async function statsCommand(context: Context, options: TopOptions): Promise<ExitCode> {
  const summary = await context.client.json<Summary>("/stats/summary");
  await print(context, summary, () => topText(context, summary, options));
  return EXIT.fine;
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
