// The whole kubelet in the test's own thread: the agent and all its workers, on the fake runtime and a virtual clock.
// With `cluster` it joins the fake API server. Files are in a folder of their own. Pods without mounts change nothing
// of the machine. What the process does around the agent is not here: lock file, log thread, systemd, signals.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSettings, type Settings } from "../../../src/main/command/settings.js";
import { buildAgent, type RunningAgent } from "../../../src/main/kubelet/agent.js";
import { nodeSettingsOf } from "../../../src/main/kubelet/node-settings.js";
import { nodeConfigFiles, servingFiles } from "../../../src/main/node/certificates/certificate-files.js";
import { directoriesOf, makeDirectories } from "../../../src/main/process/directories.js";
import { NodeThreads } from "../../../src/main/threads/node-threads.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { FakeApi } from "../../fake-api/fake-api.js";
import { startFakeCri, type FakeCri } from "../../fake-cri/fake-cri.js";
import { CONFIG_FILE, filesOf, ioOf } from "../config-kit.js";
import { keptLog } from "../sources-kit.js";
import { SteppedClock } from "../stepped-clock.js";
import { tasksInThisThread } from "./tasks.js";
import { stepUntil, stepUntilSettled } from "./virtual-time.js";
import { spawnInThisThread } from "./workers.js";

export const NODE_NAME = "one-thread";

export interface WorldOptions {
  /** The node joins an API server. */
  cluster?: boolean;
  /** Fields of the configuration beside those of every world. */
  config?: Readonly<Record<string, unknown>>;
  /** Flags beside those of every world, which they may replace. */
  flags?: (folder: string) => readonly string[];
}

/**
 * The agent's surroundings: clock, runtime, API server, folder. They outlive an agent that stops; another one may
 * start.
 */
export class OneThreadWorld implements AsyncDisposable {
  readonly clock = new SteppedClock(Date.now());
  readonly kept = keptLog();
  readonly manifests: string;

  private constructor(
    readonly folder: string,
    readonly runtime: FakeCri,
    readonly api: FakeApi | undefined,
    readonly settings: Settings,
  ) {
    this.manifests = join(folder, "manifests");
  }

  static async open({ cluster = false, config = {}, flags = () => [] }: WorldOptions = {}): Promise<OneThreadWorld> {
    const folder = await mkdtemp(join(tmpdir(), "one-thread-"));
    await mkdir(join(folder, "manifests"));
    const world: { clock?: SteppedClock } = {};
    const runtime = await startFakeCri({
      socketPath: join(folder, "cri.sock"),
      imageStore: folder,
      nowNanos: () => world.clock?.nowNanos() ?? 0n,
    });
    const api = cluster ? await FakeApi.start() : undefined;
    const user = { name: `system:node:${NODE_NAME}`, groups: ["system:nodes"] };
    const kubeconfig = api === undefined ? [] : [`--kubeconfig=${await api.kubeconfig(user)}`];
    const made = new OneThreadWorld(
      folder,
      runtime,
      api,
      await settingsIn(folder, { containerRuntimeEndpoint: runtime.endpoint, ...config }, [
        ...kubeconfig,
        ...flags(folder),
      ]),
    );
    world.clock = made.clock;
    return made;
  }

  /** Builds and starts an agent; the clock stands still until somebody steps. */
  async begin(): Promise<BegunAgent> {
    const { settings, clock, folder } = this;
    const { log } = this.kept;
    const directories = directoriesOf(settings.rootDir, settings.containerLogs.podLogsDir, join(folder, "containers"));
    await makeDirectories(directories);
    const registry = new ThreadRegistry("main");
    const gaveUp: string[] = [];
    const threads = new NodeThreads({
      facts: {
        settings,
        nodeName: NODE_NAME,
        directories,
        serving: servingFiles(settings),
        api: settings.kubeconfig === "" ? undefined : nodeConfigFiles(settings),
        nativeHistograms: false,
      },
      registry,
      clock,
      log,
      spawn: spawnInThisThread(clock, log),
      setVerbosity: () => undefined,
      onGiveUp: (error) => void gaveUp.push(error.message),
    });
    const giveUp = (reason: string): void => void gaveUp.push(reason);
    const agent = buildAgent({
      settings: await nodeSettingsOf(settings, NODE_NAME, directories.containerLogs),
      threads,
      createTasksPool: tasksInThisThread,
      startOtherThreads: () => threads.startOthers(),
      registry,
      clock,
      log,
      serving: undefined,
      configuration: undefined,
      cluster: this.api === undefined ? undefined : { settings, startedAtMs: clock.now(), giveUp },
    });
    // The test awaits `agent` later; a rejection before that is not unhandled.
    agent.catch(() => undefined);
    return { agent, threads, gaveUp };
  }

  /** Builds and starts an agent, and steps until it has started. */
  async start(): Promise<RunningAgent> {
    const { agent } = await this.begin();
    return stepUntilSettled(this.clock, "the start of the agent", agent);
  }

  async stop(agent: RunningAgent): Promise<void> {
    await stepUntilSettled(this.clock, "the stop of the agent", agent.stop());
  }

  until(what: string, condition: () => boolean): Promise<void> {
    return stepUntil(this.clock, what, condition);
  }

  /**
   * Every timer has been cancelled. A worker that was ended while it started lets go of its timers a few turns later.
   */
  untilNoTimer(): Promise<void> {
    return this.until("every timer to be cancelled", () => this.clock.pending === 0);
  }

  /** Components in the order in which they were started or stopped, as the log has them. */
  components(what: "starting" | "stopping"): string[] {
    return this.kept.lines.flatMap(({ msg }) => (msg.startsWith(`${what} `) ? [msg.slice(what.length + 1)] : []));
  }

  async writeManifest(name: string, text: string): Promise<void> {
    await writeFile(join(this.manifests, `${name}.yaml`), text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.stop();
    await this.api?.[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface BegunAgent {
  agent: Promise<RunningAgent>;
  threads: NodeThreads;
  /** Reasons for which the process would end. */
  gaveUp: string[];
}

/** Without cgroups, iptables, kernel flags and ports. */
async function settingsIn(
  folder: string,
  config: Readonly<Record<string, unknown>>,
  flags: readonly string[],
): Promise<Settings> {
  const fields = {
    staticPodPath: join(folder, "manifests"),
    podLogsDir: join(folder, "logs"),
    fileCheckFrequency: "1s",
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    protectKernelDefaults: true,
    makeIPTablesUtilChains: false,
    enableServer: false,
    readOnlyPort: 0,
    healthzPort: 0,
    ...config,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  const file = lines.join("");
  const request = await loadSettings(
    [
      `--config=${CONFIG_FILE}`,
      `--root-dir=${join(folder, "root")}`,
      `--cert-dir=${join(folder, "pki")}`,
      ...OWN,
      ...flags,
    ],
    ioOf(filesOf({ file })),
  );
  if (request.action !== "run") throw new Error(`the settings are those of "${request.action}"`);
  return request.settings;
}

const OWN = ["--admin-socket=none", `--hostname-override=${NODE_NAME}`];
