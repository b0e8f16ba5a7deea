// Clients with rights, each with one request after the other and no pause. The responses are read and dropped.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { HostileBench } from "./bench.js";

const PAUSE_MS = 100;

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
  private readonly over = new AbortController();
  private readonly agent = new Agent({ keepAlive: true });
  private readonly running: Promise<void>[];

  /** @param asks paths of the port, with their queries, or whole requests */
  constructor({ fixture, port }: HostileBench, asks: readonly (string | OddRequest)[], count: number) {
    const client = fixture.clientCertificate("scraper", ["system:masters"]);
    const ask = (index: number): OddRequest => {
      const one = asks[index % asks.length] ?? "/";
      return typeof one === "string" ? { path: one } : one;
    };
    this.running = Array.from({ length: count }, (_, index) => this.visit({ ...ask(index), port }, client));
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
    this.agent.destroy();
  }

  private async visit(ask: OddRequest & { port: number }, client: { cert: string; key: string }): Promise<void> {
    const { body, ...options } = { host: "127.0.0.1", method: "GET", ...ask };
    const { signal } = this.over;
    while (!signal.aborted) {
      try {
        const sent = request({ ...client, ...options, agent: this.agent, rejectUnauthorized: false, signal }).end(body);
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        for await (const part of response) this.bytes += (part as Buffer).length;
        this.answers++;
        if (response.statusCode === 200) this.responses++;
        else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      } catch {
        // Refused, cut or over: the next one.
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }
}
