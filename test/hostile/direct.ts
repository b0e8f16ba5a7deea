// The same work without the kubelet, in the same time: what the machine and the runtime's own programs cost the
// victim's probes and the operator. The promise counts what is late beyond that.

import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The page among the operator's calls, in place of a path. */
export const DIRECT_PAGE = "the direct page";

/** The victim's first container. */
export interface DirectTarget {
  containerId: string;
  podIp: string;
}

/** Sent by the process for each call of the runtime that compares with one of the operator's. */
export interface DirectCall {
  kind: "exec" | "stats";
  ms: number;
}

/** The slowest of each, ms. */
export type DirectSlowest = Record<DirectCall["kind"], number>;

export class DirectProcess {
  /** Since the start of the probes. */
  private slowest: DirectSlowest = { exec: 0, stats: 0 };

  private constructor(
    private readonly child: ChildProcess,
    /** Address of the page. */
    readonly url: string,
  ) {
    child.on("message", ({ kind, ms }: DirectCall) => {
      this.slowest[kind] = Math.max(this.slowest[kind], ms);
    });
  }

  /** @param dir for the files of `pair`, which the page's server has */
  static async start(dir: string, endpoint: string, pair: { cert: string; key: string }): Promise<DirectProcess> {
    const [cert, key] = [join(dir, "direct.crt"), join(dir, "direct.key")];
    await writeFile(cert, pair.cert);
    await writeFile(key, pair.key, { mode: 0o600 });
    // A session of its own, as the kubelet has: the kernel may share processors out by sessions.
    const options = { execArgv: [], detached: true };
    const child = fork(new URL("./direct-process.js", import.meta.url), [endpoint, cert, key], options);
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return new DirectProcess(child, `https://127.0.0.1:${port}/`);
  }

  /** Probes from now on; the durations of earlier calls are forgotten. */
  probe(target: DirectTarget): void {
    this.slowest = { exec: 0, stats: 0 };
    this.child.send(target);
  }

  /** Ends the probes. */
  rest(): DirectSlowest {
    this.child.send("rest");
    return this.slowest;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.disconnect();
    await ended;
  }
}
