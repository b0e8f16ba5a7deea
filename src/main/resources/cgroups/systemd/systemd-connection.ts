// One connection to systemd's manager: calls, and the ends of the jobs they start. It speaks D-Bus directly to process
// 1 at its private socket. So it needs no bus daemon, which may not run yet, and no other process can send it messages.
// Invariant: every call and every wait settles: with a reply, an abort, or SystemdConnectionLostError.

import { createConnection, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { abortReason, asError } from "../../../../shared/base/errors/thrown.js";
import { SystemdCallError, SystemdConnectionLostError, type SystemdSubject } from "./systemd-errors.js";

export const SYSTEMD_SOCKET = "/run/systemd/private";
const SIGNAL = 4;
const MANAGER = {
  destination: "org.freedesktop.systemd1",
  path: "/org/freedesktop/systemd1",
  interface: "org.freedesktop.systemd1.Manager",
};

/** A value as the D-Bus library takes it: 64-bit numbers as decimal text, a variant as [type, value]. */
export type DbusValue = string | boolean | readonly DbusValue[];

export interface SystemdConnection {
  readonly open: boolean;
  /** @throws SystemdCallError, SystemdConnectionLostError, or the signal's reason */
  call(subject: SystemdSubject, signature: string, body: readonly DbusValue[], signal: AbortSignal): Promise<unknown[]>;
  /**
   * A call that starts a job; resolves to the job's result ("done", "failed", …) when the job has ended. Throws as
   * `call`.
   */
  runJob(subject: SystemdSubject, signature: string, body: readonly DbusValue[], signal: AbortSignal): Promise<string>;
  /** While idle the connection does not keep the process alive. */
  setIdle(idle: boolean): void;
  close(): void;
}

interface DbusMessage {
  type?: number;
  interface?: string;
  member?: string;
  body?: unknown[];
}

/** The part of @homebridge/dbus-native in use; its own types leave it out. */
interface DbusLibrary {
  createClient(options: { stream: Duplex; direct: true; authMethods: readonly string[] }): {
    invoke(
      message: DbusMessage & typeof MANAGER & { signature: string },
      done: (error: { name: string; message: string } | null, ...values: unknown[]) => void,
    ): void;
    connection: {
      on(event: "message", listener: (message: DbusMessage) => void): void;
      on(event: "error", listener: (error: unknown) => void): void;
      once(event: "connect", listener: () => void): void;
    };
  };
}

/** Connects and authenticates. Rejects with the socket's error or the signal's reason. */
export async function connectSystemd(path: string, signal: AbortSignal): Promise<SystemdConnection> {
  // Loaded here: 10 MiB that only nodes with this driver need.
  const library = (await import("@homebridge/dbus-native")) as unknown as { default: DbusLibrary };
  signal.throwIfAborted();
  const socket = createConnection(path);
  const client = library.default.createClient({ stream: socket, direct: true, authMethods: ["EXTERNAL"] });
  return new Promise((resolve, reject) => {
    const give = (error: unknown): void => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      reject(asError(error));
    };
    const onAbort = (): void => {
      give(signal.reason);
    };
    const onClose = (): void => {
      give(new Error("the connection was closed before it was authenticated"));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    // The library hands the socket's errors on here too; without a listener they would end the process.
    client.connection.on("error", give);
    socket.once("close", onClose);
    client.connection.once("connect", () => {
      signal.removeEventListener("abort", onAbort);
      socket.off("close", onClose);
      resolve(new Connection(socket, client));
    });
  });
}

class Connection implements SystemdConnection {
  open = true;
  private failure: unknown;
  /** Reject the pending calls; called when the connection closes. */
  private readonly cuts = new Set<() => void>();
  private readonly waiting = new Map<string, (result: string) => void>();
  /** Jobs whose result came before the reply to their call; kept while such a call is pending. */
  private readonly over = new Map<string, string>();
  private starting = 0;

  constructor(
    private readonly socket: Socket,
    private readonly client: ReturnType<DbusLibrary["createClient"]>,
  ) {
    client.connection.on("error", (error) => {
      this.failure = error;
      this.close();
    });
    client.connection.on("message", (message) => {
      if (message.type === SIGNAL && message.member === "JobRemoved" && message.interface === MANAGER.interface) {
        this.jobRemoved(message.body ?? []);
      }
    });
    const onEnd = (): void => {
      this.close();
    };
    socket.once("end", onEnd);
    socket.once("close", onEnd);
  }

  call(
    subject: SystemdSubject,
    signature: string,
    body: readonly DbusValue[],
    signal: AbortSignal,
  ): Promise<unknown[]> {
    return this.pending(subject, signal, (resolve, reject) => {
      this.client.invoke({ ...MANAGER, member: subject.method, signature, body: [...body] }, (error, ...values) => {
        if (error === null) resolve(values);
        else reject(new SystemdCallError(subject, error.name, error.message));
      });
      return () => undefined;
    });
  }

  async runJob(
    subject: SystemdSubject,
    signature: string,
    body: readonly DbusValue[],
    signal: AbortSignal,
  ): Promise<string> {
    this.starting++;
    try {
      const [job] = await this.call(subject, signature, body, signal);
      const name = String(job);
      const result = this.over.get(name);
      if (result !== undefined) return result;
      return await this.pending<string>(subject, signal, (resolve) => {
        this.waiting.set(name, resolve);
        return () => this.waiting.delete(name);
      });
    } finally {
      if (--this.starting === 0) this.over.clear();
    }
  }

  setIdle(idle: boolean): void {
    if (idle) this.socket.unref();
    else this.socket.ref();
  }

  close(): void {
    this.open = false;
    this.socket.destroy();
    for (const cut of [...this.cuts]) cut();
  }

  private jobRemoved([, job, , result]: unknown[]): void {
    if (typeof job !== "string" || typeof result !== "string") return;
    const waiter = this.waiting.get(job);
    if (waiter !== undefined) waiter(result);
    else if (this.starting > 0) this.over.set(job, result);
  }

  /** A promise that also ends with the connection or the signal. `begin` returns what undoes it. */
  private pending<T>(
    subject: SystemdSubject,
    signal: AbortSignal,
    begin: (resolve: (value: T) => void, reject: (error: Error) => void) => () => void,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let undo = (): void => undefined;
      const leave = (): void => {
        undo();
        this.cuts.delete(onCut);
        signal.removeEventListener("abort", onAbort);
      };
      const fail = (error: Error): void => {
        leave();
        reject(error);
      };
      const onCut = (): void => fail(new SystemdConnectionLostError(subject, this.failure));
      const onAbort = (): void => {
        fail(abortReason(signal));
      };
      if (!this.open) {
        onCut();
        return;
      }
      if (signal.aborted) {
        onAbort();
        return;
      }
      this.cuts.add(onCut);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        undo = begin((value) => {
          leave();
          resolve(value);
        }, fail);
      } catch (error) {
        // The library refuses a value that its type cannot hold.
        fail(asError(error));
      }
    });
  }
}
