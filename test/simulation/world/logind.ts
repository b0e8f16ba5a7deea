// systemd-logind of the simulated machine: it delays a shutdown for programs that hold a lock, and tells on the bus
// when one begins and when one is cancelled.
// https://www.freedesktop.org/software/systemd/man/latest/org.freedesktop.login1.html

import { disk } from "../disk/machine-disk.js";
import { kernel, type Handle } from "../kernel/kernel.js";
import { programs, type Conversation } from "./programs.js";
import { BUS_NAME, SystemBus, type BusMessage } from "./system-bus.js";

const NAME = "org.freedesktop.login1";
const CONF_DIR = "/etc/systemd/logind.conf.d";
/** logind's default. */
const DEFAULT_DELAY_MS = 5000;
/** From a request for a lock, or for a new configuration, to its effect. */
const MOST_EFFECT_MS = 200;
/** From the end of a holder to the end of its lock. */
const MOST_RELEASE_MS = 5;

/** A lock that delays a shutdown. */
interface Lock {
  /** Ends the process that holds it. */
  kill(): void;
}

export class Logind {
  /** InhibitDelayMaxUSec */
  delayMs = DEFAULT_DELAY_MS;
  /** PreparingForShutdown */
  preparing = false;
  readonly bus = new SystemBus((call) => this.answer(call));
  /** Locks of the kubelet. */
  readonly locks = new Set<Lock>();
  /** Hears that the kubelet's last lock was given back. */
  readonly onRelease = new Set<() => void>();
  private number = 1;
  private refuses = 0;
  private deadline: Handle | undefined;
  /** Another program has a lock until then. */
  private otherUntil = 0;
  private go: () => void = () => undefined;

  constructor() {
    programs.converse("systemd-inhibit", (process) => this.inhibit(process));
  }

  /** Delays the shutdown for the holders of locks, and calls `go` then. */
  shutDown(otherMs: number, go: () => void): void {
    this.preparing = true;
    this.go = go;
    this.otherUntil = kernel.monotonic + otherMs;
    this.say(true);
    this.deadline = kernel.after(kernel.world, this.delayMs, () => this.end());
    kernel.after(kernel.world, otherMs, () => this.goIfFree());
  }

  cancel(): void {
    if (!this.preparing) return;
    this.deadline?.cancel();
    this.preparing = false;
    this.go = () => undefined;
    this.say(false);
  }

  /** Another process of logind, which knows the locks. It does not know of a shutdown, so none may be under way. */
  restart(): void {
    if (this.preparing) return;
    const old = this.owner;
    this.number++;
    const body = [NAME, old, this.owner];
    this.bus.signal({ sender: BUS_NAME, interface: BUS_NAME, member: "NameOwnerChanged", body });
    this.delayMs = configuredDelayMs();
  }

  /** No lock is given for `ms`. */
  refuse(ms: number): void {
    this.refuses++;
    kernel.after(kernel.world, ms, () => void this.refuses--);
  }

  killHolders(): void {
    for (const lock of [...this.locks]) lock.kill();
  }

  /** The machine starts anew. */
  reboot(): void {
    this.deadline?.cancel();
    this.go = () => undefined;
    this.preparing = false;
    this.locks.clear();
    this.number++;
    this.delayMs = configuredDelayMs();
  }

  private get owner(): string {
    return `:1.${this.number}`;
  }

  private say(preparing: boolean): void {
    const member = "PrepareForShutdown";
    this.bus.signal({ sender: this.owner, interface: `${NAME}.Manager`, member, body: [preparing] });
  }

  private end(): void {
    this.deadline?.cancel();
    const { go } = this;
    this.go = () => undefined;
    go();
  }

  private goIfFree(): void {
    if (this.preparing && this.locks.size === 0 && this.otherUntil <= kernel.monotonic) this.end();
  }

  private answer({ member, body = [] }: BusMessage): unknown[] {
    switch (member) {
      case "GetNameOwner":
        return [this.owner];
      case "Get":
        // A variant is its type and a list of one value.
        return body[1] === "PreparingForShutdown"
          ? [[["b"], [this.preparing]]]
          : [[["t"], [String(this.delayMs * 1000)]]];
      case "KillUnit":
        kernel.after(kernel.world, kernel.random.between(1, MOST_EFFECT_MS), () => {
          this.delayMs = configuredDelayMs();
        });
        return [];
      default:
        return [];
    }
  }

  /** systemd-inhibit, which holds the lock while its command runs: a `cat`. */
  private inhibit(process: Conversation): void {
    let lock: Lock | undefined;
    let said = "";
    let isOver = false;
    const end = (code: number, problem = ""): void => {
      if (isOver) return;
      isOver = true;
      process.exit(code, problem);
      kernel.after(kernel.world, kernel.random.between(0.1, MOST_RELEASE_MS), () => {
        if (lock === undefined || !this.locks.delete(lock)) return;
        if (this.locks.size === 0) for (const listener of this.onRelease) listener();
        this.goIfFree();
      });
    };
    process.onInput((text) => {
      if (lock === undefined) said += text;
      else process.print(text);
    });
    process.onEnd(() => end(0));
    kernel.after(kernel.world, kernel.random.between(1, MOST_EFFECT_MS), () => {
      if (isOver) return;
      if (this.preparing || this.refuses > 0) {
        end(1, "Failed to inhibit: The operation inhibition has been requested for is already running");
        return;
      }
      lock = { kill: () => end(143) };
      this.locks.add(lock);
      process.print(said);
    });
  }
}

function configuredDelayMs(): number {
  let delayMs = DEFAULT_DELAY_MS;
  if (!disk.tree.exists(CONF_DIR)) return delayMs;
  const { entries } = disk.tree.lookUp(CONF_DIR, "open");
  for (const [name, { data }] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const seconds = /^InhibitDelayMaxSec=(\d+)$/m.exec(data.toString())?.[1];
    if (name.endsWith(".conf") && seconds !== undefined) delayMs = Number(seconds) * 1000;
  }
  return delayMs;
}
