// A client that speaks just enough of TLS 1.2 to send a Certificate message of any content: that message is not
// encrypted there.

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const HANDSHAKE = 22;
const SERVER_HELLO_DONE = Buffer.from([14, 0, 0, 0]);

const sized = (bytes: number, content: Buffer): Buffer => {
  const size = Buffer.alloc(bytes);
  size.writeUIntBE(content.length, 0, bytes);
  return Buffer.concat([size, content]);
};

/** A handshake message in records of this many bytes. */
export function recordsOf(type: number, body: Buffer, recordBytes = 16 * 1024): Buffer[] {
  const message = Buffer.concat([Buffer.from([type]), sized(3, body)]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes) {
    records.push(Buffer.concat([Buffer.from([HANDSHAKE, 3, 3]), sized(2, message.subarray(at, at + recordBytes))]));
  }
  return records;
}

export function certificateBody(certificates: readonly Buffer[]): Buffer {
  return sized(3, Buffer.concat(certificates.map((certificate) => sized(3, certificate))));
}

/** For TLS 1.2 with ECDHE: the server is asked for nothing else. */
function clientHello(): Buffer[] {
  const extension = (type: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([type >> 8, type & 0xff]), sized(2, content)]);
  const list = (...codes: number[]): Buffer => sized(2, Buffer.from(codes.flatMap((code) => [code >> 8, code & 0xff])));
  const extensions = [
    extension(10, list(0x001d, 0x0017)),
    extension(11, Buffer.from([1, 0])),
    extension(13, list(0x0403, 0x0804, 0x0401)),
  ];
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    randomBytes(32),
    Buffer.from([0]),
    list(0xc02b, 0xc02f, 0xc030),
    Buffer.from([1, 0]),
    sized(2, Buffer.concat(extensions)),
  ]);
  return recordsOf(1, body);
}

/** A connection whose server waits for the client's certificates. */
export async function connectRawTls(port: number, localAddress?: string): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, ...(localAddress !== undefined && { localAddress }) });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  for (const record of clientHello()) socket.write(record);
  let answer: Buffer = Buffer.alloc(0);
  while (!answer.includes(SERVER_HELLO_DONE)) {
    const [bytes] = (await once(socket, "data")) as [Buffer];
    answer = Buffer.concat([answer, bytes]);
  }
  return socket;
}
