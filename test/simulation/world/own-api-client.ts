// Users of the API of a node without a cluster, with kubectl: a request that fails is repeated after a pause, as people
// do. Requests for one object happen in their order.

import type { User } from "../../../src/workers/server/auth/user.js";
import { kernel } from "../kernel/kernel.js";
import type { Trace } from "../kernel/trace.js";
import { Channel, type WireResponse } from "../modules/api-channel.js";

/** Pause before a request is repeated, ms. */
const PAUSE_MS = 3000;

export interface Reply {
  status: number;
  body: Record<string, unknown> & { message?: string };
}

interface Request {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body?: object;
}

export class AdminChannel extends Channel {
  protected override readonly user: User = { name: "admin", groups: ["system:masters"] };
}

export class OwnApiClient {
  private readonly channel = new AdminChannel();
  private readonly last = new Map<string, Promise<void>>();

  constructor(private readonly trace: Trace) {}

  /**
   * `done` gets the first reply that is an answer: neither an error of the server, nor a request to come again.
   * @param about the object of the request
   */
  ask(about: string, request: Request, done: (reply: Reply) => void = () => undefined): void {
    const before = this.last.get(about) ?? Promise.resolve();
    this.last.set(
      about,
      before.then(async () => {
        const reply = await this.answerTo(request);
        const { message = "" } = reply.body;
        const why = reply.status < 400 ? "" : ` ${message}`;
        this.trace.add(`kubectl ${request.method} ${about} ${reply.status}${why}`);
        done(reply);
      }),
    );
  }

  private async answerTo(request: Request): Promise<Reply> {
    for (;;) {
      const reply = await this.send(request).catch(() => undefined);
      if (reply !== undefined && reply.status < 500 && reply.status !== 429) return reply;
      await pause();
    }
  }

  private async send({ method, path, body }: Request): Promise<Reply> {
    const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const request = { method, path, headers: { "content-type": type, accept: "application/json" }, body: bytes };
    const response = await this.channel.send(request, new AbortController().signal);
    return { status: response.status, body: JSON.parse(await textOf(response)) as Reply["body"] };
  }
}

export function pause(ms = PAUSE_MS): Promise<void> {
  return new Promise((resolve) => {
    kernel.after(kernel.world, ms, resolve);
  });
}

/** @throws the error of a connection that ended before */
async function textOf({ body }: WireResponse): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of body as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString();
}
