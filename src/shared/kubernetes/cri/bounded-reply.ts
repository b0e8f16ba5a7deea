// Decodes what the runtime sends, with a bound on the fields, and on the bytes of a list that comes through a stream.
// Eight million empty containers fit into one message, and each becomes an object of the thread that asked.

import { BoundedMessageError, boundedMessage } from "../bounded-reader.js";
import type { Attempt } from "./attempt.js";
import type { MethodDefinition } from "./verbs.js";

/** Twice those of a full message of 5,000 containers. */
export const MAX_FIELDS = 1_000_000;

/** Bytes that cannot become more objects than a thread holds: a reply of every day is not counted. */
const UNCOUNTED_BYTES = 256 * 1024;

/** Bytes of a list that comes through a stream. */
export const MAX_LIST_BYTES = 64 * 1024 * 1024;

/**
 * The call fails with RESOURCE_EXHAUSTED for a reply beyond the bound, as for one of too many bytes, so that a list
 * comes by parts. @throws what the generated decoder throws
 */
export function decodeReply<Response>(
  method: Pick<MethodDefinition<never, Response, boolean>, "responseDeserialize">,
  bytes: Buffer,
  attempt: Attempt,
): Response {
  if (bytes.length <= UNCOUNTED_BYTES) return method.responseDeserialize(bytes);
  try {
    return method.responseDeserialize(boundedMessage(bytes, MAX_FIELDS));
  } catch (error) {
    if (error instanceof BoundedMessageError) {
      attempt.gaveUp ??= { code: "RESOURCE_EXHAUSTED", details: error.message };
    }
    throw error;
  }
}

/** The decoder of one stream. Events have no end; a list has, and is kept whole. */
export function partDecoder<Response>(
  method: Pick<MethodDefinition<never, Response, boolean>, "responseDeserialize">,
  attempt: Attempt,
): (bytes: Buffer) => Response {
  let left = attempt.verb === "GetContainerEvents" ? Infinity : MAX_LIST_BYTES;
  return (bytes) => {
    left -= bytes.length;
    if (left >= 0) return decodeReply(method, bytes, attempt);
    const details = `the list has more than ${MAX_LIST_BYTES} bytes`;
    attempt.gaveUp ??= { code: "RESOURCE_EXHAUSTED", details };
    throw new BoundedMessageError(details);
  };
}
