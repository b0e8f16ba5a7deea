// Starts the hostile servers of HTTP/2 on a thread of their own. They listen on the loopback address of the node.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { selfSigned } from "../support/probe-kit.js";

export interface Http2ServersData {
  key: string;
  cert: string;
}

export interface Http2ServersReport {
  ports: number[];
  /** Clients that agreed on HTTP/2. */
  connections: number;
}

export class Http2Servers {
  private constructor(
    private readonly worker: Worker,
    readonly ports: readonly number[],
  ) {}

  static async start(): Promise<Http2Servers> {
    const workerData: Http2ServersData = selfSigned();
    const worker = new Worker(new URL("./http2-servers-thread.js", import.meta.url), { workerData });
    const [{ ports }] = (await once(worker, "message")) as [Http2ServersReport];
    return new Http2Servers(worker, ports);
  }

  /** Returns the number of clients that agreed on HTTP/2. */
  async stop(): Promise<number> {
    const said = once(this.worker, "message");
    this.worker.postMessage("stop");
    const [{ connections }] = (await said) as [Http2ServersReport];
    await this.worker.terminate();
    return connections;
  }
}
