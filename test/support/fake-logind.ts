// A fake system bus with logind, on the test's own socket. It greets, accepts matches, responds for logind and systemd
// as configured, and sends PrepareForShutdown to every subscriber.

import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { authenticate, ERROR, RETURN, SIGNAL, wire, type Message } from "./dbus-wire.js";

const LOGIND = ":1.5";
const MANAGER = "org.freedesktop.login1.Manager";
const BUS = "org.freedesktop.DBus";

export class FakeLogind {
  /** InhibitDelayMaxUSec; what it is after a reload. */
  delayMs = 60_000;
  delayAfterReloadMs: number | undefined;
  preparing = false;
  /** "Get InhibitDelayMaxUSec", in order. */
  readonly calls: string[] = [];
  /** Name and text by which calls of this member are refused. */
  readonly refused = new Map<string, [name: string, message: string]>();
  /** Members that are never answered. */
  readonly silent = new Set<string>();
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly subscribed = new Set<Socket>();
  private server: Server | undefined;
  private serial = 0;

  constructor(readonly socketPath: string) {}

  get address(): string {
    return `unix:path=${this.socketPath}`;
  }

  async listen(): Promise<void> {
    this.server = createServer((socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.once("close", () => {
        this.sockets.delete(socket);
        this.subscribed.delete(socket);
      });
      socket.on("error", () => socket.destroy());
      authenticate(socket, () => {
        wire.unmarshalMessages(socket, (message) => this.answer(socket, message), { ReturnLongjs: true });
      });
    });
    this.server.listen(this.socketPath);
    await once(this.server, "listening");
  }

  /** Stops listening and cuts every connection; `listen` brings it back. */
  async die(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    server.close();
    await once(server, "close");
    await rm(this.socketPath, { force: true });
  }

  /** Sends PrepareForShutdown to all listeners: a shutdown is about to begin, or was cancelled. */
  prepare(preparing: boolean): void {
    this.preparing = preparing;
    this.signal(LOGIND, "PrepareForShutdown", MANAGER, "b", [preparing]);
  }

  /** Emits the signal from another sender than logind. */
  forge(preparing: boolean): void {
    this.signal(":1.66", "PrepareForShutdown", MANAGER, "b", [preparing]);
  }

  /** logind ended, or another one began. */
  ownerChanged(owner: string): void {
    this.signal(BUS, "NameOwnerChanged", BUS, "sss", ["org.freedesktop.login1", LOGIND, owner]);
  }

  /** A client has subscribed to signals. */
  get watched(): boolean {
    return this.subscribed.size > 0;
  }

  private signal(sender: string, member: string, from: string, signature: string, body: unknown[]): void {
    const path = sender === BUS ? "/org/freedesktop/DBus" : "/org/freedesktop/login1";
    const message = { type: SIGNAL, sender, path, interface: from, member };
    for (const socket of this.subscribed) this.send(socket, message, signature, body);
  }

  private answer(socket: Socket, { serial, member = "", body = [] }: Message): void {
    this.calls.push([member, ...(member === "Get" ? body.slice(1) : [])].join(" "));
    if (this.silent.has(member)) return;
    const refusal = this.refused.get(member);
    if (refusal !== undefined) {
      this.send(socket, { type: ERROR, replySerial: serial!, errorName: refusal[0] }, "s", [refusal[1]]);
      return;
    }
    if (member === "AddMatch") this.subscribed.add(socket);
    if (member === "KillUnit") this.delayMs = this.delayAfterReloadMs ?? this.delayMs;
    const [signature, values] = this.resultOf(member, String(body[1]));
    this.send(socket, { type: RETURN, replySerial: serial! }, signature, values);
  }

  private resultOf(member: string, property: string): [signature?: string, values?: unknown[]] {
    switch (member) {
      case "Hello":
        return ["s", [":1.9"]];
      case "GetNameOwner":
        return ["s", [LOGIND]];
      case "Get":
        return property === "PreparingForShutdown"
          ? ["v", [["b", this.preparing]]]
          : ["v", [["t", String(this.delayMs * 1000)]]];
      default:
        return [];
    }
  }

  private send(socket: Socket, message: Message, signature?: string, body?: unknown[]): void {
    const content = signature === undefined ? {} : { signature, body: body ?? [] };
    socket.write(wire.marshall({ ...message, ...content, serial: ++this.serial }));
  }
}
