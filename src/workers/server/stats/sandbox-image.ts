// The image that the rows of PodSandboxes name. containerd 1 has it in its configuration; containerd 2 names it in the
// status of each PodSandbox.

import type { Clock } from "../../../shared/base/clock/clock.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { parseImageOfSandbox, parseSandboxImage } from "../../../shared/kubernetes/cri/sandbox-image.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

/** A page does not wait longer for the runtime. */
const DEADLINE_MS = 3000;
/** Delay before another call after one without an image. */
const RETRY_MS = 60_000;
/** Its configuration may have changed with a restart. */
const LIFE_MS = 10 * 60_000;

type Runtime = Pick<CriClient, "status" | "listPodSandbox" | "podSandboxStatus">;

export class SandboxImage {
  private image = "";
  private notBefore = -Infinity;

  constructor(
    private readonly runtime: () => Promise<Runtime>,
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly log: Pick<Logger, "debug">,
  ) {}

  /** "": the runtime does not report it, or has no PodSandbox yet. Never rejects. */
  async get(): Promise<string> {
    const now = this.clock.monotonic();
    if (now < this.notBefore) return this.image;
    try {
      const runtime = await this.runtime();
      const { info } = await runtime.status({ verbose: true }, { deadlineMs: DEADLINE_MS });
      const image = parseSandboxImage(info["config"] ?? "") ?? (await imageOfOne(runtime));
      this.image = image ?? "";
      // Without a PodSandbox no row has an image: the next page repeats the call.
      if (image !== undefined) this.notBefore = now + LIFE_MS;
    } catch (error) {
      this.notBefore = now + RETRY_MS;
      this.log.debug({ err: error }, "the runtime did not report the image of its sandboxes");
    }
    return this.image;
  }
}

/** All PodSandboxes of a runtime have the same image. undefined: there is none; "": its status names no image. */
async function imageOfOne(runtime: Runtime): Promise<string | undefined> {
  const { items } = await runtime.listPodSandbox({}, { deadlineMs: DEADLINE_MS });
  const podSandboxId = items[0]?.id;
  if (podSandboxId === undefined) return undefined;
  const { info } = await runtime.podSandboxStatus({ podSandboxId, verbose: true }, { deadlineMs: DEADLINE_MS });
  return parseImageOfSandbox(info["info"] ?? "") ?? "";
}
