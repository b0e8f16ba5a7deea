// Creates eviction and disk usage on first use: by the eviction thread or by a reader of disk usage.
import type { ThreadOwner } from "../threads/thread-owner.js";
import type { NodeEviction, NodeEvictionParts } from "./node-eviction.js";

export class LateEviction {
  private joined: Promise<NodeEviction> | undefined;

  constructor(private readonly parts: NodeEvictionParts) {}

  readonly answers: Pick<ThreadOwner, "eviction" | "podDisks"> = {
    eviction: async () => (await this.join()).eviction,
    podDisks: async (...asked) => (await this.join()).diskUsage.of(...asked),
  };

  /** Ends walks under way. */
  async stop(): Promise<void> {
    await (await this.joined)?.stop();
  }

  private join(): Promise<NodeEviction> {
    return (this.joined ??= import("./node-eviction.js").then(({ joinEviction }) => joinEviction(this.parts)));
  }
}
