// WebSocket frames as a server writes them (RFC 6455, section 5): whole, unmasked, binary.

export const OPCODE = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;
export const CLOSE_CODE = { NORMAL: 1000, PROTOCOL_ERROR: 1002, UNSUPPORTED: 1003 } as const;
/** Of control frames' payloads. */
export const MAX_CONTROL = 125;
const FIN = 0x80;

/**
 * What precedes `length` bytes of a binary message.
 * @param channel is part of the message: its first byte
 */
export function messageHead(length: number, channel?: number): Buffer {
  const head = frameHead(OPCODE.BINARY, channel === undefined ? length : length + 1);
  return channel === undefined ? head : Buffer.concat([head, Buffer.of(channel)]);
}

export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([frameHead(OPCODE.PONG, payload.length), payload]);
}

export function closeFrame(code: number): Buffer {
  return Buffer.concat([frameHead(OPCODE.CLOSE, 2), Buffer.of(code >> 8, code & 0xff)]);
}

function frameHead(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.of(FIN | opcode, length);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = FIN | opcode;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}
