// node:net of the simulated machine. Nothing listens but what the world offers.

import { EventEmitter } from "node:events";
import { Duplex } from "node:stream";
import { kernel } from "../kernel/kernel.js";
import { AgentEnd } from "../world/agent-end.js";
import { network } from "../world/network.js";

export { isIP, isIPv4, isIPv6, BlockList, SocketAddress } from "node:net";

interface Place {
  host?: string;
  port?: number;
  path?: string;
  readableHighWaterMark?: number;
}

function refusal(code: string, where: string): Error {
  return Object.assign(new Error(`connect ${code} ${where}`), { code, syscall: "connect" });
}

export class Socket extends Duplex {
  connecting = true;
  remoteAddress: string | undefined;
  private readonly owner = kernel.current;
  private send: ((bytes: Buffer) => void) | undefined;
  /** The end of a connection whose two directions have buffers; undefined: of another one. */
  private carrier: AgentEnd | undefined;

  get bytesRead(): number {
    return this.carrier?.bytesRead ?? 0;
  }
  get bytesWritten(): number {
    return this.carrier?.bytesWritten ?? 0;
  }

  connect(place: Place | number, host?: string | (() => void)): this {
    const {
      host: name = "127.0.0.1",
      port = 0,
      path,
    } = typeof place === "number"
      ? { port: place, host: typeof host === "string" ? host : undefined, path: undefined }
      : place;
    const where = path ?? `${name}:${port}`;
    const listener = [host].find((one) => typeof one === "function");
    if (listener !== undefined) this.once("connect", listener);
    kernel.after(kernel.world, kernel.random.between(0.05, 2), () => {
      if (network.hasServer(where)) {
        const end = network.connect(where);
        const carrier = end === undefined ? undefined : new AgentEnd(this, end, this.owner);
        kernel.post(this.owner, () => this.connected(carrier, where));
        return;
      }
      const accept = network.listenerAt(where);
      kernel.post(this.owner, () => {
        if (this.destroyed) return;
        this.connecting = false;
        if (accept === undefined) {
          this.destroy(refusal("ECONNREFUSED", where));
          return;
        }
        this.remoteAddress = name;
        this.send = accept({
          receive: (bytes) => kernel.post(this.owner, () => void this.push(bytes)),
          end: () => kernel.post(this.owner, () => void this.push(null)),
        });
        this.emit("connect");
        this.emit("ready");
      });
    });
    return this;
  }
  override _read(): void {
    // Without a carrier bytes are pushed as they come.
    this.carrier?.read();
  }
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const pass = (): void => {
      const bytes = Buffer.from(chunk);
      if (this.carrier !== undefined) {
        this.carrier.write(bytes, done);
        return;
      }
      kernel.after(kernel.world, 0.05, () => this.send?.(bytes));
      done();
    };
    if (this.connecting) this.once("connect", pass);
    else pass();
  }
  private connected(carrier: AgentEnd | undefined, where: string): void {
    if (this.destroyed) {
      carrier?.close();
      return;
    }
    this.connecting = false;
    if (carrier === undefined) {
      this.destroy(refusal("ECONNREFUSED", where));
      return;
    }
    this.carrier = carrier;
    // As net.Socket.
    this.allowHalfOpen = false;
    this._final = (done) => {
      carrier.finish();
      done();
    };
    this._destroy = (error, done) => {
      carrier.close();
      done(error);
    };
    this.emit("connect");
    this.emit("ready");
    carrier.read();
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  resetAndDestroy(): this {
    this.destroy();
    return this;
  }
  address(): object {
    return {};
  }
}

/** A text is the path of a socket. */
export function connect(place: Place | number | string, host?: string | (() => void)): Socket {
  const { readableHighWaterMark } = typeof place === "object" ? place : {};
  const socket = readableHighWaterMark === undefined ? new Socket() : new Socket({ readableHighWaterMark });
  return socket.connect(typeof place === "string" ? { path: place } : place, host);
}
export const createConnection = connect;

/** Accepts no connection. */
export class Server extends EventEmitter {
  listening = false;
  listen(...args: unknown[]): this {
    const owner = kernel.current;
    const done = args.find((one) => typeof one === "function") as (() => void) | undefined;
    if (done !== undefined) this.once("listening", done);
    kernel.post(owner, () => {
      this.listening = true;
      this.emit("listening");
    });
    return this;
  }
  close(done?: () => void): this {
    const owner = kernel.current;
    this.listening = false;
    kernel.post(owner, () => {
      this.emit("close");
      done?.();
    });
    return this;
  }
  address(): object {
    return { address: "127.0.0.1", port: 0, family: "IPv4" };
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

export function createServer(): Server {
  return new Server();
}
