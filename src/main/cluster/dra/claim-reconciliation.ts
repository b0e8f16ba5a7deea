// Looks for claims of pods that ended without a release, and unprepares them.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { Claims } from "../../resources/dra/claims.js";

/** Upstream's period. */
const RECONCILE_MS = 60_000;

export interface ClaimReconciliationDeps {
  claims: Pick<Claims, "inactive" | "unprepare">;
  /** Reads the state of the previous kubelet process, once. */
  load: () => Promise<void>;
  /** Pods that may use claims; undefined until every source has delivered. */
  activePods: () => ReadonlySet<PodUid> | undefined;
  clock: Clock;
  log: Logger;
}

/** The signal ends the calls of drivers. */
export function startClaimReconciliation(deps: ClaimReconciliationDeps, signal: AbortSignal): Loop {
  const { log } = deps;
  const loop = new Loop({
    clock: deps.clock,
    periodMs: RECONCILE_MS,
    round: () => reconcile(deps, signal),
    failed: (error) => {
      log.debug({ err: error }, "ResourceClaims are not reconciled");
      return undefined;
    },
  });
  loop.start(RECONCILE_MS);
  return loop;
}

async function reconcile(
  { claims, load, activePods, log }: ClaimReconciliationDeps,
  signal: AbortSignal,
): Promise<undefined> {
  await load();
  const active = activePods();
  if (active === undefined) return undefined;
  for (const uid of claims.inactive(active)) {
    await claims.unprepare(uid, signal).catch((error: unknown) => {
      log.info(
        { err: error, uid },
        `cannot unprepare the ResourceClaims of pod ${uid}: ${errorText(error)}; trying again`,
      );
    });
  }
  return undefined;
}
