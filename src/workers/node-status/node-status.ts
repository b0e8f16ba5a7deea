// Joins what this thread does: the health of the kubelet, the lease, and the Node with its status.
// Invariant: lease and status never wait for each other, nor for main.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { WallTime } from "../../shared/base/clock/moments.js";
import type { BoardReader } from "../../shared/base/queue/board.js";
import type { NodeFacts, NodeStatusInit, SeenNode } from "../../shared/contracts/node-status.js";
import type { Returns } from "../../shared/kubernetes/api/client/connection/presence.js";
import { ApiConnectionError, isNotFound } from "../../shared/kubernetes/api/client/errors.js";
import { NODES } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { ConfigSourceFollower } from "./config-source/follow-config-source.js";
import { stampLimits, HealthMonitor } from "./health-monitor.js";
import { LeaseKeeper } from "./lease.js";
import type { Machine } from "./machine.js";
import type { NodeStatusMetrics } from "./metrics.js";
import { NodeView, seenNode, type NodeStatusMain } from "./node-view.js";
import { OwnNode } from "./own-node.js";
import { StartupTimes } from "./startup-times.js";
import { StatusSync, type StatusSyncDeps } from "./status-sync.js";

export interface NodeStatusDeps {
  client: ApiClient;
  presence: Returns;
  main: NodeStatusMain;
  board: Pick<BoardReader, "read">;
  machine: Machine;
  machineStartedAt: WallTime;
  network: StatusSyncDeps["network"];
  /** No device plugin has left a checkpoint. */
  freshMachine: () => Promise<boolean>;
  /** This thread's, from 1. */
  generation: number;
  clock: Clock;
  log: Logger;
  metrics: NodeStatusMetrics;
  /** Absent: without --dynamic-config-dir. */
  configSource?: ConfigSourceFollower | undefined;
  random: () => number;
}

export class NodeStatusKeeper {
  private readonly health: HealthMonitor;
  private readonly view: NodeView;
  private readonly own: OwnNode;
  private readonly lease: LeaseKeeper;
  private readonly status: StatusSync;
  private endPresence: (() => void) | undefined;

  constructor(
    private readonly init: NodeStatusInit,
    private readonly deps: NodeStatusDeps,
  ) {
    const { client, presence, board, clock, log, metrics, machine, network, random } = deps;
    const { generation, machineStartedAt } = deps;
    const onRepeatedFailure = (error: unknown): void => {
      if (error instanceof ApiConnectionError) client.closeConnections();
    };
    this.view = new NodeView({
      main: deps.main,
      nodeName: init.nodeName,
      log,
      // A restart of the kubelet reports a cordon again, one of this thread does not.
      unschedulable: generation === 1 ? false : undefined,
      onUpdate: deps.configSource !== undefined ? (node) => deps.configSource?.onNode(node) : undefined,
    });
    this.own = new OwnNode({
      client,
      presence,
      nodeName: init.nodeName,
      clock,
      log,
      random,
      onNode: (node) => this.onFollowed(node),
    });
    this.health = new HealthMonitor({
      board,
      limits: stampLimits(init.nodeLeaseDurationSeconds),
      clock,
      onChange: () => {
        this.status.requestRound();
        if (this.health.current.stalls.length === 0) this.lease.requestRound();
      },
    });
    this.lease = new LeaseKeeper({
      client,
      nodeName: init.nodeName,
      clock,
      log,
      metrics,
      random,
      durationSeconds: init.nodeLeaseDurationSeconds,
      stalls: () => this.health.current.stalls,
      nodeUid: (signal) => this.nodeUid(signal),
      onRenewed: () => this.status.onServerAnswers(),
      onRepeatedFailure,
    });
    this.status = new StatusSync({
      init,
      client,
      clock,
      log,
      metrics,
      random,
      machine,
      network,
      view: this.view,
      health: () => this.health.current,
      followed: () => this.own.current,
      times: new StartupTimes(machineStartedAt, init.startedAtMs, (times) => metrics.startedUp(times)),
      freshMachine: async () => generation === 1 && (await deps.freshMachine()),
      isFirst: generation === 1,
      onRegistered: () => this.lease.requestRound(),
      onRepeatedFailure,
    });
  }

  start(): void {
    this.health.start();
    this.lease.start();
    this.status.start();
    this.own.start();
    this.endPresence = this.deps.presence.onReturn(() => this.view.serverReturned());
  }

  setFacts(facts: NodeFacts): void {
    this.status.setFacts(facts);
  }

  async readNode(): Promise<SeenNode> {
    const node = await this.deps.client.get(NODES, { name: this.init.nodeName });
    this.view.update(this.view.newest(node));
    return seenNode(node);
  }

  async stop(): Promise<void> {
    this.health.stop();
    this.endPresence?.();
    await Promise.all([this.lease.stop(), this.status.stop(), this.own.stop(), this.deps.configSource?.stop()]);
  }

  private onFollowed(node: Node | undefined): void {
    if (node === undefined) {
      this.view.gone();
      return;
    }
    const isNew = this.view.current === undefined;
    this.view.update(this.view.newest(node));
    if (!isNew) return;
    this.lease.requestRound();
    this.status.requestRound();
  }

  private async nodeUid(signal: AbortSignal): Promise<string | undefined> {
    const known = this.view.current?.metadata.uid;
    if (known !== undefined) return known;
    try {
      return (await this.deps.client.get(NODES, { name: this.init.nodeName }, { signal })).metadata.uid;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
