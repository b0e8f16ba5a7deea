// One registration socket, from its appearance to its end:
//
//   wanted ── GetInfo, validate, register, Notify(true) ──▶ registered ── socket gone or another ──▶ deregistered
//      ▲  └──── anything failed: Notify(false), back-off ────┘
//
// Invariant: one operation at a time per socket. A plugin is deregistered before the next socket of its path is
// registered. The newest requested identity wins. A socket that is made anew again and again is registered BURST times
// per WINDOW_MS at most.

import { StoppingError } from "../../../shared/base/abort/lifetime.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { faultPoint } from "../../../shared/base/faults/fault-points.js";
import { Backoff } from "../../../shared/base/turns/backoff.js";
import type { FairTurns, Turn } from "../../../shared/base/turns/fair-turns.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import {
  type DialRegistration,
  type PluginHandler,
  type PluginInfo,
  type RegistrationClient,
} from "../../model/plugin-handler.js";
import { PluginRefusedError } from "../../model/plugin-refused.js";

/** Back-off of a socket whose registration failed (plugin-registration.md). */
const RETRY = { initialMs: 500, maxMs: 122_000 };

/** Registrations of one path: each costs calls of the plugin and of the API server. */
const BURST = 5;
const WINDOW_MS = 30_000;
/** A plugin that takes longer to register waits for something: its turn passes to the next. */
const LONG_MS = 1000;

export interface PluginSocketDeps {
  handlers: ReadonlyMap<string, PluginHandler>;
  dial: DialRegistration;
  /** Registrations under way, of all sockets. */
  turns: FairTurns;
  clock: Clock;
  log: Logger;
}

export class PluginSocket {
  private wanted: string | undefined;
  private registered: { identity: string; plugin: PluginInfo } | undefined;
  private running: Promise<void> = Promise.resolve();
  private active = false;
  /** Ends a back-off, and an attempt at a socket that is no longer wanted. */
  private turn = new AbortController();
  private readonly backoff = new Backoff(RETRY);
  /** Monotonic ms at which the first registrations of the last sockets began, the newest last. */
  private readonly begun: number[] = [];
  private tried: string | undefined;

  constructor(
    readonly path: string,
    private readonly deps: PluginSocketDeps,
  ) {}

  /** undefined: it is to be deregistered. */
  want(identity: string | undefined): void {
    if (identity === this.wanted) return;
    this.wanted = identity;
    this.backoff.reset();
    this.turn.abort(new Error("the socket was replaced"));
    this.turn = new AbortController();
    if (this.active) return;
    this.active = true;
    this.running = this.run();
  }

  /** Nothing is registered and nothing under way. */
  get idle(): boolean {
    return !this.active && this.registered === undefined && this.wanted === undefined;
  }

  get isWanted(): boolean {
    return this.wanted !== undefined;
  }

  get isRegistered(): boolean {
    return this.registered !== undefined;
  }

  /** Waits for the calls under way, without deregistering: the plugin outlives the kubelet. */
  async stop(): Promise<void> {
    this.wanted = this.registered?.identity;
    this.turn.abort(new StoppingError());
    await this.running;
  }

  private async run(): Promise<void> {
    for (;;) {
      const { wanted, registered } = this;
      const { signal } = this.turn;
      if (registered?.identity === wanted) {
        this.active = false;
        return;
      }
      if (registered !== undefined) await this.deregister(registered.plugin);
      else if (wanted !== undefined && !(await this.registerInTurn(wanted, signal))) await this.backOff(signal);
    }
  }

  private async registerInTurn(identity: string, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.deps;
    const turn = await this.waitForTurn(identity, signal);
    if (turn === undefined) return false;
    const long = clock.after(LONG_MS, () => turn.becomeLong()).unref();
    try {
      return await this.register(identity, signal);
    } finally {
      long.cancel();
      turn.release();
    }
  }

  /** undefined: the socket was replaced meanwhile. */
  private async waitForTurn(identity: string, signal: AbortSignal): Promise<Turn | undefined> {
    try {
      if (identity !== this.tried) await this.pace(signal);
      this.tried = identity;
      return await this.deps.turns.acquire({ owner: this.path, signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Another try at the same socket has its back-off. */
  private async pace(signal: AbortSignal): Promise<void> {
    const { clock } = this.deps;
    const [oldest] = this.begun;
    if (oldest !== undefined && this.begun.length >= BURST) {
      const waitMs = oldest + WINDOW_MS - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      this.begun.shift();
    }
    this.begun.push(clock.monotonic());
  }

  private async register(identity: string, signal: AbortSignal): Promise<boolean> {
    const { dial, log } = this.deps;
    let client: RegistrationClient | undefined;
    let plugin: PluginInfo | undefined;
    try {
      client = await dial(this.path);
      plugin = await client.getInfo(signal);
      faultPoint("plugin-registration");
      const handler = this.handlerOf(plugin);
      handler.validate(plugin);
      await handler.register(plugin, signal);
      this.registered = { identity, plugin };
      if (!(await this.notifyRegistered(client, plugin, signal))) return false;
      log.info(
        { socket: this.path, plugin: plugin.name, type: plugin.type },
        `${plugin.type} ${plugin.name} is registered`,
      );
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const text = messageOf(error);
      if (plugin !== undefined) await client?.notify(text, signal).catch(() => undefined);
      log.warn({ err: error, socket: this.path }, `cannot register the plugin at ${this.path}: ${text}; trying again`);
      return false;
    } finally {
      client?.close();
    }
  }

  /**
   * A plugin that does not accept the notification is deregistered and registered again after a back-off, as upstream.
   */
  private async notifyRegistered(
    client: RegistrationClient,
    plugin: PluginInfo,
    signal: AbortSignal,
  ): Promise<boolean> {
    try {
      await client.notify(undefined, signal);
      return true;
    } catch (error) {
      // Another socket is deregistered by the next round, and a kubelet that stops leaves the plugin registered.
      if (signal.aborted) return true;
      this.deps.log.warn(
        { err: error, socket: this.path },
        `${plugin.type} ${plugin.name} failed NotifyRegistrationStatus; deregistering it and trying again`,
      );
      await this.deregister(plugin);
      return false;
    }
  }

  private async deregister(plugin: PluginInfo): Promise<void> {
    const { log } = this.deps;
    this.registered = undefined;
    try {
      // Not to be called off by the socket's return: what follows relies on its being done.
      await this.handlerOf(plugin).deregister(plugin, new AbortController().signal);
      log.info({ socket: this.path, plugin: plugin.name }, `${plugin.type} ${plugin.name} is no longer registered`);
    } catch (error) {
      log.error({ err: error }, `${plugin.type} ${plugin.name} was removed, but deregistering it failed`);
    }
  }

  private async backOff(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await this.deps.clock.sleep(this.backoff.next(), signal).catch(() => undefined);
  }

  private handlerOf({ type, name }: PluginInfo): PluginHandler {
    const handler = this.deps.handlers.get(type);
    if (handler !== undefined) return handler;
    const known = [...this.deps.handlers.keys()].join(", ");
    throw new PluginRefusedError(`no handler registered for plugin type: ${type} of ${name}; there are: ${known}`);
  }
}
