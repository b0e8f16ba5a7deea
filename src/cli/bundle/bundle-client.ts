// The kubelet as a support bundle asks it: each question once, however many parts need the answer. A kubelet that does
// not give its status is not asked anything else: each question would wait for its deadline.

import type { IncomingMessage } from "node:http";
import { Client } from "../client.js";
import { CliError, EXIT } from "../errors.js";

const STATUS = "/nodelet/status";

export class BundleClient extends Client {
  private readonly texts = new Map<string, Promise<string>>();
  private readonly values = new Map<string, Promise<unknown>>();
  private readonly responses = new Set<IncomingMessage>();

  override text(path: string): Promise<string> {
    return remembered(this.texts, path, async () => {
      if (path !== STATUS) await this.answers();
      return await super.text(path);
    });
  }

  /** @throws the reason why nothing responds on the socket */
  private async answers(): Promise<void> {
    try {
      await this.text(STATUS);
    } catch (error) {
      // Any other answer is one.
      if (error instanceof CliError && error.exitCode === EXIT.noKubelet) throw error;
    }
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
