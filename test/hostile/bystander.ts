// The normal pod beside the attacks. Each of its probes writes a time stamp on arrival. So its delay is measured in
// the container, not by the kubelet's own clock.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Fields } from "../fake-api/fake-api.js";
import { testImage } from "../harness/node.js";
import { boundPod } from "../support/cluster-node.js";

export const BYSTANDER = "bystander";
const PERIOD_S = 1;
export const PERIOD_MS = PERIOD_S * 1000;
const KINDS = ["http", "exec", "tcp"] as const;
type ProbeKind = (typeof KINDS)[number];
/** Stamps of the process that probes beside the kubelet (direct-process.ts) have this before the kind. */
const DIRECT = "direct-";

const STAMP = "cut -d' ' -f1 /proc/uptime >> /stamps";
/** A request for this path is one of the direct process. */
const DIRECT_PATH = "/direct";
const HTTP = [
  "own=",
  `while read -r line && [ \${#line} -gt 1 ]; do case "$line" in "GET ${DIRECT_PATH} "*) own=${DIRECT};; esac; done`,
  `${STAMP}/\${own}http`,
  'printf "HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok"',
].join("\n");
const SERVE = [
  "trap 'kill $(jobs -p); exit 0' TERM",
  `cat > /http <<'END'\n${HTTP}\nEND`,
  `echo "${STAMP}/tcp" > /tcp`,
  `echo "${STAMP}/${DIRECT}tcp" > /direct-tcp`,
  "nc -ll -p 8080 -e sh /http &",
  "nc -ll -p 8081 -e sh /tcp &",
  "nc -ll -p 8082 -e sh /direct-tcp &",
  "while true; do echo a line of the normal pod; sleep 1; done",
].join("\n");

/** What the direct process asks of the bystander's first container, for the same work in the container as a probe's. */
export const DIRECT_PROBES = {
  httpPort: 8080,
  httpPath: DIRECT_PATH,
  tcpPort: 8082,
  command: ["sh", "-c", `${STAMP}/${DIRECT}exec`],
} as const;

/** `stamps` is a folder of the test. */
export function bystanderPod(stamps: string): Fields {
  const often = { periodSeconds: PERIOD_S, timeoutSeconds: 5, failureThreshold: 3 };
  const own = { image: testImage(), imagePullPolicy: "Never" };
  const exec = { exec: { command: ["sh", "-c", `${STAMP}/exec`] }, ...often };
  return boundPod(BYSTANDER, "", {
    volumes: [{ name: "stamps", hostPath: { path: stamps } }],
    containers: [
      {
        ...{ name: "app", ...own, command: ["sh", "-c", SERVE] },
        volumeMounts: [{ name: "stamps", mountPath: "/stamps" }],
        readinessProbe: { httpGet: { port: 8080 }, ...often },
        livenessProbe: exec,
      },
      {
        ...{
          name: "tcp",
          ...own,
          command: ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done"],
        },
        readinessProbe: { tcpSocket: { port: 8081 }, ...often },
      },
    ],
  });
}

/** Seconds since the machine's start, as the stamps have them. */
export async function uptime(): Promise<number> {
  return Number((await readFile("/proc/uptime", "utf8")).split(" ")[0]);
}

/** Lateness of one kind of probe, ms: the kubelet's, and that of a probe without the kubelet in the same time. */
export interface Lateness {
  kind: ProbeKind;
  ms: number;
  directMs: number;
}

/** The longest time without a probe between two moments, over the probes' period, by kind. */
export async function latenessByKind(stamps: string, from: number, to: number): Promise<Lateness[]> {
  const late = async (name: string): Promise<number> => {
    const text = await readFile(join(stamps, name), "utf8").catch(() => "");
    return latenessOf(text.split("\n").map(Number), from, to) * 1000;
  };
  return Promise.all(
    KINDS.map(async (kind) => ({ kind, ms: await late(kind), directMs: await late(`${DIRECT}${kind}`) })),
  );
}

/**
 * Returns the longest gap between stamps minus the period, in seconds; a probe that never came is as late as the window
 * is long.
 */
export function latenessOf(stamps: readonly number[], from: number, to: number): number {
  const inside = stamps.filter((at) => at > 0 && at <= to);
  const before = inside.filter((at) => at <= from).at(-1) ?? from;
  let [last, worst] = [before, 0];
  for (const at of [...inside.filter((stamp) => stamp > from), to]) {
    worst = Math.max(worst, at - last - PERIOD_S);
    last = at;
  }
  return worst;
}
