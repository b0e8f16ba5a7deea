// Clients with rights, each with one request after the other and no pause. The responses are read and dropped.

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import type { HostileBench } from "./bench.js";

const PAUSE_MS = 100;

export class RequestVisitors {
  /** Responses that were read to their ends, and their bytes. */
  responses = 0;
  bytes = 0;
  private readonly over = new AbortController();
  private readonly agent = new Agent({ keepAlive: true });
  private readonly running: Promise<void>[];

  /** @param paths of the port, with their queries */
  constructor({ fixture, port }: HostileBench, paths: readonly string[], count: number) {
    const client = fixture.clientCertificate("scraper", ["system:masters"]);
    const url = (index: number): string => `https://127.0.0.1:${port}${paths[index % paths.length] ?? "/"}`;
    this.running = Array.from({ length: count }, (_, index) => this.visit(url(index), client));
  }

  async stop(): Promise<void> {
    this.over.abort();
    await Promise.all(this.running);
    this.agent.destroy();
  }

  private async visit(url: string, client: { cert: string; key: string }): Promise<void> {
    const { signal } = this.over;
    while (!signal.aborted) {
      try {
        const sent = request(url, { ...client, agent: this.agent, rejectUnauthorized: false, signal }).end();
        const [response] = (await once(sent, "response")) as [IncomingMessage];
        for await (const part of response) this.bytes += (part as Buffer).length;
        if (response.statusCode === 200) this.responses++;
        else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      } catch {
        // Refused, cut or over: the next one.
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }
}
