// A command whose first word no kernel executes: it is longer than a path may be. It does not reach the runtime. With
// 100 KB, containerd 2.1 never comes back from the exec, and cannot stop the container any more.

import { shortened } from "../../base/text/shortened.js";
import { criError } from "./errors.js";
import type { CallOptions, UnaryCall } from "./verbs.js";

/** PATH_MAX, which counts a zero byte: execve(2) answers ENAMETOOLONG. */
const LONGEST_PATH_BYTES = 4095;
const SHOWN = 64;

interface CommandRequest {
  containerId: string;
  cmd: string[];
}

/** The call, which fails at once for such a command. */
export function withUsableName<Request extends CommandRequest, Response>(
  call: UnaryCall<Request, Response>,
  verb: "ExecSync" | "Exec",
  endpoint: string,
): UnaryCall<Request, Response> {
  return (request, options?: CallOptions) => {
    const { cmd = [], containerId = "" } = request as Partial<CommandRequest>;
    const [name = ""] = cmd;
    if (Buffer.byteLength(name) <= LONGEST_PATH_BYTES) return call(request, options);
    const details = `failed to exec in container: exec: "${shortened(name, SHOWN)}": file name too long`;
    return Promise.reject(criError({ code: "UNKNOWN", verb, details, endpoint, subject: `container ${containerId}` }));
  };
}
