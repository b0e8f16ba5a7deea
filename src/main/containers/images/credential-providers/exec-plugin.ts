// One run of a credential provider plugin: the request on its standard input, the response on its standard output.

import { join } from "path/posix";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { ProgramFailedError } from "../../../../shared/io/exec/program-errors.js";
import { runProgram } from "../../../../shared/io/exec/run-program.js";
import type { CredentialProviderSettings } from "./config.js";
import type { PodIdentity } from "./pod-identity.js";
import { type PluginResponse, readResponse, PluginError } from "./response.js";

/** The request to a plugin. */
export interface PluginQuestion {
  /** Registry and repository: "docker.io/library/busybox". */
  image: string;
  /** Present: the request names the pod's service account. */
  identity?: PodIdentity | undefined;
}

interface PluginRun {
  binDir: string;
  settings: CredentialProviderSettings;
  question: PluginQuestion;
  clock: Clock;
  signal: AbortSignal;
}

/** Rejects with PluginError, or the signal's reason. */
export async function execPlugin({ binDir, settings, question, clock, signal }: PluginRun): Promise<PluginResponse> {
  const { name, apiVersion, args, env } = settings;
  const run = { command: join(binDir, name), args, env, input: requestText(apiVersion, question), clock, signal };
  try {
    return readResponse(await runProgram(run), name, apiVersion);
  } catch (error) {
    throw error instanceof ProgramFailedError ? new PluginError(name, error.message, { cause: error }) : error;
  }
}

function requestText(apiVersion: string, { image, identity }: PluginQuestion): string {
  const { token, annotations = {} } = identity ?? {};
  return JSON.stringify(
    omitUndefined({
      kind: "CredentialProviderRequest",
      apiVersion,
      image,
      serviceAccountToken: token,
      serviceAccountAnnotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    }),
  );
}
