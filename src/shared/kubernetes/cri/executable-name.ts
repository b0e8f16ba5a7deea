// A command whose first word no kernel executes: it is longer than a path may be. It does not reach the runtime. With
// 100 KB, containerd 2.1 never comes back from the start or exec, and cannot stop the container any more.

import { quoteStart } from "../../base/text/quote.js";
import { criError } from "./errors.js";
import type { DeepPartial } from "./gen/runtime.v1.js";
import type { CriVerb, UnaryCall } from "./verbs.js";

/** PATH_MAX, which counts a zero byte: execve(2) answers ENAMETOOLONG. */
const LONGEST_PATH_BYTES = 4095;
/** Characters of the name in the error. */
const SHOWN = 63;

/** The call, which fails at once for such a command. `commandOf`: of a request, its first word being a program. */
export function withUsableName<Request, Response>(
  call: UnaryCall<Request, Response>,
  commandOf: (request: DeepPartial<Request>) => readonly string[] | undefined,
  { verb, endpoint, failed }: { verb: CriVerb; endpoint: string; failed: string },
): UnaryCall<Request, Response> {
  return (request, options) => {
    const [name = ""] = commandOf(request) ?? [];
    if (Buffer.byteLength(name) <= LONGEST_PATH_BYTES) return call(request, options);
    const details = `${failed}: exec: ${quoteStart(name, SHOWN)}: file name too long`;
    return Promise.reject(criError({ code: "UNKNOWN", verb, details, endpoint }));
  };
}
