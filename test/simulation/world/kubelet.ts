// The kubelet process of the simulated machine: the whole agent, with its workers as threads of the process.
// Invariant: after a kill nothing of it runs; what it asked the machine to do may still happen.

import { loadSettings, type Settings } from "../../../src/main/command/settings.js";
import { buildAgent, type RunningAgent } from "../../../src/main/kubelet/agent.js";
import { nodeSettingsOf } from "../../../src/main/kubelet/node-settings.js";
import { nodeConfigFiles, servingFiles } from "../../../src/main/node/certificates/certificate-files.js";
import { directoriesOf, makeDirectories } from "../../../src/main/process/directories.js";
import { startOwnApi, withOwnApi } from "../../../src/main/process/own-api.js";
import { NodeThreads } from "../../../src/main/threads/node-threads.js";
import { systemClock } from "../../../src/shared/base/clock/clock.js";
import type { Logger } from "../../../src/shared/telemetry/log/logger.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { CONFIG_FILE, filesOf, HOST, ioOf } from "../../support/config-kit.js";
import { tasksInThisThread } from "../../support/one-thread/tasks.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { Owner } from "../kernel/owner.js";
import { NODE_NAME } from "./api.js";
import { tasksThatTakeTime } from "./log-tasks.js";
import { CONTAINER_LOGS, KUBECONFIG, LOGS, MANIFESTS, ROOT } from "./machine-files.js";
import type { NodeShape } from "./node-shape.js";
import { PROVIDER_FLAGS } from "./registry.js";
import { SimulatedThreads } from "./threads.js";

export interface KubeletEvents {
  started(): void;
  /** The process ended by itself. */
  gaveUp(reason: string): void;
}

export class Kubelet {
  readonly owner: Owner;
  readonly threads: SimulatedThreads;
  agent: RunningAgent | undefined;

  constructor(
    number: number,
    private readonly log: Logger,
    private readonly events: KubeletEvents,
    private readonly node: NodeShape,
  ) {
    this.owner = new Owner(`kubelet ${number}`, kernel.world);
    this.threads = new SimulatedThreads(this.owner, systemClock, log);
    kernel.post(this.owner, () => {
      this.start().catch((error: unknown) => this.giveUp(String(error)));
    });
  }

  get isAlive(): boolean {
    return this.owner.isAlive;
  }

  /** SIGKILL */
  kill(): void {
    this.owner.kill();
    disk.tree.closeOrphans();
  }

  /** SIGSTOP and SIGCONT: neither the main thread nor a worker runs. */
  stall(ms: number): void {
    kernel.stall(this.owner, ms);
    this.threads.stall(undefined, ms);
  }

  /** SIGTERM */
  stop(onEnd: () => void): void {
    kernel.post(this.owner, () => {
      const ended = (): void => {
        kernel.post(kernel.world, () => {
          this.kill();
          onEnd();
        });
      };
      (this.agent?.stop() ?? Promise.resolve()).then(ended, (error: unknown) => {
        this.giveUp(`the stop failed: ${String(error)}`);
        ended();
      });
    });
  }

  private giveUp(reason: string): void {
    kernel.post(kernel.world, () => {
      if (!this.isAlive) return;
      this.kill();
      this.events.gaveUp(reason);
    });
  }

  private async start(): Promise<void> {
    const { log } = this;
    const clock = systemClock;
    const given = await settingsOf(this.node);
    // As node-life.ts. The admin socket would be a real one: its path is given, and nothing listens there.
    const own = this.node.hasOwnApi === true ? await withOwnApi(given, clock, log) : undefined;
    const settings: Settings = own === undefined ? given : { ...own, adminSocket: "none" };
    const directories = directoriesOf(settings.rootDir, settings.containerLogs.podLogsDir, CONTAINER_LOGS);
    await makeDirectories(directories);
    const registry = new ThreadRegistry("main");
    const giveUp = (reason: string): void => this.giveUp(reason);
    const threads = new NodeThreads({
      facts: {
        settings,
        nodeName: NODE_NAME,
        directories,
        serving: servingFiles(settings),
        api: nodeConfigFiles(settings),
        nativeHistograms: false,
      },
      registry,
      clock,
      log,
      spawn: this.threads.spawn,
      setVerbosity: () => undefined,
      onGiveUp: (error) => giveUp(error.message),
    });
    if (own !== undefined) startOwnApi(own, threads, clock, log);
    this.agent = await buildAgent({
      settings: await nodeSettingsOf(settings, NODE_NAME, directories.containerLogs),
      threads,
      createTasksPool: this.node.logs === undefined ? tasksInThisThread : tasksThatTakeTime,
      startOtherThreads: () => threads.startOthers(),
      registry,
      clock,
      log,
      serving: undefined,
      configuration: undefined,
      cluster: { settings, startedAtMs: clock.now(), giveUp },
    });
    kernel.post(kernel.world, () => this.events.started());
  }
}

const FIELDS: Readonly<Record<string, unknown>> = {
  staticPodPath: MANIFESTS,
  podLogsDir: LOGS,
  containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
  cgroupsPerQOS: false,
  enforceNodeAllocatable: [],
  protectKernelDefaults: true,
  makeIPTablesUtilChains: false,
  enableServer: false,
  readOnlyPort: 0,
  healthzPort: 0,
};

const OWN_API_FLAGS = ["--api-server-port=6443"];
const CLUSTER_FLAGS = [`--kubeconfig=${KUBECONFIG}`, "--admin-socket=none"];

async function settingsOf({ cpus, fields, hasPrivateImages, hasOwnApi }: NodeShape): Promise<Settings> {
  const lines = Object.entries({ ...FIELDS, ...fields }).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  const request = await loadSettings(
    [
      `--config=${CONFIG_FILE}`,
      `--root-dir=${ROOT}`,
      `--cert-dir=${ROOT}/pki`,
      ...(hasOwnApi === true ? OWN_API_FLAGS : CLUSTER_FLAGS),
      `--hostname-override=${NODE_NAME}`,
      ...(hasPrivateImages === true ? PROVIDER_FLAGS : []),
    ],
    ioOf(filesOf({ file: lines.join("") }), { ...HOST, onlineCpus: Array.from({ length: cpus }, (_, cpu) => cpu) }),
  );
  if (request.action !== "run") throw new Error(`the settings are those of "${request.action}"`);
  return request.settings;
}
