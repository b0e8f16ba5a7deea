// The agent's connection to the API server (src/shared/kubernetes/api/client/connection/channel.ts) in the simulation:
// one exchange at a time between two owners, without bytes of HTTP.

import { Readable, Writable } from "node:stream";
import type { User } from "../../../src/workers/server/auth/user.js";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { NODE_NAME } from "../world/api.js";
import { machine, type Listening, type WireRequest } from "../world/machine.js";

export interface WireResponse {
  status: number;
  headers: Record<string, string>;
  body: Readable;
}

/** One way of a message, ms. */
function way(): number {
  return kernel.random.between(0.2, 8);
}

function broken(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}

/** The server's end of a response. Chunks arrive at the client in order, some time later. */
export class Response extends Writable {
  private last = 0;
  private status = 200;
  private fields: Record<string, string> = {};
  private isHeaded = false;
  /** Gets a body when it is whole. */
  onWhole: ((status: number, body: string) => void) | undefined;
  private readonly parts: Buffer[] = [];

  constructor(
    private readonly client: {
      head(status: number, headers: Record<string, string>): void;
      chunk(bytes: Buffer | null): void;
      broken(): void;
    },
    private readonly paceMs: number | undefined,
  ) {
    super({ decodeStrings: true });
    this.on("error", () => undefined);
  }
  get headersSent(): boolean {
    return this.isHeaded;
  }
  writeHead(status: number, headers: Record<string, string> = {}): this {
    this.status = status;
    this.fields = headers;
    return this;
  }
  flushHeaders(): void {
    if (this.isHeaded) return;
    this.isHeaded = true;
    const { status, fields } = this;
    this.send(() => this.client.head(status, fields));
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.flushHeaders();
    const bytes = Buffer.from(chunk);
    if (this.onWhole !== undefined) this.parts.push(bytes);
    this.send(() => this.client.chunk(bytes));
    if (this.paceMs === undefined) done();
    else kernel.after(kernel.current, this.paceMs, done);
  }
  override _final(done: () => void): void {
    this.flushHeaders();
    this.onWhole?.(this.status, Buffer.concat(this.parts).toString());
    this.send(() => this.client.chunk(null));
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.lose();
    done(error);
  }

  /** The server is gone: the client sees it after the chunks that are on their way. */
  lose(): void {
    if (!this.writableFinished) this.send(() => this.client.broken());
  }

  private send(fn: () => void): void {
    this.last = Math.max(this.last, kernel.monotonic + way());
    kernel.after(kernel.world, this.last - kernel.monotonic, fn);
  }
}

const NODE: User = { name: `system:node:${NODE_NAME}`, groups: ["system:nodes"] };

export class Channel {
  /** The user that its certificate names. */
  protected readonly user: User = NODE;
  private error: Error | undefined;
  private readonly exchanges = new Set<(error: Error) => void>();

  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    if (this.error !== undefined) return Promise.reject(this.error);
    const owner = kernel.current;
    return new Promise((resolve, reject) => {
      const onEnd = (): void => {
        this.exchanges.delete(fail);
        signal.removeEventListener("abort", onAbort);
      };
      const exchange = new Exchange(owner, () => this.listening(), { resolve, reject }, onEnd);
      const fail = (error: Error): void => exchange.fail(error);
      const onAbort = (): void => fail(signal.reason as Error);
      this.exchanges.add(fail);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      else exchange.begin({ ...request, user: this.user });
    });
  }
  protected listening(): Listening | undefined {
    return machine.api.listening();
  }
  retire(graceMs: number, onEnd: () => void): void {
    kernel.after(kernel.current, graceMs, () => {
      this.destroy(new Error("the connection was replaced"));
      onEnd();
    });
  }
  destroy(error: Error): void {
    this.error = error;
    for (const fail of [...this.exchanges]) fail(error);
  }
}

class Exchange {
  private readonly body = new Readable({ read: () => undefined });
  private response: Response | undefined;
  private server: Listening | undefined;
  private isOver = false;
  private readonly stopWatching: () => void;

  constructor(
    private readonly owner: Owner,
    private readonly listening: () => Listening | undefined,
    private readonly client: { resolve: (response: WireResponse) => void; reject: (error: Error) => void },
    private readonly onEnd: () => void,
  ) {
    this.body.on("error", () => undefined);
    this.body.once("close", () => this.end());
    this.stopWatching = owner.onDeath(() => this.endServer());
  }

  begin(request: WireRequest & { user: User }): void {
    kernel.after(kernel.world, way(), () => {
      if (this.isOver || !this.owner.isAlive) return;
      const server = this.listening();
      if (server === undefined) {
        const refused = Object.assign(new Error("connect ECONNREFUSED 10.96.0.1:443"), { code: "ECONNREFUSED" });
        kernel.post(this.owner, () => this.fail(refused));
        return;
      }
      this.serve(request, server);
    });
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.client.reject(error);
    this.body.destroy(error);
    this.end();
  }

  private serve(request: WireRequest & { user: User }, server: Listening): void {
    const { owner } = this;
    this.server = server;
    const { body } = this;
    const end = {
      head: (status: number, fields: Record<string, string>) =>
        kernel.deliver(owner, () => this.client.resolve({ status, headers: fields, body })),
      chunk: (bytes: Buffer | null) => kernel.deliver(owner, () => void (this.isOver || this.body.push(bytes))),
      broken: () => kernel.deliver(owner, () => this.fail(broken())),
    };
    const response = new Response(end, request.paceMs);
    this.response = response;
    if (server.owner === kernel.world) {
      server.handle(request, response);
      return;
    }
    const forget = server.owner.onDeath(() => response.lose());
    response.once("close", forget);
    kernel.post(server.owner, () => {
      if (!this.isOver) server.handle(request, response);
    });
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.stopWatching();
    this.onEnd();
    this.endServer();
  }

  private endServer(): void {
    this.isOver = true;
    const { response, server } = this;
    if (response !== undefined && server !== undefined) kernel.post(server.owner, () => void response.destroy());
  }
}
