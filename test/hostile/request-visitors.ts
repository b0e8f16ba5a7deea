// Clients with rights, each with one request after the other and no pause. The responses are read and dropped.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { sleep } from "../../tools/standalone/wait.js";
import type { HostileBench } from "./bench.js";
import { PAUSE_MS, Visits } from "./visits.js";

export interface OddRequest {
  path: string;
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export class RequestVisitors {
  /** Responses that were read to their ends, and their bytes. */
  responses = 0;
  bytes = 0;
  /** Responses of any status. */
  answers = 0;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly visits: Visits;

  /** @param asks paths of the port, with their queries, or whole requests */
  constructor({ fixture, port }: HostileBench, asks: readonly (string | OddRequest)[], count: number) {
    const client = fixture.clientCertificate("scraper", ["system:masters"]);
    const ask = (index: number): OddRequest => {
      const one = asks[index % asks.length] ?? "/";
      return typeof one === "string" ? { path: one } : one;
    };
    this.visits = new Visits(count, async (index, signal) => {
      const { body, ...options } = { host: "127.0.0.1", port, method: "GET", ...ask(index) };
      const sent = request({ ...client, ...options, agent: this.agent, rejectUnauthorized: false, signal }).end(body);
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      for await (const part of response) this.bytes += (part as Buffer).length;
      this.answers++;
      if (response.statusCode === 200) this.responses++;
      else await sleep(PAUSE_MS);
    });
  }

  async stop(): Promise<void> {
    await this.visits.stop();
    this.agent.destroy();
  }
}
