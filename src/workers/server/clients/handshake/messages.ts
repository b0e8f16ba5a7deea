// Joins the fragments of a client's handshake messages, and takes the certificates out of a Certificate message.

export const MESSAGE = { certificate: 11, clientKeyExchange: 16, finished: 20, compressedCertificate: 25 } as const;
const HEADER_BYTES = 4;
/** A ClientHello has 0.3 to 2 KiB, a chain 1 to 6 KiB. The limit of the chain is a little smaller. */
const MAX_MESSAGE_BYTES = 17 * 1024;

/** A handshake that the kubelet does not continue. */
export class HandshakeRefusal extends Error {
  override readonly name = "HandshakeRefusal";
}

export interface HandshakeMessage {
  readonly type: number;
  readonly body: Buffer;
}

export class MessageJoiner {
  private rest: Buffer = Buffer.alloc(0);

  /** Nothing of a message waits for its end. */
  get isEmpty(): boolean {
    return this.rest.length === 0;
  }

  /**
   * The messages that are complete with this fragment.
   * @throws HandshakeRefusal
   */
  join(fragment: Buffer): HandshakeMessage[] {
    let bytes = this.rest.length === 0 ? fragment : Buffer.concat([this.rest, fragment]);
    const messages: HandshakeMessage[] = [];
    while (bytes.length >= HEADER_BYTES) {
      const length = bytes.readUIntBE(1, 3);
      if (length > MAX_MESSAGE_BYTES) {
        throw new HandshakeRefusal(
          `a message of ${length} bytes in its TLS handshake, and ${MAX_MESSAGE_BYTES} are allowed`,
        );
      }
      if (bytes.length < HEADER_BYTES + length) break;
      messages.push({ type: bytes[0] ?? 0, body: bytes.subarray(HEADER_BYTES, HEADER_BYTES + length) });
      bytes = bytes.subarray(HEADER_BYTES + length);
    }
    this.rest = bytes;
    return messages;
  }
}

/**
 * The certificates of a message: RFC 8446, 4.4.2, and RFC 5246, 7.4.2.
 * @throws RangeError when it ends too early
 */
export function certificatesOf(body: Buffer, version: "1.2" | "1.3"): Buffer[] {
  let at = 0;
  const take = (sizeBytes: number): Buffer => {
    const start = at + sizeBytes;
    const end = start + body.readUIntBE(at, sizeBytes);
    if (end > body.length) throw new RangeError("the Certificate message ends too early");
    at = end;
    return body.subarray(start, end);
  };
  // The context of the request.
  if (version === "1.3") take(1);
  at += 3;
  const certificates: Buffer[] = [];
  while (at < body.length) {
    certificates.push(take(3));
    // The extensions.
    if (version === "1.3") take(2);
  }
  return certificates;
}
