// Padding of DATA and HEADERS frames.

import { FLAG, type Frame } from "./frames/frame-types.js";
import { CODE, ConnectionError } from "./frames/http2-errors.js";

/** @throws ConnectionError for padding that is longer than the frame */
export function withoutPadding({ flags, payload }: Frame): Buffer {
  if ((flags & FLAG.PADDED) === 0) return payload;
  const padding = payload.length === 0 ? 0 : payload.readUInt8(0);
  if (padding >= payload.length) throw new ConnectionError(CODE.PROTOCOL_ERROR, "a frame is shorter than its padding");
  return payload.subarray(1, payload.length - padding);
}
