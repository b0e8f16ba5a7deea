// CPU and memory of each pod and its containers, from one reading of the cgroups. Pure.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { USAGE_KEY, type PodUsage, type Usage } from "../../../shared/contracts/status-page.js";
import type { NodeReadings, Reading } from "../stats/readings.js";
import type { Entries } from "./feed.js";

export function usageEntries({ pods }: Pick<NodeReadings, "pods">): Entries {
  return new Map(
    pods.map(({ place, reading, containers }) => {
      const usage: PodUsage = {
        ...usageOf(reading),
        containers: containers.map((container) => ({ name: container.place.name, ...usageOf(container.reading) })),
      };
      return [`${USAGE_KEY}${place.pod.metadata.uid}`, JSON.stringify(usage)];
    }),
  );
}

/** A rate needs two readings. */
function usageOf({ cpu, memory }: Reading): Usage {
  return omitUndefined({
    cpu: cpu?.rate !== undefined ? Math.round(cpu.rate / 1e6) / 1000 : undefined,
    memory: memory?.workingSet,
  });
}
