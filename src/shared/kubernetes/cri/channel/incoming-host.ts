// What the reader of a connection changes in it.

import type { StreamError } from "./frames/http2-errors.js";
import type { Http2Stream } from "./http2-stream.js";
import type { IdleFrames } from "./idle-frames.js";
import type { PeerSettings } from "./peer-settings.js";
import type { ReceiveWindow } from "./receive-window.js";
import type { SendWindow } from "./send-window.js";

export interface IncomingHost {
  /** The peer's first settings arrived. */
  readonly isReady: boolean;
  readonly settings: PeerSettings;
  /** Those that have not ended, by number. */
  readonly streams: ReadonlyMap<number, Http2Stream>;
  readonly window: SendWindow;
  readonly received: ReceiveWindow;
  readonly idleFrames: IdleFrames;
  /** True if the stream was opened, now or before. */
  knows(id: number): boolean;
  /** For frames that the peer can cause any number of. */
  answer(bytes: Buffer): void;
  /** The window of the connection grew. */
  pump(): void;
  ready(): void;
  /** The peer allows more streams, or fewer. */
  roomChanged(): void;
  /** @param last the peer processes no stream with a higher number */
  drain(last: number): void;
  /** Sends RST_STREAM, and forgets the stream. */
  reset(stream: Http2Stream, code: number): void;
  /** The stream has ended. */
  forget(stream: Http2Stream): void;
  /** Ends a stream of a peer that broke the protocol on it. */
  failStream(stream: Http2Stream, fault: StreamError): void;
}
