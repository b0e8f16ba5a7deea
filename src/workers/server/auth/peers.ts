// The verified client certificates of open connections. A certificate is read once, at the start of the connection. It
// is kept on the socket itself, where the socket proxies of HTTP/2 find it, too.
// Invariant: after a change of the accepted CAs, a verification by the old ones no longer counts.

import { type CertificateClaim, type TlsPeer, certificateClaim } from "./certificate-claim.js";

const PEER = Symbol("nodelet.server.peer");

interface Peer {
  claim: CertificateClaim;
  generation: number;
}

type Marked = object & { [PEER]?: Peer };

export class Peers {
  private generation = 0;

  /** Call when the handshake is done. @param now milliseconds since the epoch */
  opened(socket: TlsPeer, now: number): void {
    (socket as Marked)[PEER] = { claim: certificateClaim(socket, now), generation: this.generation };
  }

  /** Connections made from now on are verified with other CAs. */
  casChanged(): void {
    this.generation++;
  }

  claimOf(socket: object, now: number): CertificateClaim {
    const peer = (socket as Marked)[PEER];
    if (peer === undefined) return { kind: "none" };
    const { claim, generation } = peer;
    if (claim.kind === "none") return claim;
    if (generation !== this.generation) {
      return { kind: "refused", why: "client certificate: the accepted CAs have changed; connect again" };
    }
    if (claim.kind === "user" && now >= claim.expiresAt) {
      return { kind: "refused", why: "client certificate: it has expired" };
    }
    return claim;
  }
}
