// A tenant's files: what a container plants where the kubelet reads, measures or mounts.

import { join } from "node:path";
import type { Fields } from "../../fake-api/fake-api.js";
import { canHang, HungMounts } from "../../support/hung-mounts.js";
import { size, type Attack } from "../attack.js";
import type { HostileBench } from "../bench.js";
import { each, hostile, REST, tenantAttack, tenantPod } from "./tenant-kit.js";

const VOLUME = { volumes: [{ name: "v", emptyDir: {} }] };
const AT_V = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
const LAST_WORDS = { volumeMounts: [{ name: "v", mountPath: "/dev/termination-log", subPath: "log" }] };

/** Four containers in each pod end, with a file as their termination message that an init container made. */
function plantedMessages(name: string, plant: string, short?: true): ReturnType<typeof tenantAttack> {
  return tenantAttack({
    ...{ name, seconds: size(8, 20), effect: { runs: 10 } },
    ...(short === undefined ? {} : { short }),
    pods: (bench) =>
      each(size(3, 8), (pod) =>
        tenantPod(
          bench,
          pod,
          each(4, (one) => hostile(one, "exit 1", LAST_WORDS), "c"),
          {
            ...VOLUME,
            initContainers: [hostile("plant", plant, AT_V)],
          },
        ),
      ),
  });
}

const STORM = [
  "cd /v; mkdir -p a b; i=0",
  "trap 'exit 0' TERM",
  "while true; do",
  "  ln -sfn /etc x; ln -sfn / a/up; ln -sfn ../../../../.. b/up; ln -sfn x log; rm -f x",
  "  mkdir -p x/log; mv x y$((i % 50)) 2>/dev/null; rm -rf y$((i % 50)); i=$((i + 1))",
  "done",
].join("\n");

const linkStorm = tenantAttack({
  ...{ name: "subPath volumes whose symbolic links change", seconds: size(8, 20), effect: { runs: 2 } },
  pods: (bench) =>
    each(size(2, 6), (pod) => {
      const below: Fields = { volumeMounts: [{ name: "v", mountPath: "/in", subPath: "x/log" }] };
      return tenantPod(bench, pod, [hostile("storm", STORM, AT_V), hostile("below", "ls /in; sleep 1", below)], VOLUME);
    }),
});

function manyFiles(files: number): string {
  return [
    "trap 'exit 0' TERM",
    "mkdir -p /v/deep && cd /v/deep && i=0; while [ $i -lt 500 ]; do mkdir d && cd d; i=$((i + 1)); done",
    `cd /v && mkdir many && cd many && seq 1 ${files} | xargs -n 5000 touch`,
    `: > /evidence/$HOSTNAME.whole`,
    REST,
  ].join("\n");
}

const crowded = tenantAttack({
  ...{ name: "an emptyDir volume with many files and deep folders", seconds: size(10, 60) },
  pods: (bench) => {
    const resources = { requests: { cpu: "1m" }, limits: { cpu: "1" } };
    const writer = (files: number): Fields[] => [hostile("app", manyFiles(files), { ...AT_V, resources })];
    return each(size(1, 2), (pod) => tenantPod(bench, pod, writer(size(50_000, 500_000)), VOLUME));
  },
  // The first run, and the mark that all files are there.
  effect: { runs: size(2, 4) },
});

/** Their mounts are killed for good only at the end: until then every call on them hangs. */
function hungVolumes(): Attack {
  const mounts = new HungMounts();
  const count = size(6, 20);
  const pathOf = ({ dir }: HostileBench, index: number): string => join(dir, "hung", String(index));
  return tenantAttack({
    ...{ name: "hostPath volumes on a mount that never responds", seconds: size(10, 30) },
    async prepare(bench) {
      for (let index = 0; index < count; index++) await mounts.hang(pathOf(bench, index));
    },
    pods: (bench) =>
      each(count, (pod, index) => {
        const volumes = [{ name: "v", hostPath: { path: pathOf(bench, index), type: "Directory" } }];
        return tenantPod(bench, pod, [hostile("app", REST, AT_V)], { volumes });
      }),
    effect: {
      containers: count,
      what: "containers that wait for their volume",
      holds: ({ state }) => "waiting" in state,
    },
    beforeEnd: () => mounts.releaseAll(),
  });
}

export const TENANT_FILES = [
  plantedMessages("pods with a FIFO as their termination log", "mkfifo /v/log", true),
  plantedMessages("pods with a device node as their termination log", "mknod /v/log c 1 5"),
  plantedMessages("pods with a terminal as their termination log", "mknod /v/log c 5 0"),
  linkStorm,
  crowded,
  ...(canHang ? [hungVolumes()] : []),
];
