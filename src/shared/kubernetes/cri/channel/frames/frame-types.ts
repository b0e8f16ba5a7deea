// Numbers of HTTP/2's frames (RFC 9113).

export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;

export const FLAG = { ACK: 0x1, END_STREAM: 0x1, END_HEADERS: 0x4, PADDED: 0x8, PRIORITY: 0x20 } as const;

export const SETTING = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const;

export const HEAD_BYTES = 9;

/** Bytes of a frame's payload, both ways until the peer allows more: the protocol's default. */
export const DEFAULT_FRAME_BYTES = 16_384;

/** Size of both windows in bytes, until a setting says otherwise. */
export const DEFAULT_WINDOW = 65_535;

export const LARGEST_WINDOW = 2 ** 31 - 1;

export const LARGEST_STREAM_ID = 2 ** 31 - 1;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  /** Valid until the reader returns: it is a part of the buffer that the socket reads into. */
  readonly payload: Buffer;
}
