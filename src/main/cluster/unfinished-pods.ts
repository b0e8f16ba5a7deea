// The pods of this node that have not ended, read once beside the whole list. The API server may have thousands that
// have ended, some of a megabyte, and the new ones do not wait until all of them have come.
// Invariant: it delivers at most once, and only adds pods; the whole list decides what has gone. A failure leaves all
// to that list.

import type { Clock } from "../../shared/base/clock/clock.js";
import { PODS } from "../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../shared/kubernetes/api/client/port.js";
import { Reflector } from "../../shared/kubernetes/api/client/reflector.js";
import type { PodFeed } from "../pods/sources/api-source.js";

export interface UnfinishedPodsDeps {
  client: ApiClient;
  nodeName: string;
  feed: Pick<PodFeed, "trim" | "onUnfinished">;
  clock: Clock;
}

const ended = (phase: string): string => `status.phase!=${phase}`;
/** The reflector of the whole list says the same, and goes on. */
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

export class UnfinishedPods {
  private readonly reflector: Reflector<Parameters<PodFeed["trim"]>[0]>;
  private ending: Promise<void> | undefined;

  constructor({ client, nodeName, feed, clock }: UnfinishedPodsDeps) {
    this.reflector = new Reflector({
      client,
      kind: PODS,
      fieldSelector: [`spec.nodeName=${nodeName}`, ended("Succeeded"), ended("Failed")].join(),
      clock,
      log: SILENT,
      transform: (pod) => feed.trim(pod),
      onReplace: (pods) => {
        void this.stop();
        feed.onUnfinished(pods);
      },
      onEvent: () => undefined,
      onFailure: () => void this.stop(),
    });
  }

  start(): void {
    this.reflector.start();
  }

  stop(): Promise<void> {
    return (this.ending ??= this.reflector.stop());
  }
}
