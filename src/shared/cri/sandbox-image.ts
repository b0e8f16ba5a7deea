// The image of the pods' sandboxes, as the runtime names it in its verbose status. Newer runtimes pin it; containerd
// before 1.7 does not, and without it no pod starts.
import type { CriClient } from "./client.js";
import { isCriError } from "./errors.js";
import type { Logger } from "../log/logger.js";
import { parseJson } from "../text/parse-json.js";

/** undefined when the runtime does not say. */
export async function sandboxImage(cri: Pick<CriClient, "status">, log: Logger): Promise<string | undefined> {
  try {
    const { info } = await cri.status({ verbose: true });
    return parseSandboxImage(info["config"] ?? "");
  } catch (error) {
    if (!isCriError(error)) throw error;
    log.debug({ err: error }, "the runtime's configuration could not be read: its pinned images alone are protected");
    return undefined;
  }
}

/** Out of the runtime's configuration as JSON. */
export function parseSandboxImage(config: string): string | undefined {
  try {
    const parsed: unknown = parseJson(config);
    if (typeof parsed !== "object" || parsed === null || !("sandboxImage" in parsed)) return undefined;
    const { sandboxImage: image } = parsed;
    return typeof image === "string" && image !== "" ? image : undefined;
  } catch {
    // Runtimes put there what they like; only containerd's JSON is of use.
    return undefined;
  }
}
