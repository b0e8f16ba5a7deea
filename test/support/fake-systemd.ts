// A stand-in for systemd's manager on a socket of the test. It keeps units as a table and replies as configured. The
// protocol is D-Bus as on the private socket of process 1: EXTERNAL, then messages without a bus.

import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { authenticate, ERROR, RETURN, SIGNAL, wire, type Message } from "./dbus-wire.js";

const MANAGER = "org.freedesktop.systemd1.Manager";

export interface FakeUnit {
  active: boolean;
  /** Numbers as decimal text. */
  properties: Map<string, string | boolean>;
}

/** Behaviour of the next call of a method; without a plan it succeeds. */
export type Plan =
  | { job: string }
  | { job: "never" }
  | { error: [name: string, message: string] }
  /** The connection dies before the answer, or between the answer and the end of the job. */
  | { die: "unanswered" | "answered" }
  /** The job is over before the answer leaves. */
  | { early: true };

export class FakeSystemd {
  readonly units = new Map<string, FakeUnit>();
  /** "StartTransientUnit a.slice", in order. */
  readonly calls: string[] = [];
  readonly plans = new Map<string, Plan[]>();
  connections = 0;
  /** The kernel's state of a unit that was started, changed or removed. */
  onApplied: (unit: string, properties: FakeUnit["properties"]) => Promise<void> = () => Promise.resolve();
  onStopped: (unit: string) => Promise<void> = () => Promise.resolve();
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private job = 0;
  private serial = 0;

  constructor(readonly socketPath: string) {}

  async listen(): Promise<void> {
    this.server = createServer((socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      authenticate(socket, () => {
        wire.unmarshalMessages(socket, (message) => void this.answer(socket, message), { ReturnLongjs: true });
      });
    });
    this.server.listen(this.socketPath);
    await once(this.server, "listening");
  }

  /** Stops listening and cuts every connection; `listen` brings it back with its units. */
  async die(): Promise<void> {
    const server = this.server;
    if (server === undefined) return;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    server.close();
    await once(server, "close");
    await rm(this.socketPath, { force: true });
  }

  plan(method: string, ...plans: Plan[]): void {
    this.plans.set(method, plans);
  }

  /** Times a method was called. */
  count(method: string): number {
    return this.calls.filter((call) => call.startsWith(`${method} `)).length;
  }

  private async answer(socket: Socket, message: Message): Promise<void> {
    const method = message.member ?? "";
    const [unit] = message.body as [string];
    this.calls.push(`${method} ${unit}`);
    const plan = this.plans.get(method)?.shift();
    if (plan !== undefined && "die" in plan && plan.die === "unanswered") {
      socket.destroy();
      return;
    }
    const refusal = plan !== undefined && "error" in plan ? plan.error : this.refusal(method, unit);
    if (refusal !== undefined) {
      this.send(socket, { type: ERROR, replySerial: message.serial!, errorName: refusal[0] }, "s", [refusal[1]]);
      return;
    }
    const result = plan !== undefined && "job" in plan ? plan.job : "done";
    if (result === "done") await this.apply(method, unit, message.body ?? []);
    const job = `/org/freedesktop/systemd1/job/${++this.job}`;
    const reply = (): void => {
      if (method === "SetUnitProperties") this.send(socket, { type: RETURN, replySerial: message.serial! });
      else this.send(socket, { type: RETURN, replySerial: message.serial! }, "o", [job]);
    };
    const end = (): void => {
      if (method === "SetUnitProperties" || method === "GetUnit" || result === "never") return;
      const about = { type: SIGNAL, path: "/org/freedesktop/systemd1", interface: MANAGER, member: "JobRemoved" };
      this.send(socket, about, "uoss", [this.job, job, unit, result]);
    };
    if (plan !== undefined && "early" in plan) {
      end();
      reply();
      return;
    }
    reply();
    if (plan !== undefined && "die" in plan) socket.end();
    else end();
  }

  private refusal(method: string, unit: string): [string, string] | undefined {
    const found = this.units.get(unit);
    if (method === "StartTransientUnit" && found !== undefined) {
      return ["org.freedesktop.systemd1.UnitExists", `Unit ${unit} was already loaded or has a fragment file.`];
    }
    if ((method === "StopUnit" || method === "GetUnit") && found === undefined) {
      return ["org.freedesktop.systemd1.NoSuchUnit", `Unit ${unit} not loaded.`];
    }
    return undefined;
  }

  private async apply(method: string, unit: string, body: unknown[]): Promise<void> {
    if (method === "StopUnit") {
      this.units.delete(unit);
      await this.onStopped(unit);
      return;
    }
    if (method === "GetUnit") return;
    const found = this.units.get(unit) ?? { active: false, properties: new Map<string, string | boolean>() };
    this.units.set(unit, found);
    if (method === "StartTransientUnit" || method === "SetUnitProperties") {
      for (const [name, [, [value]]] of body[2] as [string, [unknown, [unknown]]][]) {
        found.properties.set(name, typeof value === "boolean" ? value : String(value));
      }
    }
    if (method !== "SetUnitProperties") found.active = true;
    if (found.active) await this.onApplied(unit, found.properties);
  }

  private send(socket: Socket, message: Message, signature?: string, body?: unknown[]): void {
    const content = signature === undefined ? {} : { signature, body: body ?? [] };
    socket.write(wire.marshall({ ...message, ...content, serial: ++this.serial }));
  }
}
