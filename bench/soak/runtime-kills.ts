// The runtime is killed and comes back, its containers live on.

import type { PrivateContainerd } from "../../tools/standalone/containerd.js";
import { sleep } from "../../tools/standalone/wait.js";
import type { Activity } from "./activity.js";

const AWAY_MS = 1000;

export class RuntimeKills implements Activity {
  readonly name = "kills of the runtime";
  readonly pauseMs = 150_000;

  constructor(private readonly containerd: PrivateContainerd) {}

  async round(): Promise<void> {
    await this.containerd.kill9();
    await sleep(AWAY_MS);
    await this.containerd.start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}
