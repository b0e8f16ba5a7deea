// Pods on a Docker Engine through the kubelet's CRI server, by turns with bare requests to that Engine and with
// containerd. Measures from the first request to the process in the container, one by one and in bursts. Runs only by
// name: it needs a Docker Engine.

import { rm } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import { startContainerd } from "../../tools/standalone/containerd.js";
import { provideDocker, startDocker } from "../../tools/standalone/docker-engine.js";
import { buildImages, BUSYBOX_IMAGE, importImages, PAUSE_IMAGE } from "../../tools/standalone/images.js";
import { CriFloor } from "../lib/cri-floor.js";
import { markingPod } from "../lib/manifests.js";
import { Marks, MARKING_SCRIPT } from "../lib/marks.js";
import type { Report } from "../lib/page.js";
import { benchFolder } from "../lib/places.js";
import type { Section } from "../lib/section.js";
import { summarize, type Summary } from "../lib/stats.js";

interface DockershimRow {
  size: number;
  rounds: number;
  /** Milliseconds, on the host's network. */
  bare: Summary;
  host: Summary;
  /** Milliseconds, in the same CNI network. */
  cni: Summary;
  containerd: Summary;
  /** p50 through CRI over p50 of the bare requests. */
  ratio: number;
}

const CACHE = fileURLToPath(new URL("../../../.cache", import.meta.url));
const ROUNDS = [
  [1, 15],
  [10, 4],
] as const;

export const dockershimSection: Section<DockershimRow[]> = {
  name: "dockershim",
  async run() {
    const base = benchFolder("docker");
    await provideDocker(CACHE);
    const archive = await buildImages(join(base, "images"));
    const docker = await startDocker({ dir: join(base, "docker"), archive });
    const containerd = await startContainerd({ dir: join(base, "containerd") });
    const marks = new Marks(join(base, "marks"));
    const files = join(base, "files");
    const noKubelet = (): undefined => undefined;
    const onDocker = new CriFloor(docker.endpoint, `${docker.cgroup}/floor`, files, marks, noKubelet);
    const onContainerd = new CriFloor(containerd.endpoint, `${containerd.cgroup}/floor`, files, marks, noKubelet);
    const bare = new BareEngine(docker.dockerEndpoint, marks);
    try {
      await importImages(containerd.socket, archive);
      await marks.open();
      const rows: DockershimRow[] = [];
      let serial = 0;
      const names = (size: number): string[] => Array.from({ length: size }, () => `d${++serial}`);
      for (const [size, rounds] of ROUNDS) {
        const took = { bare: [] as number[], host: [] as number[], cni: [] as number[], containerd: [] as number[] };
        // The first round is a warm-up.
        for (let round = 0; round <= rounds; round++) {
          const one = {
            bare: await bare.start(names(size)),
            host: await onDocker.startPods(
              names(size).map((name) => onHostNetwork(markingPod(name, marks.directory) as Pod)),
              (pod) => [`${pod.metadata.name}.start.0`],
            ),
            cni: await onDocker.start(names(size)),
            containerd: await onContainerd.start(names(size)),
          };
          await Promise.all([bare.clear(), onDocker.clear(), onContainerd.clear()]);
          if (round > 0) for (const way of WAYS) took[way].push(...one[way]);
        }
        const of = Object.fromEntries(WAYS.map((way) => [way, summarize(took[way])])) as Record<Way, Summary>;
        rows.push({ size, rounds, ...of, ratio: Math.round((of.host.p50 / of.bare.p50) * 100) / 100 });
        console.log(`${size} at once: done`);
      }
      return rows;
    } finally {
      marks.close();
      onDocker.close();
      onContainerd.close();
      await docker.stop();
      await containerd.stop();
      await rm(base, { recursive: true, force: true });
    }
  },
  report: (rows) => [dockershimReport(rows)],
};

const WAYS = ["bare", "host", "cni", "containerd"] as const;
type Way = (typeof WAYS)[number];

function dockershimReport(rows: readonly DockershimRow[]): Report {
  return {
    title: "First request → process in the container: Docker Engine and containerd (ms)",
    head: [
      "pods",
      "bare Engine p50",
      "p99",
      "dockershim p50",
      "p99",
      "× bare",
      "dockershim with CNI p50",
      "containerd with CNI p50",
    ],
    rows: rows.map(({ size, bare, host, cni, containerd, ratio }) => [
      ...[size, bare.p50, bare.p99, host.p50, host.p99],
      ...[ratio, cni.p50, containerd.p50],
    ]),
  };
}

function onHostNetwork(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, hostNetwork: true } };
}

/**
 * The least that a pod costs at the Engine: two containers created and started, the second in the first one's
 * namespaces.
 */
class BareEngine {
  private readonly ids: string[] = [];

  constructor(
    private readonly endpoint: string,
    private readonly marks: Marks,
  ) {}

  start(names: readonly string[]): Promise<number[]> {
    const startedAt = performance.now();
    return Promise.all(
      names.map(async (name) => {
        const pause = await this.run({ Image: PAUSE_IMAGE, HostConfig: { NetworkMode: "host", IpcMode: "shareable" } });
        await this.run({
          Image: BUSYBOX_IMAGE,
          Entrypoint: ["sh", "-c", MARKING_SCRIPT],
          Env: [`N=${name}`],
          HostConfig: {
            ...{ NetworkMode: `container:${pause}`, IpcMode: `container:${pause}`, UTSMode: "" },
            Binds: [`${this.marks.directory}:/marks`],
          },
        });
        return (await this.marks.at(`${name}.start.0`)) - startedAt;
      }),
    );
  }

  async clear(): Promise<void> {
    await Promise.all(this.ids.splice(0).map((id) => this.ask("DELETE", `/containers/${id}?force=true&v=true`)));
  }

  private async run(container: object): Promise<string> {
    const { Id } = JSON.parse(await this.ask("POST", "/containers/create", container)) as { Id: string };
    this.ids.push(Id);
    await this.ask("POST", `/containers/${Id}/start`);
    return Id;
  }

  private ask(method: string, path: string, body?: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers =
        text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      const asked = request(
        { socketPath: this.endpoint.slice("unix://".length), path: `/v1.41${path}`, method, headers },
        (response) => {
          let answer = "";
          response.setEncoding("utf8").on("data", (part: string) => (answer += part));
          response.on("end", () => {
            if ((response.statusCode ?? 500) < 300) resolve(answer);
            else reject(new Error(`${method} ${path}: ${answer}`));
          });
        },
      );
      asked.on("error", reject);
      asked.end(text);
    });
  }
}
