// systemd's login manager: delays a shutdown for holders of a lock, and signals when one is about to begin.
// Invariant: only messages from logind itself count. After a restart of logind the connection is closed, because the
// new process does not know of an earlier shutdown.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { connectSystemBus, type BusTarget, type SystemBus } from "./system-bus.js";

const NAME = "org.freedesktop.login1";
const PATH = "/org/freedesktop/login1";
const MANAGER = `${NAME}.Manager`;
const PREPARE = "PrepareForShutdown";
const PROPERTIES: BusTarget = { destination: NAME, path: PATH, interface: "org.freedesktop.DBus.Properties" };
const SYSTEMD: BusTarget = {
  destination: "org.freedesktop.systemd1",
  path: "/org/freedesktop/systemd1",
  interface: "org.freedesktop.systemd1.Manager",
};
const SIGHUP = 1;

export interface Logind {
  /** Called when a shutdown is about to begin, and with false when it was called off. */
  watch(listener: (preparing: boolean) => void): Promise<void>;
  /** The longest time for which logind delays a shutdown, ms. */
  inhibitDelayMs(): Promise<number>;
  /** A shutdown is being delayed at this moment. */
  preparing(): Promise<boolean>;
  /** Makes logind reload its configuration; the call does not wait for that. */
  reload(): Promise<void>;
  /** Resolves when the connection to logind is lost. */
  readonly lost: Promise<void>;
  close(): void;
}

export async function connectLogind(socketPath: string, clock: Clock): Promise<Logind> {
  return new BusLogind(await connectSystemBus(socketPath, clock));
}

class BusLogind implements Logind {
  readonly lost: Promise<void>;

  constructor(private readonly bus: SystemBus) {
    this.lost = bus.lost;
  }

  async watch(listener: (preparing: boolean) => void): Promise<void> {
    const { bus } = this;
    const known: { owner?: string } = {};
    bus.onSignal(({ sender, interface: from, member, body = [] }) => {
      if (member === "NameOwnerChanged" && sender === "org.freedesktop.DBus" && body[0] === NAME) {
        if (known.owner !== undefined && body[2] !== known.owner) bus.close();
      } else if (member === PREPARE && from === MANAGER && sender !== undefined && sender === known.owner) {
        listener(body[0] === true);
      }
    });
    await bus.match(`type='signal',sender='${NAME}',path='${PATH}',interface='${MANAGER}',member='${PREPARE}'`);
    await bus.match(`type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${NAME}'`);
    // Starts it when it does not run yet.
    await this.inhibitDelayMs();
    known.owner = await bus.ownerOf(NAME);
  }

  async inhibitDelayMs(): Promise<number> {
    return Number(String(await this.property("InhibitDelayMaxUSec"))) / 1000;
  }

  async preparing(): Promise<boolean> {
    return (await this.property("PreparingForShutdown")) === true;
  }

  async reload(): Promise<void> {
    await this.bus.call(SYSTEMD, "KillUnit", "ssi", ["systemd-logind.service", "all", SIGHUP]);
  }

  close(): void {
    this.bus.close();
  }

  /** A variant comes as its type and a list of one value. */
  private async property(name: string): Promise<unknown> {
    const [variant] = await this.bus.call(PROPERTIES, "Get", "ss", [MANAGER, name]);
    const [, values] = variant as [unknown, unknown[]];
    return values[0];
  }
}
