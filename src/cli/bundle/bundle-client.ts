// The kubelet as a support bundle asks it: each question once, however many parts need the answer.
import type { IncomingMessage } from "node:http";
import { Client } from "../client.js";

export class BundleClient extends Client {
  private readonly texts = new Map<string, Promise<string>>();
  private readonly values = new Map<string, Promise<unknown>>();
  private readonly responses = new Set<IncomingMessage>();

  override text(path: string): Promise<string> {
    return remembered(this.texts, path, () => super.text(path));
  }

  override async json<T>(path: string): Promise<T> {
    return (await remembered(this.values, path, async () => JSON.parse(await this.text(path)) as unknown)) as T;
  }

  override async open(path: string, deadlineMs?: number): Promise<IncomingMessage> {
    const response = await super.open(path, deadlineMs);
    this.responses.add(response);
    response.once("close", () => this.responses.delete(response));
    return response;
  }

  /** Ends responses that still arrive. */
  close(): void {
    for (const response of this.responses) response.destroy();
  }
}

function remembered<T>(all: Map<string, Promise<T>>, path: string, ask: () => Promise<T>): Promise<T> {
  let answer = all.get(path);
  if (answer === undefined) {
    answer = ask();
    all.set(path, answer);
  }
  return answer;
}
