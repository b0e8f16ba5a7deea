// An authenticated port: certificate and CAs from their files, the TLS server, and the gate that all requests pass.
// Loaded when the thread runs, as the first pods must not wait for it.
// Invariant: the port is open only while there is a serving certificate and, if client certificates are verified, a CA.
// An invalid new file leaves the last good one in force.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import type { ListenAddress, SecureInit } from "../../../shared/contracts/server.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { Peers } from "../auth/peers.js";
import { Refusals } from "../auth/refusals.js";
import { entry, type Entered } from "../http/entry.js";
import { HttpsServer, type ConnectionLimits } from "./https-server.js";
import { Listener } from "./listener.js";
import { checkContext, contextOptions, type ServingPair } from "./tls/context.js";
import { clientTrustAnchors } from "./tls/trust-anchors.js";
import { WatchedFiles } from "./tls/watched-files.js";

/** What the gate of a port needs of it. */
export interface PortSide {
  readonly peers: Peers;
  readonly refusals: Refusals;
  /**
   * A request of this connection may pass. False: its user has too many connections, and it may not. `streams`: HTTP/2
   * requests in progress, if fewer than usual.
   */
  authorised(socket: Socket, user: string, streams?: number): boolean;
  /** A request of this connection may not pass; the response is not sent yet. */
  refused(socket: Socket, response: ServerResponse): void;
  /** The connection closes after this response, which is not sent yet. */
  endAfter(socket: Socket, response: ServerResponse): void;
}

/** Decides on each request, and has it served. */
export interface Gate {
  readonly handle: Entered;
  readonly onMalformed: (request: IncomingMessage, response: ServerResponse, why: string) => void;
}

export interface SecurePortOptions {
  /** For log lines. */
  name: string;
  /** Flags and fields that change address and port. */
  changedBy: string;
  init: Pick<SecureInit, "port" | "tls"> & { authentication: Pick<SecureInit["authentication"], "clientCAFile"> };
  address: string;
  gate: (port: PortSide) => Gate;
  limits: ConnectionLimits;
  clock: Clock;
  log: Logger;
}

export class SecurePort {
  private readonly peers = new Peers();
  private readonly refusals: Refusals;
  private readonly gate: Gate;
  private readonly files: WatchedFiles[] = [];
  private pair: ServingPair | undefined;
  private clientCA: string | undefined;
  private server: HttpsServer | undefined;
  private listener: Listener | undefined;
  private closed = false;

  constructor(private readonly options: SecurePortOptions) {
    this.refusals = new Refusals(options.clock, options.log);
    this.gate = options.gate({
      peers: this.peers,
      refusals: this.refusals,
      authorised: (socket, user, streams) => this.server?.authorised(socket, user, streams) ?? true,
      refused: (socket, response) => this.server?.refused(socket, response),
      endAfter: (socket, response) => this.server?.endAfter(socket, response),
    });
  }

  /** Resolves when the files were read once; the port opens when they are valid. */
  async start(): Promise<void> {
    const { certFile, keyFile } = this.options.init.tls;
    const { clientCAFile } = this.options.init.authentication;
    if (clientCAFile !== "") await this.follow([clientCAFile], "the CAs of clients", ([ca = ""]) => this.setCA(ca));
    await this.follow([certFile, keyFile], "the serving certificate", ([cert = "", key = ""]) =>
      this.setPair({ cert, key }),
    );
  }

  /** The address of the listener; undefined while it does not listen. */
  listening(): Promise<ListenAddress | undefined> {
    return this.listener?.listening() ?? Promise.resolve(undefined);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const files of this.files) files.close();
    await this.listener?.close();
  }

  private async follow(
    paths: readonly string[],
    what: string,
    onContents: (contents: readonly string[]) => void,
  ): Promise<void> {
    const { name, clock, log } = this.options;
    const onProblem = (err: Error): void => {
      if (this.listener !== undefined) {
        log.warn({ err, files: paths }, `${what} changed and cannot be used: the previous one stays in use`);
      } else if (errorCode(err) === "ENOENT") {
        // The certificate may still arrive: generated, signed, or written by another program.
        log.info({ files: paths }, `${what} does not exist yet: the ${name} port opens when it does`);
      } else {
        log.warn({ err, files: paths }, `${what} cannot be used: the ${name} port stays closed until it is valid`);
      }
    };
    const files = new WatchedFiles({ paths, clock, onContents, onProblem });
    this.files.push(files);
    await files.start();
  }

  private setPair(pair: ServingPair): void {
    const changed = this.pair !== undefined;
    checkContext(contextOptions(this.options.init.tls, pair, undefined));
    this.pair = pair;
    this.apply();
    if (changed) this.options.log.info("reloaded the serving certificate");
  }

  private setCA(ca: string): void {
    const anchors = clientTrustAnchors(ca);
    const changed = this.clientCA !== undefined;
    this.clientCA = anchors;
    this.apply();
    if (!changed) return;
    this.peers.casChanged();
    this.server?.retireConnections();
    this.options.log.info("reloaded the certificate authorities of clients");
  }

  /** Opens the port when everything is there; else the next connections use the changed files. */
  private apply(): void {
    const { name, changedBy, init, address, clock, log } = this.options;
    const context = this.context();
    if (context === undefined || this.closed) return;
    if (this.listener !== undefined) {
      this.server?.setContext(context);
      return;
    }
    this.listener = new Listener({
      name,
      address,
      port: init.port,
      changedBy,
      create: () => (this.server = this.create()),
      clock,
      log,
    });
    this.listener.start();
  }

  private create(): HttpsServer {
    const { init, limits, clock, log } = this.options;
    const context = this.context();
    if (context === undefined) throw new Error("there is no serving certificate");
    return new HttpsServer({
      context,
      limits,
      requestCert: init.authentication.clientCAFile !== "",
      handler: entry("https", this.gate.handle, this.gate.onMalformed),
      clock,
      onConnection: (socket) => {
        this.peers.opened(socket, clock.now());
        return this.peers.claimOf(socket, clock.now()).kind === "user";
      },
      onTlsError: (err, socket) => log.debug({ err, client: socket.remoteAddress }, "TLS handshake failed"),
      onConnectionRefused: (client, why) => this.refusals.connection(client, why),
      onDefect: (err) => log.error({ err }, "a connection was closed, as its handler failed"),
    });
  }

  private context(): ReturnType<typeof contextOptions> | undefined {
    const { init } = this.options;
    const needsCA = init.authentication.clientCAFile !== "";
    if (this.pair === undefined || (needsCA && this.clientCA === undefined)) return undefined;
    return contextOptions(init.tls, this.pair, this.clientCA);
  }
}
