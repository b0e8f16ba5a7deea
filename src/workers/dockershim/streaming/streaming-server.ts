// The HTTP server whose URLs exec, attach and port-forward answer with. It listens on loopback from the first of them
// on.
// Invariant: a URL works once, within a minute; without one, nothing is served. Connections are at most 1000, each with
// its deadlines.
// Source: https://github.com/kubernetes/kubernetes/tree/master/staging/src/k8s.io/kubelet/pkg/cri/streaming

import { createServer, STATUS_CODES, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import { isLoopbackHost } from "../../../shared/io/http/host.js";
import { readNodeHttp1 } from "../../../shared/io/http/read-request.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { channelProtocol } from "./channel-connection.js";
import { channelCommandStreams, spdyCommandStreams, type CommandOptions } from "./command-streams.js";
import { forwardChannels, forwardSpdy, type Forwarding } from "./forward.js";
import { runCommand, type CommandStart } from "./run-command.js";
import { Tokens } from "./tokens.js";

/** A stream that a client may open. */
export type StreamRequest =
  | { readonly kind: "exec" | "attach"; readonly options: CommandOptions; readonly command: CommandStart }
  | {
      readonly kind: "portforward";
      readonly ports: readonly number[];
      readonly forwarding: Omit<Forwarding, "clock">;
    };

const MAX_CONNECTIONS = 1000;
const HEADERS_MS = 30_000;
/** For a refused client to read the answer. */
const REFUSED_MS = 1000;
/** Upstream's default for a connection without data. */
const IDLE_MS = 4 * 60 * 60 * 1000;
/** Protocols of exec and attach over SPDY, newest first. */
const COMMAND_VERSIONS: Readonly<Record<string, number>> = {
  "v4.channel.k8s.io": 4,
  "v3.channel.k8s.io": 3,
  "v2.channel.k8s.io": 2,
  "channel.k8s.io": 1,
};
const FORWARD_PROTOCOL = "portforward.k8s.io";

interface Refusal {
  readonly status: number;
  readonly text: string;
}

const MALFORMED: Refusal = { status: 400, text: "400 Bad Request" };
const NO_UPGRADE: Refusal = { status: 400, text: "an upgrade to SPDY/3.1 or a WebSocket is needed" };
const UNKNOWN: Refusal = { status: 404, text: "404 page not found" };
/** As of the kubelet's ports without authentication: a web site cannot reach this one under a name of its own. */
const OTHER_HOST: Refusal = { status: 421, text: "this port responds only to localhost, 127.0.0.1 and [::1]" };

export class StreamingServer {
  private readonly tokens: Tokens<StreamRequest>;
  private readonly sockets = new Set<Socket>();
  private readonly http: Server;
  private listening: Promise<string> | undefined;

  constructor(private readonly deps: { clock: Clock; log: Logger }) {
    this.tokens = new Tokens(deps.clock);
    this.http = createServer({ headersTimeout: HEADERS_MS, requestTimeout: HEADERS_MS });
    this.http.maxConnections = MAX_CONNECTIONS;
    this.http.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
    });
    this.http.on("request", (request, response) => {
      const wanted = this.wantedBy(request);
      const { status, text } = "refused" in wanted ? wanted.refused : NO_UPGRADE;
      response.writeHead(status, { "Content-Type": "text/plain", Connection: "close" });
      response.end(`${text}\n`);
    });
    this.http.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      // "close" follows.
      socket.on("error", () => undefined);
      this.refuse(socket, MALFORMED);
    });
    this.http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // "close" follows.
      socket.on("error", () => undefined);
      try {
        const wanted = this.wantedBy(request);
        if ("refused" in wanted) this.refuse(socket, wanted.refused);
        else this.serve(wanted.request, request, socket, head);
      } catch (error) {
        // It ends this connection, not the thread.
        this.deps.log.error({ err: error }, `cannot serve a stream: ${messageOf(error)}`);
        socket.destroy();
      }
    });
  }

  /** The URL of the request, "http://127.0.0.1:…". @throws Fault if too many requests wait for their clients */
  async urlOf(request: StreamRequest): Promise<string> {
    const base = await (this.listening ??= this.listen());
    return `${base}/${request.kind}/${this.tokens.add(request)}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (this.listening === undefined) return;
    await this.listening.catch(() => undefined);
    await new Promise<void>((resolve) => this.http.close(() => resolve()));
  }

  private listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.http.once("error", (error) => {
        this.listening = undefined;
        reject(error);
      });
      this.http.listen(0, "127.0.0.1", () => {
        const { port } = this.http.address() as AddressInfo;
        resolve(`http://127.0.0.1:${port}`);
      });
    });
  }

  /** Takes the token of the URL, which a second request does not find again. */
  private wantedBy(message: IncomingMessage): { request: StreamRequest } | { refused: Refusal } {
    const reading = readNodeHttp1(message, "http");
    if (reading.kind !== "request") {
      const why = reading.kind === "refused" ? reading.refusal.why : "malformed request target";
      return { refused: { ...MALFORMED, text: `400 Bad Request: ${why}` } };
    }
    const { host, target, method } = reading.request;
    if (host !== undefined && !isLoopbackHost(host)) return { refused: OTHER_HOST };
    const [, kind, token = ""] = /^\/(exec|attach|portforward)\/([\w-]{1,64})$/.exec(target.path) ?? [];
    if (kind === undefined || (method !== "GET" && method !== "POST")) return { refused: UNKNOWN };
    const request = this.tokens.take(token);
    return request?.kind === kind ? { request } : { refused: UNKNOWN };
  }

  private serve(wanted: StreamRequest, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upgrade = (request.headers.upgrade ?? "").toLowerCase();
    if (upgrade !== "websocket" && !upgrade.startsWith("spdy/3.1")) {
      this.refuse(socket, { ...NO_UPGRADE, text: `${NO_UPGRADE.text}, not to ${JSON.stringify(upgrade)}` });
      return;
    }
    this.watchIdle(socket);
    if (upgrade === "websocket") this.serveWebSocket(wanted, request, socket, head);
    else this.serveSpdy(wanted, request, socket, head);
  }

  private serveWebSocket(wanted: StreamRequest, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { clock, log } = this.deps;
    const protocol = channelProtocol(request.headers["sec-websocket-protocol"]);
    if (protocol === undefined) {
      this.refuse(socket, {
        status: 400,
        text: "none of the offered WebSocket protocols is known: use v4.channel.k8s.io",
      });
      return;
    }
    if (wanted.kind === "portforward") {
      forwardChannels(request, socket, head, { ...wanted.forwarding, clock, protocol, ports: wanted.ports });
      return;
    }
    const streams = channelCommandStreams(request, socket, head, { options: wanted.options, protocol });
    if (streams !== undefined) void runCommand(streams, wanted.command, log);
  }

  private serveSpdy(wanted: StreamRequest, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { clock, log } = this.deps;
    const known = wanted.kind === "portforward" ? [FORWARD_PROTOCOL] : Object.keys(COMMAND_VERSIONS);
    const protocol = chosen(request, known);
    if (protocol === undefined) {
      this.refuse(
        socket,
        { status: 403, text: "none of the offered protocols is known" },
        { "X-Accepted-Stream-Protocol-Versions": known },
      );
      return;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n` +
        (protocol === "" ? "" : `X-Stream-Protocol-Version: ${protocol}\r\n`) +
        "\r\n",
    );
    if (wanted.kind === "portforward") {
      forwardSpdy(socket, head, { ...wanted.forwarding, clock });
      return;
    }
    const version = COMMAND_VERSIONS[protocol] ?? 1;
    spdyCommandStreams(socket, head, { options: wanted.options, version, clock }).then(
      (streams) => runCommand(streams, wanted.command, log),
      (error: unknown) => log.debug({ err: error }, `a client of ${wanted.kind} opened no streams`),
    );
  }

  /** Ends a connection without data; checks four times in that time. */
  private watchIdle(socket: Duplex): void {
    const bytes = (): number =>
      "bytesRead" in socket && "bytesWritten" in socket ? Number(socket.bytesRead) + Number(socket.bytesWritten) : 0;
    let seen = bytes();
    let idle = 0;
    const timer = this.deps.clock.every(IDLE_MS / 4, () => {
      const now = bytes();
      idle = now === seen ? idle + 1 : 0;
      seen = now;
      if (idle >= 4) socket.destroy();
    });
    socket.once("close", () => timer.cancel());
  }

  /** A client that leaves bytes unread, or sends more, does not keep its connection. */
  private refuse(socket: Duplex, { status, text }: Refusal, headers: Record<string, readonly string[]> = {}): void {
    const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`));
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Type: text/plain\r\n` +
        `Content-Length: ${Buffer.byteLength(text) + 1}\r\n${lines.join("")}\r\n${text}\n`,
    );
    const grace = this.deps.clock.after(REFUSED_MS, () => socket.destroy());
    socket.once("close", () => grace.cancel());
  }
}

/** The first offered one that is known; "" if the client offers none; undefined if none is known. */
function chosen(request: IncomingMessage, known: readonly string[]): string | undefined {
  const offered = (request.headersDistinct["x-stream-protocol-version"] ?? [])
    .flatMap((line) => line.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return offered.length === 0 ? "" : offered.find((name) => known.includes(name));
}
