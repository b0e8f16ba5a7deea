// The settings of the peer.

import { DEFAULT_FRAME_BYTES, DEFAULT_WINDOW, LARGEST_WINDOW, SETTING } from "./frames/frame-types.js";
import { CODE, ConnectionError } from "./frames/http2-errors.js";

export class PeerSettings {
  maxStreams = Infinity;
  window = DEFAULT_WINDOW;
  maxFrameBytes = DEFAULT_FRAME_BYTES;

  /** @throws ConnectionError for values that the protocol does not allow */
  apply(payload: Buffer): void {
    if (payload.length % 6 !== 0)
      throw new ConnectionError(CODE.FRAME_SIZE_ERROR, "a SETTINGS frame with half an entry");
    for (let offset = 0; offset < payload.length; offset += 6) {
      this.#set(payload.readUInt16BE(offset), payload.readUInt32BE(offset + 2));
    }
  }

  #set(name: number, value: number): void {
    switch (name) {
      case SETTING.ENABLE_PUSH:
        if (value !== 0) throw new ConnectionError(CODE.PROTOCOL_ERROR, "a server that wants to be pushed to");
        break;
      case SETTING.MAX_CONCURRENT_STREAMS:
        this.maxStreams = value;
        break;
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > LARGEST_WINDOW) throw new ConnectionError(CODE.FLOW_CONTROL_ERROR, "a window that is too large");
        this.window = value;
        break;
      case SETTING.MAX_FRAME_SIZE:
        if (value < DEFAULT_FRAME_BYTES || value >= 2 ** 24) {
          throw new ConnectionError(CODE.PROTOCOL_ERROR, `frames of ${value} bytes`);
        }
        this.maxFrameBytes = value;
        break;
      default:
      // Unknown ones are ignored. Our encoder keeps no table (hpack/encode.ts), so that its size does not matter.
    }
  }
}
