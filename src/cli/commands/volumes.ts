// nodelet volumes: the volumes of the node's pods, their plugin and state, and how full they are.

import { mapAtMost } from "../../shared/base/turns/map-at-most.js";
import type { PodFacts, VolumeFacts } from "../../shared/contracts/nodelet.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { bytes, duration, until } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table, type Column } from "../output/table.js";
import { findPod, fullName, podsOf } from "../pods/find.js";
import { podPath } from "../pods/pod-paths.js";

/** Questions to main at once. */
const AT_ONCE = 8;

interface PodVolume extends VolumeFacts {
  pod: string;
  usedBytes?: number | undefined;
  capacityBytes?: number | undefined;
}

interface VolumeUsage {
  pods: {
    podRef: { namespace: string; name: string };
    volume?: { name: string; usedBytes?: number; capacityBytes?: number }[];
  }[];
}

export async function volumesCommand(
  context: Context,
  named: string | undefined,
  { namespace }: { namespace?: string },
): Promise<ExitCode> {
  const { client, clock } = context;
  const [all, usage] = await Promise.all([podsOf(client), client.json<VolumeUsage>("/stats/summary")]);
  const ofSpace = all.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
  const pods = named === undefined ? ofSpace : [findPod(all, named, namespace)];
  const volumes: PodVolume[] = [];
  await mapAtMost(AT_ONCE, pods, async (pod) => {
    const facts = await client.find<PodFacts>(`/nodelet/pods/${podPath(pod)}`);
    const measured = usage.pods.find(
      ({ podRef }) => podRef.name === pod.metadata.name && podRef.namespace === pod.metadata.namespace,
    );
    for (const volume of facts?.volumes ?? []) {
      const { usedBytes, capacityBytes } = measured?.volume?.find(({ name }) => name === volume.name) ?? {};
      volumes.push({
        pod: fullName(pod),
        ...volume,
        usedBytes,
        capacityBytes,
      });
    }
  });
  volumes.sort((a, b) => (`${a.pod} ${a.name}` < `${b.pod} ${b.name}` ? -1 : 1));
  await print(context, volumes, () => volumesText(context, volumes, clock.now(), named));
  return volumes.some(({ lastError }) => lastError !== undefined) ? EXIT.wrong : EXIT.fine;
}

/** @internal */
export function volumesText(
  { columns: width, paint, format }: Pick<Context, "columns" | "paint" | "format">,
  volumes: readonly PodVolume[],
  now: number,
  named?: string,
): string {
  if (volumes.length === 0) return named === undefined ? "no pod has volumes\n" : `${named} has no volumes\n`;
  const columns: Column<PodVolume>[] = [
    { title: "POD", text: ({ pod }) => pod },
    { title: "VOLUME", text: ({ name }) => name },
    { title: "PLUGIN", text: ({ plugin }) => plugin },
    {
      title: "STATE",
      below: true,
      text: (volume) => stateOf(volume, now),
      paint: ({ mounted, lastError }, text) =>
        lastError === undefined ? (mounted ? paint("green", text) : text) : paint("red", text),
    },
    { title: "USED", text: ({ usedBytes }) => (usedBytes === undefined ? "-" : bytes(usedBytes)) },
  ];
  const wide: Column<PodVolume>[] = [
    { title: "CAPACITY", text: ({ capacityBytes }) => (capacityBytes === undefined ? "-" : bytes(capacityBytes)) },
  ];
  return table(format === "wide" ? [...columns, ...wide] : columns, volumes, width);
}

function stateOf({ mounted, lastError, runningSince, nextTryAt }: VolumeFacts, now: number): string {
  if (lastError !== undefined)
    return `${lastError}${nextTryAt === undefined ? "" : `; the kubelet tries again ${until(nextTryAt, now)}`}`;
  if (runningSince !== undefined)
    return `${mounted ? "set up, an operation runs" : "being set up"} for ${duration(now - runningSince)}`;
  return mounted ? "set up" : "not set up yet";
}
