// Decrypts the records of a TLS 1.3 client's handshake (RFC 8446, 5.2 and 7.3), with the secret that Node reports as
// "keylog". The kubelet looks at the certificates there before OpenSSL does. The secret protects the handshake only,
// not the data that follows.

import { createDecipheriv, createHmac, type CipherGCMTypes } from "node:crypto";
import { HandshakeRefusal } from "./messages.js";

const TAG_BYTES = 16;
const NONCE_BYTES = 12;

interface Suite {
  cipher: CipherGCMTypes | "chacha20-poly1305";
  hash: "sha256" | "sha384";
  keyBytes: number;
}

/** By OpenSSL's names: those that Node and Go offer. */
const SUITES: Partial<Record<string, Suite>> = {
  TLS_AES_128_GCM_SHA256: { cipher: "aes-128-gcm", hash: "sha256", keyBytes: 16 },
  TLS_AES_256_GCM_SHA384: { cipher: "aes-256-gcm", hash: "sha384", keyBytes: 32 },
  TLS_CHACHA20_POLY1305_SHA256: { cipher: "chacha20-poly1305", hash: "sha256", keyBytes: 32 },
};

export class ClientRecords {
  private readonly suite: Suite;
  private readonly key: Buffer;
  private readonly iv: Buffer;
  private sequence = 0n;

  /**
   * @param secret client_handshake_traffic_secret
   * @throws HandshakeRefusal for a cipher suite that is not known
   */
  constructor(cipher: string, secret: Buffer) {
    const suite = SUITES[cipher];
    if (suite === undefined) throw new HandshakeRefusal(`the cipher suite ${cipher} is not supported`);
    this.suite = suite;
    this.key = expand(suite.hash, secret, "key", suite.keyBytes);
    this.iv = expand(suite.hash, secret, "iv", NONCE_BYTES);
  }

  /**
   * The content of the next record, and its type.
   * @throws HandshakeRefusal when it is not encrypted with the secret
   */
  open(header: Buffer, fragment: Buffer): { type: number; content: Buffer } {
    const body = fragment.subarray(0, Math.max(0, fragment.length - TAG_BYTES));
    const nonce = Buffer.from(this.iv);
    nonce.writeBigUInt64BE(nonce.readBigUInt64BE(4) ^ this.sequence++, 4);
    // The options of AES-GCM and of ChaCha20-Poly1305 have the same form.
    const cipher = this.suite.cipher as CipherGCMTypes;
    const decipher = createDecipheriv(cipher, this.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(header, { plaintextLength: body.length });
    try {
      decipher.setAuthTag(fragment.subarray(body.length));
      const plain = Buffer.concat([decipher.update(body), decipher.final()]);
      // Zeros of any number may follow the type.
      const end = plain.findLastIndex((byte) => byte !== 0);
      return { type: plain[end] ?? 0, content: plain.subarray(0, Math.max(0, end)) };
    } catch (cause) {
      throw new HandshakeRefusal("a record of its TLS handshake cannot be decrypted", { cause });
    }
  }
}

/** HKDF-Expand-Label (RFC 8446, 7.1) with an empty context. One block of the hash is enough. */
function expand(hash: string, secret: Buffer, label: string, bytes: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`);
  const info = Buffer.from([0, bytes, name.length, ...name, 0, 1]);
  return createHmac(hash, secret).update(info).digest().subarray(0, bytes);
}
