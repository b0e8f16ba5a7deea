// A response of HTTP/1 names the version that its request has, as Go's does: Node names 1.1 whatever the client speaks.

import { ServerResponse } from "node:http";

/** Undocumented, and the same since Node 0.10. If it were not called, the tests of recorded responses would fail. */
interface HeadWriter {
  _storeHeader(statusLine: string, headers: unknown): void;
}

const writer = ServerResponse.prototype as unknown as HeadWriter;

export class VersionedResponse extends ServerResponse {
  _storeHeader(statusLine: string, headers: unknown): void {
    const { httpVersionMajor: major, httpVersionMinor: minor } = this.req;
    const line = major === 1 && minor === 0 ? statusLine.replace(/^HTTP\/1\.1/, "HTTP/1.0") : statusLine;
    writer._storeHeader.call(this, line, headers);
  }
}
