// A churn of pods of mixed shapes: seeded random starts, updates, removals, exits and changes of probe results. It
// also has the expected state of each pod in /pods after the last change.
// Invariant: a pod gets no order before it has settled after its last change. So each order has one outcome, for any
// restart of the kubelet meanwhile. Only removal and update may reach a pod at any time.

import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiContainerStatus } from "../../src/shared/kubernetes/api/pod-status.js";
import type { Container, PodSpec, Probe } from "../../src/shared/kubernetes/api/pod.js";
import { run } from "../../tools/standalone/exec.js";
import type { PodView } from "../../tools/standalone/pods.js";
import { PATIENCE } from "../../tools/standalone/wait.js";

const START_ERROR = "StartError";
/** containerd's exit code of a container whose shim it could not ask, for example after its own death under load. */
const UNKNOWN_EXIT = 255;

/** Commands to a pod through files: exit with a status, fail its liveness probe, turn its readiness. */
type Deed = "exit" | "sicken" | "turn";

interface Shape {
  deeds: readonly Deed[];
  spec(key: string): Partial<PodSpec> & Pick<PodSpec, "containers">;
  /** Keeps its UID over updates: they change containers in place. */
  keepsUid?: true;
}

/** One version of one pod. */
export interface Instance {
  readonly name: string;
  readonly version: number;
  readonly shape: Shape;
  /** Part of the names of the files that carry the pod's commands. */
  readonly key: string;
  readonly uid: string | undefined;
  readonly image: string;
  /** Restarts of `app` that were ordered: it has at least as many. */
  restarts: number;
  /** Status of the last exit that was ordered, while the container comes back after it. */
  lastExit: number | undefined;
  /** Status that it ended with for good. */
  over: number | undefined;
  ready: boolean;
  /** Nothing has happened to it since it was last seen as it should be. */
  calm: boolean;
}

export interface ChurnOptions {
  /** Puts a manifest in place, or takes it away. */
  put(name: string, pod: object): Promise<void>;
  remove(name: string): Promise<void>;
  /** Names of one image: {@link aliases}. */
  images: readonly [string, ...string[]];
  /** Folder of the host that all pods see as /ctl. */
  ctl: string;
  nodeName: string;
  random: () => number;
  slots: number;
  /** The runtime is killed meanwhile: an exit may be lost in it. */
  runtimeDies?: true;
}

export class Churn {
  readonly instances = new Map<string, Instance>();
  private serial = 0;
  private readonly imagesUsed = new Map<string, number>();

  constructor(private readonly options: ChurnOptions) {}

  get names(): string[] {
    return Array.from({ length: this.options.slots }, (_, slot) => `k${slot}`);
  }

  /** Does one random thing to one random pod. */
  async step(): Promise<void> {
    const { random } = this.options;
    const name = this.names[Math.floor(random() * this.options.slots)] ?? "k0";
    const instance = this.instances.get(name);
    const [die, which] = [random(), random()];
    if (instance === undefined) return this.put(name);
    if (die < 0.2) return this.remove(name);
    if (die < 0.4) return this.put(name);
    const deeds = instance.calm && instance.over === undefined ? instance.shape.deeds : [];
    const deed = deeds[Math.floor(which * deeds.length)];
    return deed === undefined ? this.put(name) : this.order(instance, deed, which);
  }

  /** A new pod, or a new version of the one there is. */
  async put(name: string): Promise<void> {
    const slot = this.names.indexOf(name);
    const shape = SHAPES[slot % SHAPES.length];
    if (shape === undefined) throw new Error(`no shape for ${name}`);
    const old = this.instances.get(name);
    const version = ++this.serial;
    const instance: Instance = {
      ...{ name, version, shape, key: `${name}.${version}` },
      uid: shape.keepsUid === true ? slot.toString(16).padStart(32, "f") : undefined,
      // A running container is replaced in place when its image has another name.
      image: shape.keepsUid === true ? this.nextImage(name) : this.options.images[0],
      ...{ restarts: 0, lastExit: undefined, over: undefined, calm: false },
      ready: !shape.deeds.includes("turn"),
    };
    this.instances.set(name, instance);
    await this.options.put(name, this.manifest(instance));
    if (old !== undefined) await this.forget(old);
  }

  async remove(name: string): Promise<void> {
    const old = this.instances.get(name);
    if (!this.instances.delete(name)) return;
    await this.options.remove(name);
    if (old !== undefined) await this.forget(old);
  }

  /** "" or the first thing about the pods that is not as it should be. */
  problem(pods: readonly PodView[]): string {
    const [first] = [...this.instances.values()].flatMap((instance) => {
      const wrong = this.wrong(instance, this.view(pods, instance.name));
      return wrong === "" ? [] : [`${instance.name} (${instance.key}) ${wrong}`];
    });
    if (first !== undefined) return first;
    return pods.length === this.instances.size ? "" : "there are pods that nobody wants";
  }

  view(pods: readonly PodView[], name: string): PodView | undefined {
    return pods.find(({ metadata }) => metadata.name === `${name}-${this.options.nodeName}`);
  }

  /** To be called when there was no problem. */
  settled(): void {
    for (const instance of this.instances.values()) instance.calm = true;
  }

  private async order(instance: Instance, deed: Deed, die: number): Promise<void> {
    instance.calm = false;
    const file = (what: string): string => join(this.options.ctl, `${instance.key}.${what}`);
    const policy = instance.shape.spec(instance.key).restartPolicy ?? "Always";
    switch (deed) {
      case "turn":
        instance.ready = !instance.ready;
        return instance.ready ? writeFile(file("ready"), "") : rm(file("ready"));
      case "sicken":
        instance.restarts++;
        return writeFile(file("sick"), "");
      case "exit": {
        const status = Math.floor(die * 1000) % 2 === 0 ? 0 : 1 + Math.floor(die * 100);
        if (policy === "Never" || (policy === "OnFailure" && status === 0)) instance.over = status;
        else {
          instance.restarts++;
          instance.lastExit = status;
        }
        return writeFile(file("exit"), `${status}\n`);
      }
    }
  }

  private wrong(instance: Instance, pod: PodView | undefined): string {
    if (pod === undefined) return "is not there";
    if (pod.metadata.annotations?.["version"] !== String(instance.version)) return "is still another version";
    const app = pod.status?.containerStatuses?.[0];
    if (app === undefined) return "has no status";
    const phase = pod.status?.phase ?? "none";
    if (instance.over !== undefined) {
      const wanted = instance.over === 0 ? "Succeeded" : "Failed";
      const shown = app.state.terminated?.exitCode;
      if (phase === "Failed" && this.isLost(shown)) return "";
      if (phase !== wanted) return `is ${phase}, not ${wanted}`;
      return shown === instance.over ? "" : `shows exit code ${shown ?? "none"}, not ${instance.over}`;
    }
    if (phase !== "Running") return `is ${phase}`;
    if (!existsSync(join(this.options.ctl, `${instance.key}.up`))) return "has not run in this version";
    if (existsSync(join(this.options.ctl, `${instance.key}.exit`))) return "was told to exit and has not";
    if (existsSync(join(this.options.ctl, `${instance.key}.sick`))) return "is sick";
    const idle = statusesOf(pod).find(({ state }) => state.running === undefined && state.terminated?.exitCode !== 0);
    if (idle !== undefined) return `has ${idle.name} neither running nor done`;
    if (app.state.running === undefined) return "does not run its app";
    if (app.restartCount < instance.restarts) return `shows ${app.restartCount} restarts of ${instance.restarts}`;
    const { exitCode: last, reason } = app.lastState.terminated ?? {};
    // containerd 1.6 shows StartError for a start during which its client was killed.
    const isOther = instance.lastExit !== undefined && last !== instance.lastExit;
    if (isOther && reason !== START_ERROR && !this.isLost(last)) {
      return `shows ${last ?? "none"} as its last exit code, not ${instance.lastExit}`;
    }
    const ready = pod.status?.conditions?.find(({ type }) => type === "Ready")?.status;
    return ready === (instance.ready ? "True" : "False") ? "" : `has Ready ${ready ?? "not set"}`;
  }

  private isLost(exitCode: number | undefined): boolean {
    return this.options.runtimeDies === true && exitCode === UNKNOWN_EXIT;
  }

  private manifest({ name, version, shape, key, uid, image }: Instance): object {
    const spec = shape.spec(key);
    const volumeMounts = [
      { name: "ctl", mountPath: "/ctl" },
      { name: "memory", mountPath: "/memory" },
      { name: "disk", mountPath: "/part", subPath: "part" },
    ];
    const complete = (one: Container): Container => ({
      image: one.name === "app" ? image : this.options.images[0],
      imagePullPolicy: "Never",
      volumeMounts,
      ...one,
    });
    return {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, annotations: { version: String(version) }, ...(uid === undefined ? {} : { uid }) },
      spec: {
        terminationGracePeriodSeconds: 2,
        dnsPolicy: "Default",
        volumes: [
          { name: "ctl", hostPath: { path: this.options.ctl } },
          { name: "memory", emptyDir: { medium: "Memory" } },
          { name: "disk", emptyDir: {} },
        ],
        ...spec,
        containers: spec.containers.map(complete),
        ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(complete) }),
      },
    };
  }

  private nextImage(name: string): string {
    const { images } = this.options;
    const used = this.imagesUsed.get(name) ?? 0;
    this.imagesUsed.set(name, used + 1);
    return images[used % images.length] ?? images[0];
  }

  private async forget({ key }: Instance): Promise<void> {
    for (const what of ["exit", "sick", "ready", "up"]) {
      await rm(join(this.options.ctl, `${key}.${what}`), { force: true });
    }
  }
}

/** Gives an image of the runtime more names, so that no two concurrent versions of a pod have the same. */
export async function aliases(endpoint: string, image: string): Promise<[string, ...string[]]> {
  const names = Array.from({ length: 7 }, (_, index) => `${image}-alias-${index}`);
  const socket = endpoint.replace(/^unix:\/\//, "");
  await run("ctr", ["--address", socket, "--namespace", "k8s.io", "images", "tag", "--force", image, ...names]);
  return [image, ...names];
}

export function statusesOf(pod: PodView): ApiContainerStatus[] {
  return [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
}

/** Facts about an untouched pod that must not change: its containers, their runs and their states. */
export function identityOf(pod: PodView): string[] {
  return statusesOf(pod).map(({ name, containerID = "no id", restartCount, state }) => {
    const { terminated } = state;
    const ended = terminated === undefined ? "" : `, ended with ${terminated.exitCode}`;
    return `${name}: ${containerID}, ${restartCount} restarts${ended}`;
  });
}

const shell = (name: string, script: string, fields: Partial<Container> = {}): Container => ({
  name,
  command: ["sh", "-c", script],
  ...fields,
});
/** Runs until a command or SIGTERM ends it. The liveness probe succeeds again after a restart. */
const app = (key: string, fields: Partial<Container> = {}): Container =>
  shell(
    "app",
    `trap 'rm -f /ctl/${key}.sick; exit 0' TERM; touch /ctl/${key}.up; ` +
      `until [ -s /ctl/${key}.exit ]; do sleep 0.5 & wait $!; done; ` +
      `read code < /ctl/${key}.exit; rm /ctl/${key}.exit; exit $code`,
    fields,
  );
const IDLE = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";
const probe = (command: string): Probe => ({
  exec: { command: ["sh", "-c", command] },
  // A command in a container costs a slow machine most of a processor.
  periodSeconds: Math.ceil(PATIENCE),
  timeoutSeconds: 30,
  failureThreshold: 1,
});

const SHAPES: readonly Shape[] = [
  { deeds: ["exit"], spec: (key) => ({ containers: [app(key), shell("second", IDLE)] }) },
  {
    deeds: ["turn"],
    spec: (key) => ({ containers: [app(key, { readinessProbe: probe(`test -e /ctl/${key}.ready`) })] }),
  },
  { deeds: ["exit"], spec: (key) => ({ restartPolicy: "Never", containers: [app(key)] }) },
  {
    deeds: ["sicken"],
    spec: (key) => ({ containers: [app(key, { livenessProbe: probe(`test ! -e /ctl/${key}.sick`) })] }),
  },
  {
    deeds: ["exit"],
    spec: (key) => ({
      restartPolicy: "OnFailure",
      initContainers: [shell("setup", "sleep 0.3; touch /memory/set-up")],
      containers: [app(key)],
    }),
  },
  {
    deeds: ["exit"],
    spec: (key) => ({
      initContainers: [
        shell("proxy", IDLE, { restartPolicy: "Always" }),
        shell("setup", "touch /memory/one"),
        shell("later", "test -e /memory/one && touch /part/two"),
      ],
      containers: [app(key)],
    }),
  },
  { deeds: ["exit"], keepsUid: true, spec: (key) => ({ containers: [app(key), shell("second", IDLE)] }) },
];
