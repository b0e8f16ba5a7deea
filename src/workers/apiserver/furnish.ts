// What a new API server puts into its store, and what it takes out: the namespaces that are always there, and events
// after an hour.

import type { Clock, Timer } from "../../shared/base/clock/clock.js";
import { errorText } from "../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";
import { resourceNamed } from "./objects/resources.js";
import type { Transaction } from "./store/transaction.js";
import { createObject } from "./verbs/create.js";
import type { World, WriteContext } from "./world.js";

const NAMESPACES = ["default", "kube-system", "kube-node-lease"];
/** As upstream's server keeps events. */
const EVENT_TTL_MS = 3600_000;
export const MAX_EVENTS = 5000;
const EXPIRY_CHECK_MS = 60_000;

const SYSTEM = { name: "system:apiserver", groups: ["system:masters"] };

export async function furnish(world: World): Promise<void> {
  const resource = resourceNamed("namespaces");
  const missing = NAMESPACES.filter((name) => world.store.get(resource, name) === undefined);
  if (missing.length === 0) return;
  await world.store.change((tx) => {
    const context = serverContext(world, tx);
    for (const name of missing) {
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
      createObject({ resource, namespace: "", name }, body, context);
    }
  });
}

/** For a change that the server makes by itself. */
export function serverContext(world: World, tx: Transaction, warnings: string[] = []): WriteContext {
  return { world, tx, user: SYSTEM, dryRun: false, unknownFields: "Warn", warnings };
}

export function expireEvents({ store, clock }: World & { clock: Clock }, log: Pick<Logger, "warn">): Timer {
  const events = resourceNamed("events");
  return clock
    .every(EXPIRY_CHECK_MS, () => {
      const now = clock.now();
      const byAge = store.entries(events).map(([key, event]) => ({ key, event, at: lastSeen(event) }));
      byAge.sort((one, other) => other.at - one.at);
      const old = byAge.filter(({ at }, index) => index >= MAX_EVENTS || now - at > EVENT_TTL_MS);
      if (old.length === 0) return;
      store
        .change((tx) => {
          for (const { key, event } of old) if (tx.get(events, key) === event) tx.remove(events, key, event);
        })
        .catch((err: unknown) => log.warn({ err }, `old events could not be removed: ${errorText(err)}`));
    })
    .unref();
}

function lastSeen(event: Readonly<Record<string, unknown>>): number {
  const { lastTimestamp, eventTime, metadata } = event;
  const { creationTimestamp } = metadata as { creationTimestamp?: string };
  const text = [lastTimestamp, eventTime, creationTimestamp].find((one) => typeof one === "string");
  return Date.parse(String(text));
}
