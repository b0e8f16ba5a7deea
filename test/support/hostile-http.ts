// What hostile HTTP servers send: a beginning, and a part that they repeat without end.
interface Endless {
  first: Buffer;
  again: Buffer;
}

const KIB = 1024;

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const DATA = 0;
const HEADERS = 1;
const PRIORITY = 2;
const SETTINGS = 4;
const PUSH_PROMISE = 5;
const PING = 6;
const WINDOW_UPDATE = 8;
const CONTINUATION = 9;
const END_HEADERS = 4;
const many = (bytes: Buffer) => Buffer.concat(Array.from({ length: 1000 }, () => bytes));
/** `:status` of three digits, without indexing. */
const status = (code: string): Buffer => Buffer.concat([Buffer.from([8, 3]), Buffer.from(code)]);

const text = (first: string, again: string): Endless => ({
  first: Buffer.from(first),
  again: Buffer.from(again.repeat(1000)),
});
const http2 = (again: Buffer, first: Buffer = Buffer.alloc(0)): Endless => ({
  first: Buffer.concat([frame(SETTINGS, 0, 0), first]),
  again: many(again),
});

/** By what they flood. */
export const HTTP1_FLOODS: Readonly<Record<string, Endless>> = {
  "short header fields": text("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
  "one long header field": text("HTTP/1.1 200 OK\r\nA: ", "b".repeat(64)),
  "informational responses": text("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
  "informational responses with long headers": text(
    "",
    `HTTP/1.1 103 Early Hints\r\nLink: ${"x".repeat(8 * KIB)}\r\n\r\n`,
  ),
  "chunk extensions": text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "a=b;"),
  trailers: text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", "A: b\r\n"),
};

export const HTTP2_FLOODS: Readonly<Record<string, Endless>> = {
  "informational responses": http2(frame(HEADERS, END_HEADERS, 1, status("103"))),
  SETTINGS: http2(frame(SETTINGS, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100]))),
  PING: http2(frame(PING, 0, 0, Buffer.alloc(8))),
  CONTINUATION: http2(
    frame(CONTINUATION, 0, 1, Buffer.from([0x40, 1, 97, 1, 98])),
    frame(HEADERS, 0, 1, status("200")),
  ),
  PRIORITY: http2(frame(PRIORITY, 0, 1, Buffer.alloc(5))),
  WINDOW_UPDATE: http2(frame(WINDOW_UPDATE, 0, 0, Buffer.from([0, 0, 0, 1]))),
  "empty DATA": http2(frame(DATA, 0, 1), frame(HEADERS, END_HEADERS, 1, status("200"))),
  PUSH_PROMISE: http2(frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.from([0, 0, 0, 2, 0x82]))),
  "unknown frames": http2(frame(200, 0, 1)),
};
