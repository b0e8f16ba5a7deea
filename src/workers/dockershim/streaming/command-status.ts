// The result of a command on the error stream. Source of the form:
// https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/cri/streaming/remotecommand/exec.go

import { engineMessage } from "../fault.js";

/** From this version of the protocol on, the result is a Status in JSON; before, plain text of a failure. */
const WITH_STATUS = 4;

/** undefined: nothing is written. @param exitCode of a command that ended */
export function exitStatus(exitCode: number, version: number): string | undefined {
  if (exitCode === 0) return version < WITH_STATUS ? undefined : JSON.stringify({ metadata: {}, status: "Success" });
  const message = `command terminated with non-zero exit code: exit code ${exitCode}`;
  if (version < WITH_STATUS) return message;
  return JSON.stringify({
    metadata: {},
    status: "Failure",
    message,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  });
}

/** The command did not run, or nothing is known of its end. @param doing "executing command in container" */
export function failureStatus(doing: string, error: unknown, version: number): string {
  const message = `error ${doing}: ${engineMessage(error)}`;
  if (version < WITH_STATUS) return message;
  return JSON.stringify({
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${message}`,
    reason: "InternalError",
    details: { causes: [{ message }] },
    code: 500,
  });
}
