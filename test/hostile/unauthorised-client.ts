// Starts unauthorised clients as attacks of the bench, each on a thread of its own.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Attack } from "./attack.js";
import { HealthWatch } from "./health-watch.js";

type ClientAttackMethod =
  | "pipelined-upgrade"
  | "half-heads"
  | "refused-upgrades"
  | "closed-window"
  | "slow-reads"
  | "garbage-tls"
  | "silent-connections"
  | "random-tokens"
  | "crafted-tls"
  | "accepted-chains"
  | "rapid-resets"
  | "one-byte-heads"
  | "one-byte-chunks"
  | "cut-bodies";

export interface ClientAttackData {
  port: number;
  method: ClientAttackMethod;
  /** Its own, or the operator's. */
  address: string;
  /** Held at the same time, at most. */
  connections: number;
  /** Made in all, at most. */
  requests: number;
}

export interface ClientAttackReport {
  made: number;
  /** Pieces of answers that came. */
  answers: number;
  closed: number;
  /** Pieces of answers that grant something. */
  granted: number;
}

/** Not the operator's address: the client is a pod or another machine. */
const ADDRESS = "127.0.0.2";
/** Address of a client behind the same address translation as the operator. */
export const OPERATORS_ADDRESS = "127.0.0.1";

export function clientAttack(
  { name, seconds, ...others }: Pick<Attack, "name" | "seconds" | "short" | "upstream">,
  how: Omit<ClientAttackData, "port" | "address"> & Partial<Pick<ClientAttackData, "address">>,
): Attack {
  return {
    ...{ name, seconds, family: "unauthorised client", ...others },
    start: ({ port, node }) => {
      const workerData: ClientAttackData = { port, address: ADDRESS, ...how };
      const worker = new Worker(new URL("./unauthorised-client-thread.js", import.meta.url), { workerData });
      const health = new HealthWatch([node.kubelet.healthzUrl, `${node.kubelet.url}/healthz`]);
      return Promise.resolve({
        async stop() {
          const said = once(worker, "message");
          worker.postMessage("stop");
          const [report] = (await said) as [ClientAttackReport];
          await worker.terminate();
          const checks = await health.stop();
          if (report.made === 0) throw new Error("no connection was made");
          if (report.granted > 0) throw new Error(`${report.granted} requests without credentials were granted`);
          return `${report.made} connections, ${report.answers} responses, ${report.closed} closed by the kubelet; ${checks}`;
        },
      });
    },
  };
}
