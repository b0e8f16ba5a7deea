// The parts that the verbs share, and the facts of the Engine.

import { Lifetime } from "../../shared/base/abort/lifetime.js";
import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { DockershimInit } from "../../shared/contracts/dockershim.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { CgroupDriverName } from "./containers/cgroup-parent.js";
import { lowestOomScoreAdj } from "./containers/oom-score.js";
import { answered } from "./engine/answers.js";
import { inspected, listed } from "./engine/containers.js";
import { Engine, request } from "./engine/engine.js";
import { Fault } from "./fault.js";
import { Images } from "./images/images.js";
import { LayerUsage } from "./images/layer-usage.js";
import { ContainerLogs } from "./logs/container-logs.js";
import { LOG_PATH_LABEL } from "./names.js";
import { makeNetwork } from "./network/make-network.js";
import type { PodNetwork } from "./network/pod-network.js";
import { Checkpoints } from "./sandboxes/checkpoints.js";

/** Members of the Engine's answer to /info that count here. */
export interface EngineInfo {
  CgroupDriver: string;
  CgroupVersion: string;
  DockerRootDir: string;
  ServerVersion: string;
}

const MAX_LEFT_OUT = 1000;
/** Wait for an Engine that is not there when the thread starts, ms. */
const ADOPTION_RETRY_MS = 1000;

export class Shim {
  readonly engine: Engine;
  readonly logs: ContainerLogs;
  readonly images: Images;
  readonly layerUsage: LayerUsage;
  readonly checkpoints: Checkpoints;
  readonly network: PodNetwork;
  /** Sandboxes that a call of StopPodSandbox stops now, by id, with the number of such calls. */
  private readonly stopping = new Map<string, number>();
  /** Problems that the log has already: lists are made each second. */
  private readonly leftOut = new Set<string>();
  private driver: CgroupDriverName | undefined;
  private lowestOomScore: Promise<number> | undefined;
  private readonly lifetime = new Lifetime();
  private adopting: Promise<void> = Promise.resolve();

  constructor(
    readonly init: DockershimInit,
    readonly clock: Clock,
    readonly log: Logger,
  ) {
    this.engine = new Engine({ endpoint: init.dockerEndpoint, timeoutMs: init.requestTimeoutMs, clock });
    this.logs = new ContainerLogs({ engine: this.engine, clock, log });
    this.images = new Images({ engine: this.engine, clock, init });
    this.layerUsage = new LayerUsage({ engine: this.engine, clock, log });
    this.checkpoints = new Checkpoints(init.rootDir, log);
    this.network = makeNetwork(init.network, { clock, log });
  }

  /**
   * Runs `stop` while no container of the sandbox may start. A container that started after the stop of its neighbours
   * would outlive them.
   */
  async whileStopping<T>(sandboxId: string, stop: () => Promise<T>): Promise<T> {
    this.stopping.set(sandboxId, (this.stopping.get(sandboxId) ?? 0) + 1);
    try {
      return await stop();
    } finally {
      const others = (this.stopping.get(sandboxId) ?? 1) - 1;
      if (others === 0) this.stopping.delete(sandboxId);
      else this.stopping.set(sandboxId, others);
    }
  }

  /** `fields` of the container have no form in the Engine, and were left out. */
  warnUnsupported(container: string, fields: readonly string[]): void {
    if (fields.length > 0) this.log.warn(`${container}: the Docker Engine has no form of ${fields.join("; ")}`);
  }

  /** @throws Fault while the sandbox is being stopped */
  checkStarts(sandboxId: string): void {
    if (this.stopping.has(sandboxId))
      throw new Fault("FAILED_PRECONDITION", `sandbox ${sandboxId} is being stopped: no container starts in it`);
  }

  /** Follows the logs of the containers that are there, as soon as the Engine responds. */
  start(): void {
    this.adopting = this.adopt();
  }

  async stop(): Promise<void> {
    this.lifetime.end();
    await this.adopting;
    await this.logs.stopAll();
    this.engine.close();
  }

  async info(signal: AbortSignal): Promise<EngineInfo> {
    const found = await this.engine.call(signal, async (docker, abort) => {
      // dockerode's types leave out the options.
      const ask = docker.info.bind(docker) as (options: object) => Promise<EngineInfo>;
      return ask(request(abort));
    });
    return answered("info", found);
  }

  /** The Engine's; it cannot change while containers run. */
  async cgroupDriver(signal: AbortSignal): Promise<CgroupDriverName> {
    this.driver ??= (await this.info(signal)).CgroupDriver === "systemd" ? "systemd" : "cgroupfs";
    return this.driver;
  }

  /** The kernel refuses lower ones. */
  lowestOomScoreAdj(): Promise<number> {
    return (this.lowestOomScore ??= lowestOomScoreAdj());
  }

  /** One or none. A container with our labels and a foreign name is left out, with one log line. */
  ifKubernetes<T>(read: () => T): T[] {
    try {
      return [read()];
    } catch (error) {
      const problem = messageOf(error);
      if (!this.leftOut.has(problem) && this.leftOut.size < MAX_LEFT_OUT) {
        this.leftOut.add(problem);
        this.log.warn(`a container of docker is left out: ${problem}`);
      }
      return [];
    }
  }

  private isStopping(): boolean {
    return this.lifetime.hasEnded;
  }

  private async adopt(): Promise<void> {
    const { signal } = this.lifetime;
    while (!this.isStopping()) {
      try {
        const found = await listed(this.engine, signal, { type: "container" });
        for (const { Id, Labels, State } of found) {
          if (State === "created") continue;
          const tty = await this.hasTerminal(Id, signal);
          this.logs.follow({ id: Id, path: Labels[LOG_PATH_LABEL] ?? "", tty, adopted: true });
        }
        return;
      } catch (error) {
        if (this.isStopping()) return;
        this.log.warn(`the containers' logs wait for the Docker Engine: ${messageOf(error)}`);
      }
      await this.clock.sleep(ADOPTION_RETRY_MS, signal).catch(() => undefined);
    }
  }

  private async hasTerminal(id: string, signal: AbortSignal): Promise<boolean> {
    const { Config } = await inspected(this.engine, signal, id, "container");
    return Config.Tty;
  }
}
