// Checks that the runtime implements CRI v1.
import { isUnimplemented } from "./errors.js";
import type { CallOptions, CriCalls } from "./verbs.js";

/** The only valid version number of the Version call; the API's real version is in runtimeApiVersion. */
const VERSION = "0.1.0";

export interface RuntimeVersion {
  /** "containerd", "cri-o", … */
  runtimeName: string;
  runtimeVersion: string;
  /** "v1". */
  runtimeApiVersion: string;
}

/** The runtime responds, but does not implement CRI v1: waiting will not help, another runtime will. */
export class CriVersionError extends Error {
  override readonly name = "CriVersionError";
}

/** Asks the runtime who it is. Throws CriVersionError when it is no CRI v1 runtime, CriError when the call fails. */
export async function checkVersion(
  client: Pick<CriCalls, "version">,
  options: CallOptions = {},
): Promise<RuntimeVersion> {
  const reply = await client.version({ version: VERSION }, options).catch((error: unknown) => {
    if (!isUnimplemented(error)) throw error;
    throw new CriVersionError(
      `the runtime at ${error.endpoint} does not serve CRI v1 (${error.details}): ` +
        "containerd 1.6 or CRI-O 1.20 is the oldest that does, and containerd's cri plugin must not be disabled",
      { cause: error },
    );
  });
  const { runtimeName, runtimeVersion, runtimeApiVersion } = reply;
  if (reply.version !== VERSION) {
    throw new CriVersionError(`the runtime answered Version with "${reply.version}", expected "${VERSION}"`);
  }
  const fields = { runtime_name: runtimeName, runtime_version: runtimeVersion, runtime_api_version: runtimeApiVersion };
  const empty = Object.entries(fields).flatMap(([field, value]) => (value === "" ? [field] : []));
  if (empty.length > 0) throw new CriVersionError(`the runtime answered Version without ${empty.join(", ")}`);
  return { runtimeName, runtimeVersion, runtimeApiVersion };
}

/** Checks that the runtime responds. Both services are called, because one endpoint may serve only one of them. */
export async function checkConnection(
  client: Pick<CriCalls, "version" | "imageFsInfo">,
  options: CallOptions = {},
): Promise<void> {
  await client.version({}, options);
  await client.imageFsInfo({}, options);
}
