// Watches this node's Node object. Labels, cordons and pod CIDRs reach main at once, and a round needs no read while
// the watch works.

import type { Clock } from "../../shared/base/clock/clock.js";
import type { Returns } from "../../shared/kubernetes/api/client/connection/presence.js";
import { NODES } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import { Reflector } from "../../shared/kubernetes/api/client/reflector.js";
import type { Node } from "../../shared/kubernetes/api/node.js";
import type { Logger } from "../../shared/telemetry/log/thread-log.js";

interface OwnNodeOptions {
  client: ApiClient;
  presence: Returns;
  nodeName: string;
  clock: Clock;
  log: Logger;
  random: () => number;
  /** undefined: it was deleted. */
  onNode: (node: Node | undefined) => void;
}

export class OwnNode {
  private readonly reflector: Reflector<Node>;
  private node: Node | undefined;

  constructor(private readonly options: OwnNodeOptions) {
    const { client, presence, nodeName, clock, log, random } = options;
    this.reflector = new Reflector<Node>({
      client,
      presence,
      kind: NODES,
      fieldSelector: `metadata.name=${nodeName}`,
      clock,
      log,
      random,
      onReplace: ([node]) => {
        if (node !== undefined || this.node !== undefined) this.onNode(node);
      },
      onEvent: ({ type, object }) => this.onNode(type === "DELETED" ? undefined : object),
    });
  }

  /** As the watch last had it; undefined when there is none, or the watch is not well. */
  get current(): Node | undefined {
    return this.reflector.isSynced && this.reflector.lastError === undefined ? this.node : undefined;
  }

  start(): void {
    this.reflector.start();
  }

  stop(): Promise<void> {
    return this.reflector.stop();
  }

  private onNode(node: Node | undefined): void {
    this.node = node;
    this.options.onNode(node);
  }
}
