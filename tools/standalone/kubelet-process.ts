// `npm start`, the integration tests and the benchmarks run the kubelet as users do: as a process with a configuration
// file. It is started, watched and ended here, in one way for all.
// Invariant: it runs in the network namespace of its runtime; it is never left behind when its owner ends.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inNetns } from "./netns.js";
import { fetchPods, fetchPodsOverSocket, isHealthy, type PodView } from "./pods.js";
import { describeEnd, lastLines } from "./process-end.js";
import { readProcess, signalAndWait, type ProcessIdentity } from "./processes.js";
import { waitFor } from "./wait.js";

/**
 * Folder of the bundle: that of the build, or the copy of a run of tests, which a build that comes later does not
 * change.
 */
const AGENT = process.env["NODELET_AGENT_DIR"] ?? fileURLToPath(new URL("../../agent", import.meta.url));

/** The entry point as users run it: dist/agent/main/kubelet.js. */
export const KUBELET_ENTRY = join(AGENT, "main", "kubelet.js");

/** The nodelet command, as it is run from a checkout. */
export const NODELET_ENTRY = join(AGENT, "cli", "nodelet.js");

/** As in the first line of the entry point, which only counts when the file is executed itself. */
export const KUBELET_NODE_FLAGS: readonly string[] = ["--max-semi-space-size=4"];
const KUBELET_ENV: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "1" };

export interface KubeletOptions {
  /** Folder for root directory, manifests, logs and configuration of this agent. */
  dir: string;
  /** `unix://…` */
  endpoint: string;
  /** Parent of all pod cgroups, e.g. /nodelet-1a2b3c4d. */
  cgroupRoot: string;
  readOnlyPort: number;
  /** false: the read-only port serves no pods. */
  readOnlyPods?: boolean;
  healthzPort: number;
  /** TCP port of the authenticated server; without it there is none. */
  port?: number;
  netns?: string;
  nodeName?: string;
  /** More fields of KubeletConfiguration; they win over ours. */
  config?: Readonly<Record<string, unknown>>;
  /** More command line arguments. */
  flags?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Runs in place of {@link KUBELET_ENTRY}: a .js file by this Node, any other file as a program of its own. */
  entry?: string;
}

export interface KubeletProcess {
  readonly dir: string;
  readonly manifests: string;
  readonly log: string;
  readonly rootDir: string;
  readonly podLogs: string;
  /** `http://127.0.0.1:<readOnlyPort>`; reachable from inside the agent's network namespace only. */
  readonly url: string;
  readonly healthzUrl: string;
  /** `https://127.0.0.1:<port>` */
  readonly secureUrl: string;
  readonly pid: number | undefined;
  readonly identity: ProcessIdentity | undefined;
  readonly configFile: string;
  /** Exit code of the last run; undefined while it goes on, or when a signal ended it. */
  readonly exitCode: number | undefined;
  /** How the last run ended, with the last `lines` of its log. */
  ending(lines?: number): Promise<string>;
  /** Starts the process; does not wait for health. */
  start(): Promise<void>;
  /** Waits for /healthz; fails at once when the process ends instead. */
  waitHealthy(timeoutMs?: number): Promise<void>;
  /** The agent's own view: what /pods says, on the read-only port or on the admin socket. */
  pods(): Promise<PodView[]>;
  /** Sends a signal and waits for the end; SIGKILL after `timeoutMs`. */
  end(signal: NodeJS.Signals, timeoutMs?: number): Promise<void>;
}

/** Lays out the agent's folder and configuration. Nothing runs before start(). */
export async function prepareKubelet(options: KubeletOptions): Promise<KubeletProcess> {
  const { dir } = options;
  const manifests = join(dir, "manifests");
  const rootDir = join(dir, "kubelet");
  const podLogs = join(dir, "pod-logs");
  const resolvConf = join(dir, "resolv.conf");
  const configFile = join(dir, "kubelet-config.yaml");
  for (const folder of [manifests, rootDir, podLogs]) await mkdir(folder, { recursive: true });
  // Pods have no way out, so no name server of the machine can serve them.
  await writeFile(resolvConf, "");
  const config = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    staticPodPath: manifests,
    containerRuntimeEndpoint: options.endpoint,
    address: "127.0.0.1",
    readOnlyPort: options.readOnlyPort,
    healthzBindAddress: "127.0.0.1",
    healthzPort: options.healthzPort,
    enableServer: options.port !== undefined,
    ...(options.port === undefined ? {} : { port: options.port }),
    cgroupDriver: "cgroupfs",
    // The machine is what it is; both hierarchies work.
    failCgroupV1: false,
    cgroupRoot: options.cgroupRoot,
    podLogsDir: podLogs,
    resolvConf,
    // The machine's iptables stay as they are.
    makeIPTablesUtilChains: false,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    logging: { format: "json" },
    authorization: { mode: "AlwaysAllow" },
    ...options.config,
  };
  // JSON is YAML.
  await writeFile(configFile, JSON.stringify(config, undefined, 2));
  return new Kubelet(options, { manifests, rootDir, podLogs, configFile, log: join(dir, "kubelet.log") });
}

interface Layout {
  manifests: string;
  rootDir: string;
  podLogs: string;
  configFile: string;
  log: string;
}

function programOf(entry: string): [string, ...string[]] {
  return entry.endsWith(".js") ? [process.execPath, ...KUBELET_NODE_FLAGS, entry] : [entry];
}

class Kubelet implements KubeletProcess {
  readonly dir: string;
  readonly manifests: string;
  readonly log: string;
  readonly rootDir: string;
  readonly podLogs: string;
  readonly url: string;
  readonly healthzUrl: string;
  readonly secureUrl: string;
  readonly configFile: string;
  identity: ProcessIdentity | undefined;
  private child: ChildProcess | undefined;

  constructor(
    private readonly options: KubeletOptions,
    private readonly layout: Layout,
  ) {
    this.dir = options.dir;
    this.manifests = layout.manifests;
    this.log = layout.log;
    this.rootDir = layout.rootDir;
    this.podLogs = layout.podLogs;
    this.configFile = layout.configFile;
    this.url = `http://127.0.0.1:${options.readOnlyPort}`;
    this.secureUrl = `https://127.0.0.1:${options.port ?? 0}`;
    this.healthzUrl = `http://127.0.0.1:${options.healthzPort}/healthz`;
  }

  get pid(): number | undefined {
    return this.hasEnded() ? undefined : this.child?.pid;
  }

  get exitCode(): number | undefined {
    return this.child?.exitCode ?? undefined;
  }

  async start(): Promise<void> {
    if (this.pid !== undefined) throw new Error(`this kubelet runs already, as pid ${this.pid}`);
    const { options, layout } = this;
    const log = await open(layout.log, "a");
    const [program, ...before] = programOf(options.entry ?? KUBELET_ENTRY);
    const { command, args } = inNetns(options.netns, program, [
      ...before,
      ...["--config", layout.configFile, "--root-dir", layout.rootDir],
      ...["--cert-dir", join(options.dir, "pki")],
      ...(options.nodeName === undefined ? [] : ["--hostname-override", options.nodeName]),
      ...(options.readOnlyPods === false ? ["--read-only-pods=false"] : []),
      ...(options.flags ?? []),
    ]);
    const child = spawn(command, args, {
      cwd: dirname(layout.configFile),
      detached: true, // Ctrl-C on the terminal is ours to handle
      stdio: ["ignore", log.fd, log.fd],
      env: { ...process.env, ...KUBELET_ENV, ...options.env },
    });
    this.child = child;
    await Promise.race([once(child, "spawn"), once(child, "error").then(([error]) => Promise.reject(error as Error))]);
    await log.close();
    const found = child.pid === undefined ? undefined : await readProcess(child.pid);
    this.identity = found === undefined ? undefined : { pid: found.pid, startTicks: found.startTicks };
  }

  async waitHealthy(timeoutMs = 60_000): Promise<void> {
    await waitFor(async () => this.hasEnded() || (await isHealthy(this.healthzUrl)), {
      what: `the kubelet's ${this.healthzUrl} to say ok`,
      timeoutMs,
      lastSeen: () => lastLines(this.log),
    });
    if (this.hasEnded()) throw new Error(await this.ending());
  }

  ending(lines?: number): Promise<string> {
    return describeEnd("the kubelet", { child: this.child, log: this.log, lines });
  }

  pods(): Promise<PodView[]> {
    return this.options.readOnlyPods === false ? fetchPodsOverSocket(this.rootDir) : fetchPods(this.url);
  }

  async end(signal: NodeJS.Signals, timeoutMs = 30_000): Promise<void> {
    if (this.identity === undefined) return;
    const left = await signalAndWait([this.identity], signal, timeoutMs);
    const stuck = await signalAndWait(left, "SIGKILL", timeoutMs);
    if (stuck.length > 0) throw new Error(`the kubelet (pid ${this.identity.pid}) lives on after SIGKILL`);
    // The kernel sees the exit of a child before Node does. `pid` is right only after Node has seen it.
    await waitFor(() => this.hasEnded(), { what: "Node to notice that the kubelet ended", intervalMs: 5 });
    this.identity = undefined;
  }

  private hasEnded(): boolean {
    return this.child === undefined || this.child.exitCode !== null || this.child.signalCode !== null;
  }
}
