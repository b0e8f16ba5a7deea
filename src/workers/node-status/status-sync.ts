// Maintains the Node's status: registers the node, then computes its status periodically and sends the changes.
// Invariant: one round at a time. The first waits for the lists of the runtime and the pods. So a restart of the
// kubelet does not set the node NotReady. Events report changes that the server has accepted, and at the start the
// pressures, as upstream's kubelet does.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { Loop } from "../../shared/base/turns/loop.js";
import type { NodeFacts, NodeStatusInit } from "../../shared/contracts/node-status.js";
import { ApiConnectionError, isNotFound } from "../../shared/kubernetes/api/client/errors.js";
import { NODES } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import { LastingErrors } from "../../shared/telemetry/log/lasting-errors.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import type { HostNetwork } from "./addresses.js";
import { computeNode, type Computed } from "./compute.js";
import type { KubeletHealth } from "./health-monitor.js";
import type { Machine } from "./machine.js";
import type { StatusMetrics } from "./metrics.js";
import type { NodeView } from "./node-view.js";
import { nodeChanged, nodePatch } from "./patch.js";
import { register } from "./register.js";
import type { StartupTimes } from "./startup-times.js";

/** Time for which the first status waits for the runtime and the first relist. */
const HOLD_MS = 5000;
const STORAGE_LOOK_MS = 20;
const TRIES = 5;
const JITTER = 0.04;
/** Between two rounds, however much happens. */
const GAP_MS = 250;

export interface StatusSyncDeps {
  init: NodeStatusInit;
  client: Pick<ApiClient, "get" | "create" | "patch">;
  clock: Clock;
  log: Logger;
  metrics: StatusMetrics;
  random: () => number;
  machine: Machine;
  network: { current(): Promise<HostNetwork>; expire(): void };
  health: () => KubeletHealth;
  /** The Node as a watch has it; undefined when there is none that is well. */
  followed: () => Node | undefined;
  view: NodeView;
  times: StartupTimes;
  freshMachine: () => Promise<boolean>;
  /** The first thread of this process. Its registration records the pressures of a Node that is there already. */
  isFirst: boolean;
  /** The Node is there. */
  onRegistered: () => void;
  /** Called when calls fail repeatedly: the connection may be broken. */
  onRepeatedFailure: (error: unknown) => void;
}

export class StatusSync {
  private readonly loop: Loop;
  private facts: NodeFacts | undefined;
  private urgent = "";
  private hold: Timer | undefined;
  private registered: boolean;
  private missing = false;
  private failing = false;
  private readonly errors: LastingErrors;
  private reportedAt: number | undefined;
  private reportDelayMs = 0;
  private addressProblem = "";
  /** Until when the first status waits for storage; monotonic. */
  private storageDeadline: number | undefined;

  constructor(private readonly deps: StatusSyncDeps) {
    const { init, clock, log, random } = deps;
    this.registered = !init.registerNode;
    this.errors = new LastingErrors({ clock, log, level: "error" });
    this.loop = new Loop({
      round: async (signal) => {
        await this.round(signal);
        return undefined;
      },
      periodMs: () => init.nodeStatusUpdateFrequencyMs * (1 + JITTER * random()),
      gapMs: GAP_MS,
      failed: (error) => {
        log.error({ err: error }, `cannot update the node status: ${errorText(error)}`);
        return undefined;
      },
      clock,
    });
  }

  start(): void {
    this.hold = this.deps.clock.after(HOLD_MS, () => this.startLoop());
    this.beginWhenKnown();
  }

  /** Main has new facts. Facts that decide about pods are sent at once, the rest with the next round. */
  setFacts(facts: NodeFacts): void {
    this.facts = facts;
    const urgent = JSON.stringify({ ...facts, images: undefined });
    if (urgent !== this.urgent) this.loop.requestRound();
    this.urgent = urgent;
    this.beginWhenKnown();
  }

  /** A value in the status has changed. */
  requestRound(): void {
    this.loop.requestRound();
  }

  /** The server responds: sends the statuses that could not be sent. */
  onServerAnswers(): void {
    if (this.failing) this.loop.requestRound();
  }

  async stop(): Promise<void> {
    this.hold?.cancel();
    this.hold = undefined;
    await this.loop.stop();
  }

  private beginWhenKnown(): void {
    if (this.facts?.runtime !== undefined && this.facts.relisted) this.startLoop();
  }

  private startLoop(): void {
    if (this.hold === undefined) return;
    this.hold.cancel();
    this.hold = undefined;
    this.loop.start();
  }

  private async round(signal: AbortSignal): Promise<void> {
    const { view, onRepeatedFailure, metrics } = this.deps;
    if (!this.registered) await this.register(signal);
    await this.storageKnown(signal);
    let last: unknown;
    for (let tries = 1; tries <= TRIES; tries++) {
      try {
        await this.attempt(tries, signal);
        this.missing = false;
        this.failing = false;
        this.errors.resolved("status", "updating the node status succeeded again");
        return;
      } catch (error) {
        signal.throwIfAborted();
        // The server's cache may not have an object that was created a moment ago.
        if (isNotFound(error) && tries > 1) {
          view.gone();
          this.logMissing();
          return;
        }
        if (isNotFound(error)) continue;
        metrics.reported(false);
        if (tries > 1) onRepeatedFailure(error);
        last = error;
      }
    }
    this.failing = last instanceof ApiConnectionError;
    this.errors.report("status", `cannot update the node status, ${TRIES} tries failed: ${errorText(last)}`);
  }

  /** Waits a short time for the CSINode. After a restart of the kubelet, a Ready node must not be without it. */
  private async storageKnown(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const deadline = (this.storageDeadline ??= clock.monotonic() + HOLD_MS);
    while ((this.facts?.storageProblem ?? "") !== "" && clock.monotonic() < deadline) {
      await clock.sleep(STORAGE_LOOK_MS, signal);
    }
  }

  private async register(signal: AbortSignal): Promise<void> {
    const { client, clock, log, init, view, times, freshMachine, onRegistered } = this.deps;
    times.registering(clock.now());
    const compute = (wanted: Node): Promise<Computed> => this.compute(wanted);
    const { node, computed, created } = await register({ client, clock, log, init, compute, freshMachine }, signal);
    this.registered = true;
    view.update(node);
    if (created) {
      times.registered(clock.now());
      this.sent(computed, true);
    } else if (this.deps.isFirst) this.record(computed.events);
    onRegistered();
  }

  private async attempt(tries: number, signal: AbortSignal): Promise<void> {
    const { client, view, init, clock } = this.deps;
    const ref = { name: init.nodeName };
    const wasSeen = view.current !== undefined;
    const before = tries === 1 ? view.newest(await this.cached(signal)) : await client.get(NODES, ref, { signal });
    view.update(before);
    if (!wasSeen) this.deps.onRegistered();
    const computed = await this.compute(before);
    const changed = nodeChanged(before, computed.node);
    const sinceReport = clock.monotonic() - (this.reportedAt ?? -Infinity);
    if (!changed && sinceReport < init.nodeStatusReportFrequencyMs + this.reportDelayMs) return;
    const patch = nodePatch(before, computed.node);
    if (patch !== undefined) view.update(await client.patch(NODES, ref, patch, { subresource: "status", signal }));
    this.sent(computed, changed);
  }

  /** The Node of the watch, else of the server's cache. */
  private async cached(signal: AbortSignal): Promise<Node> {
    const { client, init, followed } = this.deps;
    return followed() ?? (await client.get(NODES, { name: init.nodeName }, { signal, resourceVersion: "0" }));
  }

  private async compute(node: Node): Promise<Computed> {
    const { init, machine, network, health, clock } = this.deps;
    const computed = computeNode(node, {
      init,
      facts: this.facts,
      machine,
      network: await network.current(),
      health: health(),
      wallMs: clock.now(),
      nowMs: clock.monotonic(),
    });
    this.logAddressProblem(computed.addressError);
    return computed;
  }

  /** The server has it. A change moves the next report to a random time, or all nodes would report at once. */
  private sent({ node, events }: Computed, changed: boolean): void {
    const { init, clock, times, metrics, random } = this.deps;
    metrics.reported(true);
    this.reportedAt = clock.monotonic();
    this.reportDelayMs = changed ? (random() - 0.5) * init.nodeStatusReportFrequencyMs : 0;
    this.record(events);
    const ready = node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    if (ready === true) times.ready(clock.now());
  }

  private record(events: Computed["events"]): void {
    for (const { type, reason, message } of events) this.deps.view.event(type, reason, message);
  }

  private logMissing(): void {
    const { init, log } = this.deps;
    if (this.missing) return;
    this.missing = true;
    const what = init.registerNode
      ? "it was deleted; restart the kubelet to register it again"
      : "registerNode is false, so another client must create it";
    log.warn(`the API server has no node ${init.nodeName}: ${what}`);
  }

  private logAddressProblem(error: Error | undefined): void {
    const problem = error?.message ?? "";
    if (problem !== "") this.deps.network.expire();
    if (problem !== "" && problem !== this.addressProblem) this.deps.log.error(problem);
    this.addressProblem = problem;
  }
}
