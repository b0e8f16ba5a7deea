// Sends requests with the credentials of the moment. New certificates get new connections; the old ones end soon after.

import { unlessAborted } from "../../../../base/abort/unless-aborted.js";
import type { Clock, Timer } from "../../../../base/clock/clock.js";
import type { ClientConfig } from "../config.js";
import type { Credentials, Proof } from "../credentials/credentials.js";
import type { ClientLog } from "../credentials/identity.js";
import { ApiConnectionError } from "../errors.js";
import { Channel } from "./channel.js";
import { isCertificateAlert } from "./connection-error.js";
import type { ServerTrust } from "./dial.js";
import { proxyFor } from "./proxy.js";
import type { Wire, WireRequest, WireResponse } from "./wire.js";

/** For calls under way on connections with an old certificate. Watches are cut and continue with the new one. */
const GRACE_MS = 5000;
/** client-go's period for token files; a stat costs nothing. */
const LOOK_EVERY_MS = 60_000;

export class Transport implements Wire {
  private channel: { wire: Channel; tls: Proof["tls"] } | undefined;
  private readonly trust: ServerTrust = { isLost: false };
  private readonly retired = new Set<Channel>();
  private look: Timer | undefined;
  private closed = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly credentials: Credentials,
    private readonly clock: Clock,
    private readonly log: ClientLog,
    private readonly onResolved?: (host: string, ms: number) => void,
  ) {}

  async send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    for (let isFirst = true; ; isFirst = false) {
      const proof = await unlessAborted(this.credentials.current(), signal);
      const answer = await this.sendAs(proof, request, signal, isFirst);
      if (answer === undefined) continue;
      if (!isFirst || answer.status !== 401 || !(await this.isWorthAnother(proof, signal))) return answer;
      answer.body.on("error", () => undefined).destroy();
    }
  }

  /** Reads credential files again; connections with old certificates end. Rejects with CredentialError. */
  async reload(): Promise<void> {
    await this.credentials.reload();
    const { tls } = await this.credentials.current();
    if (this.channel !== undefined && this.channel.tls !== tls) this.retire();
  }

  closeConnections(): void {
    const error = new ApiConnectionError("the connections to the API server were closed on purpose");
    for (const wire of this.retired) wire.destroy(error);
    this.retired.clear();
    this.channel?.wire.destroy(error);
    this.channel = undefined;
  }
  close(): void {
    this.closed = true;
    this.look?.cancel();
    this.closeConnections();
  }

  /** @returns undefined when the server refused the certificate and there is another one now */
  private async sendAs(
    proof: Proof,
    request: WireRequest,
    signal: AbortSignal,
    isFirst: boolean,
  ): Promise<WireResponse | undefined> {
    try {
      const headers = { ...request.headers, ...proof.headers };
      return await this.wireOf(proof).send({ ...request, headers }, signal);
    } catch (error) {
      if (isFirst && isCertificateAlert(error) && (await this.isWorthAnother(proof, signal))) return undefined;
      throw error;
    }
  }

  private isWorthAnother(proof: Proof, signal: AbortSignal): Promise<boolean> {
    return unlessAborted(this.credentials.refused(proof), signal).catch(() => false);
  }

  private wireOf({ tls }: Proof): Channel {
    if (this.closed) throw new ApiConnectionError("the client of the API server was closed");
    this.lookNowAndThen();
    if (this.channel !== undefined && this.channel.tls !== tls) this.retire();
    if (this.channel === undefined) {
      const server = new URL(this.config.server);
      const target = {
        server,
        proxy: proxyFor(server, this.config.proxyUrl, process.env),
        context: tls?.context,
        tlsServerName: this.config.tlsServerName,
        insecure: this.config.insecureSkipTlsVerify === true,
        onResolved: this.onResolved,
        trust: this.trust,
      };
      this.channel = { wire: new Channel(target, this.clock), tls };
    }
    return this.channel.wire;
  }

  private retire(): void {
    const wire = this.channel?.wire;
    this.channel = undefined;
    if (wire === undefined) return;
    this.retired.add(wire);
    wire.retire(GRACE_MS, () => this.retired.delete(wire));
  }

  /** Finds rotated files also without calls: the only connection may be a watch. */
  private lookNowAndThen(): void {
    this.look ??= this.clock.every(LOOK_EVERY_MS, () => {
      this.reload().catch((error: unknown) => {
        this.log.warn({ err: error }, "Cannot reload the client credentials; using the previous ones");
      });
    });
    this.look.unref();
  }
}
