// Lists of the runtime that do not fit into one message: the pods to ask for one by one, and the report
// (shared/kubernetes/cri/lists-by-parts.ts).

import { readdir } from "node:fs/promises";
import { errorCode } from "../../shared/base/errors/error-code.js";
import { isSafePodUid } from "../../shared/kubernetes/api/pod-uid.js";
import type { ListName, ListsByPartsOptions } from "../../shared/kubernetes/cri/lists-by-parts.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

/** Pods with a directory on this node. */
export async function podUidsOf(podsDir: string): Promise<PodUid[]> {
  try {
    return (await readdir(podsDir)).filter(isSafePodUid);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

export class ListReports {
  private readonly left = new Map<ListName, readonly PodUid[]>();

  constructor(private readonly log: Pick<Logger, "warn" | "info">) {}

  readonly onParts: NonNullable<ListsByPartsOptions["onParts"]> = (list, { parts, leftOut }) => {
    this.left.set(list, leftOut.pods);
    if (!parts) {
      this.log.info(`the runtime's list of ${list} fits into one message again`);
      return;
    }
    const names = [...leftOut.pods, ...leftOut.sandboxes];
    const without = names.length === 0 ? "" : `; not even these fit, and are not managed: ${names.join(", ")}`;
    this.log.warn(
      { list, leftOut: names },
      `the runtime's list of ${list} is too large for one message, because labels or annotations of pods are: listing pod by pod${without}`,
    );
  };

  /** Pods whose objects are not known. */
  readonly leftOut = (): PodUid[] => [...this.left.values()].flat();
}
