// The image that rows of pods' sandboxes name, as the runtime has it in its verbose status. It says so once.
import type { Clock } from "../../../shared/clock/clock.js";
import type { CriClient } from "../../../shared/cri/client.js";
import { parseSandboxImage } from "../../../shared/cri/sandbox-image.js";
import type { Logger } from "../../../shared/log/logger.js";

/** A page does not wait longer for the runtime. */
const DEADLINE_MS = 3000;
/** One that did not say is asked again. */
const RETRY_MS = 60_000;
/** Its configuration may have changed with a restart. */
const LIFE_MS = 10 * 60_000;

export class SandboxImage {
  private image = "";
  private notBefore = -Infinity;

  constructor(
    private readonly runtime: () => Promise<Pick<CriClient, "status">>,
    private readonly clock: Pick<Clock, "monotonic">,
    private readonly log: Pick<Logger, "debug">,
  ) {}

  /** "": the runtime does not say. Never rejects. */
  async get(): Promise<string> {
    const now = this.clock.monotonic();
    if (now < this.notBefore) return this.image;
    try {
      const runtime = await this.runtime();
      const { info } = await runtime.status({ verbose: true }, { deadlineMs: DEADLINE_MS });
      this.image = parseSandboxImage(info["config"] ?? "") ?? "";
      this.notBefore = now + LIFE_MS;
    } catch (error) {
      this.notBefore = now + RETRY_MS;
      this.log.debug({ err: error }, "the runtime did not say which image its sandboxes have");
    }
    return this.image;
  }
}
