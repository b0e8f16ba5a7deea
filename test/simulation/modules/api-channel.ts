// The agent's connection to the API server (src/shared/kubernetes/api/client/connection/channel.ts) in the simulation:
// one exchange at a time between two owners, without bytes of HTTP.

import { Readable, Writable } from "node:stream";
import { kernel } from "../kernel/kernel.js";
import type { Owner } from "../kernel/owner.js";
import { machine } from "../world/machine.js";

interface WireRequest {
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer | undefined;
}

interface WireResponse {
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

async function* chunksOf(body: Buffer | undefined): AsyncGenerator<Buffer> {
  if (body !== undefined) yield await Promise.resolve(body);
}

/** The server's end of a response. Chunks arrive at the client in order, some time later. */
class Response extends Writable {
  private last = 0;
  private status = 200;
  private fields: Record<string, string> = {};
  private isHeaded = false;

  constructor(
    private readonly client: {
      head(status: number, headers: Record<string, string>): void;
      chunk(bytes: Buffer | null): void;
      broken(): void;
    },
  ) {
    super({ decodeStrings: true });
    this.on("error", () => undefined);
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
    this.send(() => this.client.chunk(bytes));
    done();
  }
  override _final(done: () => void): void {
    this.flushHeaders();
    this.send(() => this.client.chunk(null));
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.writableFinished) this.send(() => this.client.broken());
    done(error);
  }

  private send(fn: () => void): void {
    this.last = Math.max(this.last, kernel.monotonic + way());
    kernel.after(kernel.world, this.last - kernel.monotonic, fn);
  }
}

export class Channel {
  private error: Error | undefined;
  private readonly exchanges = new Set<(error: Error) => void>();

  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    if (this.error !== undefined) return Promise.reject(this.error);
    const owner = kernel.current;
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(owner, resolve, reject, () => {
        this.exchanges.delete(fail);
        signal.removeEventListener("abort", onAbort);
      });
      const fail = (error: Error): void => exchange.fail(error);
      const onAbort = (): void => fail(signal.reason as Error);
      this.exchanges.add(fail);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      else exchange.begin(request);
    });
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
  private isOver = false;
  private readonly stopWatching: () => void;

  constructor(
    private readonly owner: Owner,
    private readonly resolve: (response: WireResponse) => void,
    private readonly reject: (error: Error) => void,
    private readonly onEnd: () => void,
  ) {
    this.body.on("error", () => undefined);
    this.body.once("close", () => this.end());
    this.stopWatching = owner.onDeath(() => this.endServer());
  }

  begin(request: WireRequest): void {
    kernel.after(kernel.world, way(), () => {
      if (this.isOver || !this.owner.isAlive) return;
      if (!machine.api.isUp) {
        const refused = Object.assign(new Error("connect ECONNREFUSED 10.96.0.1:443"), { code: "ECONNREFUSED" });
        kernel.post(this.owner, () => this.fail(refused));
        return;
      }
      this.serve(request);
    });
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.reject(error);
    this.body.destroy(error);
    this.end();
  }

  private serve({ method, path, headers, body }: WireRequest): void {
    const { owner } = this;
    this.response = new Response({
      head: (status, fields) => kernel.deliver(owner, () => this.resolve({ status, headers: fields, body: this.body })),
      chunk: (bytes) => kernel.deliver(owner, () => void (this.isOver || this.body.push(bytes))),
      broken: () => kernel.deliver(owner, () => this.fail(broken())),
    });
    const { response } = this;
    // A stream of Node for each body would be a tenth of the server's time.
    const request = {
      method,
      url: path,
      headers,
      httpVersionMajor: 1,
      socket: { destroy: () => response.destroy() },
      [Symbol.asyncIterator]: () => chunksOf(body),
    };
    machine.api.handle(request as never, response as never, { getPeerCertificate: () => ({}) });
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
    const { response } = this;
    if (response !== undefined) kernel.post(kernel.world, () => void response.destroy());
  }
}
