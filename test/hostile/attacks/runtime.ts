// A runtime with wrong data about everything except the normal pod: the attack's pods, unknown pods, images, disks.
// Lies about the normal pod would justify a restart of it.

import {
  ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  type Container,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { waitFor } from "../../harness/node.js";
import type { LyingRuntime } from "../../support/lying-runtime.js";
import { size, type Attack } from "../attack.js";
import type { HostileBench } from "../bench.js";
import { EndlessStreams } from "../endless-streams.js";
import { ExecVisitors } from "../exec-visitors.js";
import { each, hostile, REST, tenantAttack, tenantPod, type TenantAttack } from "./tenant-kit.js";

const SECONDS = size(5, 25);
/** The year 2200, in nanoseconds. */
const FUTURE = 7_258_118_400_000_000_000n;
const LOWEST = -(2n ** 63n);
const MIB = 1024 * 1024;
const ASKED_MS = 60_000;
const UNKNOWN_STATE = JSON.parse("99") as ContainerState;
const EVENT_TYPES = [
  ContainerEventType.CONTAINER_CREATED_EVENT,
  ContainerEventType.CONTAINER_STARTED_EVENT,
  ContainerEventType.CONTAINER_STOPPED_EVENT,
  ContainerEventType.CONTAINER_DELETED_EVENT,
] as const;
const HANGS = (): Promise<never> => new Promise(() => undefined);

/** Ends what a lie needs besides the proxy. */
type EndOfLie = () => Promise<void>;
type TellLie = (proxy: LyingRuntime, bench: HostileBench) => Promise<EndOfLie> | undefined;

/** Pods of a tenant run meanwhile, so that the lies are about something. */
function lying(runtime: () => LyingRuntime, name: string, lie: TellLie, short?: true): Attack {
  const often = { exec: { command: ["true"] }, periodSeconds: 1 };
  const pods: TenantAttack["pods"] = (bench) =>
    each(size(2, 5), (pod) => tenantPod(bench, pod, [hostile("app", REST, { readinessProbe: often })]));
  const attack = tenantAttack({ name, seconds: SECONDS, effect: { runs: 2 }, pods });
  return {
    ...attack,
    family: "runtime",
    ...(short === undefined ? {} : { short }),
    async start(bench) {
      const proxy = runtime();
      const before = proxy.liesSent;
      const end = await lie(proxy, bench);
      const running = await attack.start(bench);
      return {
        async stop() {
          const lies = (): number => proxy.liesSent - before;
          try {
            // Some calls come once in a while only.
            await waitFor(() => lies() > 0, { what: "a call to lie to", timeoutMs: ASKED_MS });
          } finally {
            proxy.clear();
            await end?.();
            await running.stop();
          }
          return `${lies()} wrong responses`;
        },
      };
    },
  };
}

const isEvil = (labels: Readonly<Record<string, string>>): boolean =>
  labels["io.kubernetes.pod.name"]?.startsWith("evil-") === true;

/** Containers of pods that never were; ids as a program with an error might make them. */
function inventions(like: readonly Container[], count: number): Container[] {
  const [model] = like;
  if (model === undefined) return [];
  const ids = ["", "../../../etc", "a".repeat(4096), "\u0000", model.id.slice(0, 12)];
  return Array.from({ length: count }, (_, index) => ({
    ...model,
    id: ids[index] ?? index.toString(16).padStart(64, "0"),
    podSandboxId: ids[index] ?? index.toString(16).padStart(64, "f"),
    createdAt: index % 2 === 0 ? FUTURE : LOWEST,
    state: index % 3 === 0 ? UNKNOWN_STATE : ContainerState.CONTAINER_RUNNING,
    labels: {
      ...model.labels,
      "io.kubernetes.pod.name": `ghost-${index % 500}`,
      "io.kubernetes.pod.uid": `ghost-${index % 500}`,
    },
  }));
}

export function runtimeAttacks(runtime: () => LyingRuntime): readonly Attack[] {
  const attack = (name: string, lie: TellLie, short?: true): Attack => lying(runtime, name, lie, short);
  return [
    attack("lists of 20,000 containers that do not exist", (proxy) => {
      const count = size(5_000, 20_000);
      proxy.lie("listContainers", (answer, { filter }) => {
        // A list of one pod's containers is unchanged, because it may be about the normal pod.
        const isWhole = Object.keys(filter?.labelSelector ?? {}).length === 0;
        return { containers: [...answer.containers, ...(isWhole ? inventions(answer.containers, count) : [])] };
      });
    }),
    attack(
      "times in the future and unknown container states",
      (proxy) => {
        proxy.lie("listContainers", ({ containers }) => ({
          containers: containers.map((one) =>
            isEvil(one.labels) ? { ...one, state: UNKNOWN_STATE, createdAt: FUTURE } : one,
          ),
        }));
        proxy.lie("containerStatus", (answer) => {
          const { status } = answer;
          if (status === undefined || !isEvil(status.labels)) return answer;
          const times = { createdAt: FUTURE, startedAt: LOWEST, finishedAt: FUTURE };
          return { ...answer, status: { ...status, ...times, state: UNKNOWN_STATE, exitCode: -(2 ** 31) } };
        });
      },
      true,
    ),
    attack("the status of another container, and texts of several megabytes", (proxy) => {
      const text = "x".repeat(size(2, 8) * MIB);
      proxy.lie("containerStatus", (answer, { containerId }) => {
        const { status } = answer;
        if (status === undefined || !isEvil(status.labels)) return answer;
        return {
          ...answer,
          status: { ...status, id: containerId.slice(1), message: text, reason: text },
        };
      });
      proxy.lie("execSync", (answer) => ({ ...answer, stdout: Buffer.alloc(size(4, 15) * MIB, "y") }));
    }),
    attack("disk and image sizes that are negative or too large", (proxy) => {
      const far = { value: 2n ** 64n - 1n };
      proxy.lie("imageFsInfo", ({ imageFilesystems, containerFilesystems }) => {
        const wrong = (list: typeof imageFilesystems) =>
          list.map((one) => ({ ...one, timestamp: LOWEST, usedBytes: far, inodesUsed: far }));
        return { imageFilesystems: wrong(imageFilesystems), containerFilesystems: wrong(containerFilesystems) };
      });
      proxy.lie("listImages", ({ images }) => ({
        images: images.concat(
          Array.from({ length: size(2_000, 20_000) }, (_, at) => ({
            ...images[0]!,
            ...{ id: `sha256:${at}`, repoTags: ["", ":", `a/${at}:\n`], repoDigests: ["@"], size: 2n ** 64n - 1n },
          })),
        ),
      }));
      proxy.lie("listContainerStats", ({ stats }) => ({
        stats: stats.map((one) => ({
          ...one,
          cpu: { timestamp: FUTURE, usageCoreNanoSeconds: far, usageNanoCores: far },
        })),
      }));
    }),
    attack("names, conditions, handlers, labels and image names of megabytes", (proxy) => {
      const text = "x".repeat(size(1, 4) * MIB);
      const labels = Object.fromEntries(Array.from({ length: size(10_000, 100_000) }, (_, at) => [`l/${at}`, "v"]));
      proxy.lie("version", (answer) => ({ ...answer, runtimeName: text, runtimeVersion: text }));
      proxy.lie("status", (answer) => ({
        ...answer,
        status: {
          conditions: (answer.status?.conditions ?? []).map((one) => ({ ...one, reason: text, message: text })),
        },
        runtimeHandlers: [
          ...answer.runtimeHandlers,
          ...Object.keys(labels).map((name) => ({ name, features: undefined })),
        ],
      }));
      proxy.lie("containerStatus", (answer) => {
        const { status } = answer;
        if (status === undefined || !isEvil(status.labels)) return answer;
        const texts = { message: text, reason: text, imageRef: text, imageId: text };
        return { ...answer, status: { ...status, ...texts, annotations: { ...labels, ...status.annotations } } };
      });
      proxy.lie("listImages", ({ images }) => ({
        images: images.map((one) => ({ ...one, repoTags: [text, ...one.repoTags], repoDigests: [text] })),
      }));
    }),
    attack("endless event streams with messages of a megabyte", (proxy) => {
      const annotations = { text: "x".repeat(size(MIB / 4, MIB)) };
      proxy.flood("getContainerEvents", (index) => {
        const uid = `ghost-${index % 1_000}`;
        const labels = { "io.kubernetes.pod.uid": uid, "io.kubernetes.pod.name": uid };
        return ContainerEventResponse.fromPartial({
          containerId: index.toString(16).padStart(64, "0"),
          containerEventType: EVENT_TYPES[index % EVENT_TYPES.length]!,
          createdAt: index % 2 === 0 ? FUTURE : LOWEST,
          podSandboxStatus: { id: uid, labels, ...(index % 10 === 0 ? { annotations } : {}) },
        });
      });
    }),
    attack("exec streams that never respond or never end", async (proxy, bench) => {
      const streams = await EndlessStreams.start();
      proxy.lie("exec", (answer, { cmd }) => (cmd[0] === "endless" ? { url: streams.url } : answer));
      const visitors = new ExecVisitors(bench, size(3, 12));
      return async () => {
        await visitors.stop();
        await streams.stop();
        if (streams.connections === 0) throw new Error("no exec reached the endless streams");
      };
    }),
    attack("calls that never return", (proxy) => {
      for (const verb of [
        "imageFsInfo",
        "listImages",
        "removeContainer",
        "removePodSandbox",
        "listContainerStats",
      ] as const) {
        proxy.lie(verb, HANGS);
      }
      proxy.lie("containerStatus", (answer) => (isEvil(answer.status?.labels ?? {}) ? HANGS() : answer));
    }),
  ];
}
