// Pods of a hostile tenant. They are created through the API server, have small requests, and are removed at the end
// of the attack. Their containers leave a line per run in a folder of the bench, so an attack that fell flat shows.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Fields } from "../../fake-api/fake-api.js";
import { testImage, waitFor } from "../../harness/node.js";
import { boundPod, statusOf, type SeenContainer } from "../../support/cluster-node.js";
import { size, type Attack } from "../attack.js";
import type { HostileBench } from "../bench.js";

/**
 * For pods of an attack to do what they are for, and to go. A million files of a full-size attack take more than a
 * minute.
 */
const EFFECT_MS = size(60_000, 180_000);
const GONE_MS = 180_000;
/** In the place of a container's name: the evidence of one connection to a server of the attack. */
export const CONNECTION = "c";
/** Ends at once when asked to. */
export const REST = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";

export interface TenantAttack {
  name: string;
  seconds: number;
  short?: true;
  /** Makes what the pods refer to. */
  prepare?: (bench: HostileBench) => Promise<void>;
  pods: (bench: HostileBench) => Fields[];
  /** Evidence that the attack works: so many runs of containers, or so many containers in such a state. */
  effect: { runs: number } | { containers: number; what: string; holds: (container: SeenContainer) => boolean };
  /** Before the pods are deleted. */
  beforeEnd?: (bench: HostileBench, names: readonly string[]) => Promise<void>;
}

/** A container that runs a script under a share of a processor. */
export function hostile(name: string, script: string, { volumeMounts = [], ...fields }: Fields = {}): Fields {
  return {
    ...{ name, image: testImage(), imagePullPolicy: "Never" },
    command: ["sh", "-c", `: > /evidence/$HOSTNAME.${name}.$(cut -d' ' -f1 /proc/uptime)\n${script}`],
    resources: { requests: { cpu: "1m" }, limits: { cpu: "100m", memory: "256Mi" } },
    volumeMounts: [{ name: "evidence", mountPath: "/evidence" }, ...(volumeMounts as Fields[])],
    ...fields,
  };
}

export function tenantPod(bench: HostileBench, name: string, containers: Fields[], spec: Fields = {}): Fields {
  const { volumes = [], ...rest } = spec;
  const evidence = { name: "evidence", hostPath: { path: bench.evidence } };
  return boundPod(name, "", {
    ...{ containers, terminationGracePeriodSeconds: 2 },
    volumes: [evidence, ...(volumes as Fields[])],
    ...rest,
  });
}

/** `count` of them, named by their place. */
export function each<T>(count: number, make: (name: string, index: number) => T, stem = "evil"): T[] {
  return Array.from({ length: count }, (_, index) => make(`${stem}-${index}`, index));
}

export function tenantAttack({ name, seconds, short, prepare, pods, effect, beforeEnd }: TenantAttack): Attack {
  return {
    ...{ name, family: "tenant", seconds },
    ...(short === undefined ? {} : { short }),
    async start(bench) {
      await prepare?.(bench);
      const made = pods(bench) as { metadata: { name: string } }[];
      const names = made.map(({ metadata }) => metadata.name);
      for (const file of await readdir(bench.evidence)) await rm(join(bench.evidence, file));
      for (const pod of made) bench.fixture.store.put("pods", pod);
      return {
        async stop() {
          let did = "";
          try {
            await waitFor(
              async () => {
                const { text, isEnough } = await effectOf(bench, names, effect);
                did = text;
                return isEnough;
              },
              { what: "the attack to take effect", timeoutMs: EFFECT_MS, lastSeen: () => did },
            );
          } finally {
            await beforeEnd?.(bench, names);
            await remove(bench, names);
          }
          return `${names.length} pods, ${did}`;
        },
      };
    },
  };
}

async function effectOf(
  bench: HostileBench,
  names: readonly string[],
  effect: TenantAttack["effect"],
): Promise<{ text: string; isEnough: boolean }> {
  if ("runs" in effect) {
    const files = await readdir(bench.evidence);
    const all = files.filter((file) => names.some((pod) => file.startsWith(`${pod}.`))).length;
    const connections = files.filter((file) => names.some((pod) => file.startsWith(`${pod}.${CONNECTION}.`))).length;
    const text = connections === 0 ? "" : `, ${connections} connections to their servers`;
    return { text: `${all - connections} container runs${text}`, isEnough: all >= effect.runs };
  }
  const containers = names.flatMap((pod) => containersOf(bench, pod)).filter(effect.holds);
  return { text: `${containers.length} ${effect.what}`, isEnough: containers.length >= effect.containers };
}

function containersOf({ fixture }: HostileBench, pod: string): SeenContainer[] {
  return statusOf(fixture.store.get("pods", "default", pod)).containerStatuses ?? [];
}

async function remove({ api, fixture }: HostileBench, names: readonly string[]): Promise<void> {
  const left = (): string[] => names.filter((name) => fixture.store.get("pods", "default", name) !== undefined);
  for (const name of left()) await api.delete("pods", "default", name, { gracePeriodSeconds: 1 });
  try {
    await waitFor(() => left().length === 0, {
      what: "the attack's pods to go",
      timeoutMs: GONE_MS,
      intervalMs: 100,
      lastSeen: () => left().join(", "),
    });
  } finally {
    for (const name of left()) fixture.store.remove("pods", "default", name);
  }
}
