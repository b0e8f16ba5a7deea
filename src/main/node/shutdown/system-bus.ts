// A connection to the system bus: calls and signals, no more than the shutdown needs. The socket carries no file
// descriptors: Node can't receive any (docs/adr/0034).
// Invariant: every call settles: with a reply, OperatorError.

import { createConnection, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { BusAddressError, busLostError } from "./errors.js";

const SYSTEM_BUS_SOCKET = "/run/dbus/system_bus_socket";
const DEADLINE_MS = 5000;
const SIGNAL = 4;
const BUS = { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus" };

export interface BusTarget {
  destination: string;
  path: string;
  interface: string;
}

interface BusSignal {
  /** The sender's unique bus name, ":1.7"; the bus itself has its well-known one. */
  sender?: string;
  path?: string;
  interface?: string;
  member?: string;
  body?: unknown[];
}

export interface SystemBus {
  call(target: BusTarget, member: string, signature?: string, body?: readonly unknown[]): Promise<unknown[]>;
  /** Asks the bus for signals. */
  match(rule: string): Promise<void>;
  /** The unique bus name of the owner of this well-known name. */
  ownerOf(name: string): Promise<string>;
  onSignal(listener: (signal: BusSignal) => void): void;
  /** Resolves when the connection is closed, for any reason. */
  readonly lost: Promise<void>;
  close(): void;
}

/** The part of @homebridge/dbus-native in use; its own types leave it out. */
interface DbusClient {
  invoke(
    message: BusTarget & { member: string; signature?: string; body?: unknown[] },
    done: (error: { name?: string; message?: string } | null, ...values: unknown[]) => void,
  ): void;
  connection: {
    on(event: "message", listener: (message: BusSignal & { type?: number }) => void): void;
    on(event: "error", listener: (error: unknown) => void): void;
    once(event: "connect", listener: () => void): void;
  };
}
interface DbusLibrary {
  createClient(options: { stream: Duplex; direct: true; authMethods: readonly string[] }): DbusClient;
}

/** Address of the system bus, found as every D-Bus library finds it. @throws BusAddressError */
export function systemBusSocket(environment: NodeJS.ProcessEnv): string {
  const address = environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? "";
  if (address === "") return SYSTEM_BUS_SOCKET;
  for (const one of address.split(";")) {
    const path = /^unix:(?:.*,)?path=([^,]+)/.exec(one)?.[1];
    if (path !== undefined) return decodeURIComponent(path);
  }
  throw new BusAddressError(address);
}

/** Rejects with the socket's error, a refusal, or OperatorError. */
export async function connectSystemBus(path: string, clock: Clock): Promise<SystemBus> {
  // Loaded here: 10 MiB that only nodes with graceful shutdown or systemd's slices need.
  const library = (await import("@homebridge/dbus-native")) as unknown as { default: DbusLibrary };
  const socket = createConnection(path);
  // `direct`: the kubelet sends the greeting itself, so that a refused one is an ordinary reply.
  const client = library.default.createClient({ stream: socket, direct: true, authMethods: ["EXTERNAL"] });
  const bus = new Connection(socket, client, clock);
  try {
    await bus.openConnection();
    return bus;
  } catch (error) {
    bus.close();
    throw error;
  }
}

class Connection implements SystemBus {
  readonly lost: Promise<void>;
  private failure: unknown;
  private over = false;
  /** Reject the pending calls; called when the connection ends. */
  private readonly cuts = new Set<() => void>();

  constructor(
    private readonly socket: Socket,
    private readonly client: DbusClient,
    private readonly clock: Clock,
  ) {
    this.lost = new Promise((resolve) => {
      const end = (): void => {
        this.over = true;
        socket.destroy();
        for (const cut of [...this.cuts]) cut();
        resolve();
      };
      socket.once("end", end);
      socket.once("close", end);
    });
    // The library hands the socket's errors on here too; without a listener they would end the process.
    client.connection.on("error", (error) => {
      this.failure = error;
      this.close();
    });
  }

  async openConnection(): Promise<void> {
    await this.pending("the connection's begin", (resolve) =>
      this.client.connection.once("connect", () => resolve([])),
    );
    await this.call(BUS, "Hello");
  }

  call(target: BusTarget, member: string, signature?: string, body?: readonly unknown[]): Promise<unknown[]> {
    const what = `${member} of ${target.destination}`;
    const content = signature === undefined ? {} : { signature, body: [...(body ?? [])] };
    return this.pending(what, (resolve, reject) => {
      this.client.invoke({ ...target, member, ...content }, (error, ...values) => {
        if (error === null) resolve(values);
        else
          reject(
            new OperatorError(
              `${what} was refused: ${error.message ?? ""} (${error.name ?? ""}); "systemctl status systemd-logind dbus" may show the reason`,
            ),
          );
      });
    });
  }

  async match(rule: string): Promise<void> {
    await this.call(BUS, "AddMatch", "s", [rule]);
  }

  async ownerOf(name: string): Promise<string> {
    const [owner] = await this.call(BUS, "GetNameOwner", "s", [name]);
    return String(owner);
  }

  onSignal(listener: (signal: BusSignal) => void): void {
    this.client.connection.on("message", (message) => {
      if (message.type === SIGNAL) listener(message);
    });
  }

  close(): void {
    this.socket.destroy();
  }

  private pending(
    what: string,
    begin: (resolve: (values: unknown[]) => void, reject: (error: Error) => void) => void,
  ): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.cuts.delete(cut);
        timer.cancel();
      };
      const fail = (error: Error): void => {
        leave();
        reject(error);
      };
      const cut = (): void => fail(busLostError(what, this.failure));
      const timer = this.clock.after(DEADLINE_MS, () =>
        fail(new OperatorError(`no response to ${what} within ${DEADLINE_MS / 1000} s; trying again`)),
      );
      if (this.over) {
        cut();
        return;
      }
      this.cuts.add(cut);
      begin((values) => {
        leave();
        resolve(values);
      }, fail);
    });
  }
}
