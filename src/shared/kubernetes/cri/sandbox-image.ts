// The image of the pods' sandboxes, as the runtime names it in its verbose status. Newer runtimes pin it; containerd
// before 1.7 does not, and without it no pod starts.

import { parseJson } from "../../base/text/parse-json.js";
import type { Logger } from "../../telemetry/log/logger.js";
import type { CriClient } from "./client.js";
import { CriError } from "./errors.js";

/** undefined if the runtime does not report it. */
export async function sandboxImage(cri: Pick<CriClient, "status">, log: Logger): Promise<string | undefined> {
  try {
    const { info } = await cri.status({ verbose: true });
    return parseSandboxImage(info["config"] ?? "");
  } catch (error) {
    if (!(error instanceof CriError)) throw error;
    log.debug({ err: error }, "the runtime's configuration could not be read: its pinned images alone are protected");
    return undefined;
  }
}

/** Out of the configuration of containerd 1, as JSON. containerd 2 no longer has it there. */
export function parseSandboxImage(config: string): string | undefined {
  return textAt(config, "sandboxImage");
}

/** Out of the verbose status of one PodSandbox, as containerd 1 and 2 write it in JSON. */
export function parseImageOfSandbox(info: string): string | undefined {
  return textAt(info, "image");
}

function textAt(json: string, key: string): string | undefined {
  try {
    const parsed: unknown = parseJson(json);
    if (typeof parsed !== "object" || parsed === null || !Object.hasOwn(parsed, key)) return undefined;
    const text: unknown = (parsed as Readonly<Record<string, unknown>>)[key];
    return typeof text === "string" && text !== "" ? text : undefined;
  } catch {
    // The format is the runtime's own: another runtime's text names no image.
    return undefined;
  }
}
