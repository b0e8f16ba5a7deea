// Looks at the records of a client's TLS handshake before OpenSSL gets them, and refuses a certificate chain whose
// verification is expensive.
// Invariant: OpenSSL gets no Certificate message that chainProblem has not passed. What this class cannot read ends the
// connection.

import { chainProblem } from "./chain-limits.js";
import { ClientRecords } from "./client-records.js";
import { certificatesOf, HandshakeRefusal, MESSAGE, MessageJoiner, type HandshakeMessage } from "./messages.js";
import { RECORD, type TlsRecord } from "./records.js";

/** Bytes of all records until the handshake is done: two ClientHellos, a chain and a signature. */
const MAX_BYTES = 64 * 1024;
const MAX_RECORDS = 128;

type Stage = "plain" | "encrypted by TLS 1.2" | "done";

export class HandshakeInspection {
  private stage: Stage = "plain";
  private readonly plain = new MessageJoiner();
  private readonly inner = new MessageJoiner();
  private records: ClientRecords | undefined;
  private keyExchanged = false;
  private bytes = 0;
  private count = 0;

  /**
   * TLS 1.3: the key of the records that follow. `cipher` is OpenSSL's name of the suite.
   * @throws HandshakeRefusal
   */
  setSecret(cipher: string, secret: Buffer): void {
    this.records = new ClientRecords(cipher, secret);
  }

  /** True: its key is not known yet, and it must be asked again later. */
  mustWait({ type }: TlsRecord): boolean {
    return this.stage === "plain" && type === RECORD.data && this.records === undefined;
  }

  /**
   * Call once for each record that OpenSSL gets.
   * @throws HandshakeRefusal when OpenSSL must not get it
   */
  examine({ type, header, fragment, bytes }: TlsRecord): void {
    if (this.stage === "done") return;
    this.bytes += bytes.length;
    this.count++;
    if (this.bytes > MAX_BYTES || this.count > MAX_RECORDS) {
      throw new HandshakeRefusal(`its TLS handshake has more than ${MAX_BYTES} bytes or ${MAX_RECORDS} records`);
    }
    if (this.stage !== "plain") return;
    if (type === RECORD.handshake) {
      for (const message of this.plain.join(fragment)) this.onPlainMessage(message);
    } else if (type === RECORD.data && this.records !== undefined) {
      const { type: inside, content } = this.records.open(header, fragment);
      if (inside !== RECORD.handshake) return;
      for (const message of this.inner.join(content)) this.onInnerMessage(message);
    } else if (type === RECORD.changeCipherSpec && this.endsPlainMessages) {
      this.stage = "encrypted by TLS 1.2";
    }
  }

  /** The handshake is done. */
  end(): void {
    this.stage = "done";
  }

  /** TLS 1.3's clients send it for compatibility only. */
  private get endsPlainMessages(): boolean {
    return this.keyExchanged && this.plain.isEmpty && this.records === undefined;
  }

  private onPlainMessage({ type, body }: HandshakeMessage): void {
    if (type === MESSAGE.certificate) checkChain(body, "1.2");
    if (type === MESSAGE.clientKeyExchange) this.keyExchanged = true;
  }

  private onInnerMessage({ type, body }: HandshakeMessage): void {
    if (type === MESSAGE.compressedCertificate) throw new HandshakeRefusal("its certificates are compressed");
    if (type === MESSAGE.certificate) checkChain(body, "1.3");
    // What follows is encrypted with other keys. OpenSSL refuses a Finished message before the Certificate message.
    if (type === MESSAGE.finished) this.stage = "done";
  }
}

function checkChain(body: Buffer, version: "1.2" | "1.3"): void {
  let problem: string | undefined;
  try {
    problem = chainProblem(certificatesOf(body, version));
  } catch (cause) {
    throw new HandshakeRefusal("its certificate chain cannot be read", { cause });
  }
  if (problem !== undefined) throw new HandshakeRefusal(`its certificate chain is refused: ${problem}`);
}
