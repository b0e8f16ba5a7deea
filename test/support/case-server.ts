// A server for recorded exchanges: it gives one case's bytes after another, and keeps what the client sent.

import { createServer } from "node:net";
import type { TestContext } from "node:test";
import { listen } from "./probe-kit.js";

export interface RecordedReplies {
  /** Byte strings, one a connection; the last one repeats. PORT stands for the server's port. */
  replies: string[];
  /** The connection stays open after the reply. */
  open?: boolean;
  /** The connection is reset after the reply. */
  reset?: boolean;
}

export class CaseServer {
  requests: string[] = [];
  port = 0;
  private current: RecordedReplies | undefined;

  async listen(t: TestContext): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const { replies = [], open = false, reset = false } = this.current ?? {};
      const { requests } = this;
      const index = requests.push("") - 1;
      const reply = replies[Math.min(index, replies.length - 1)] ?? "";
      socket.on("error", () => undefined);
      socket.on("data", (piece: Buffer) => {
        const request = (requests[index] ?? "") + piece.toString("latin1");
        requests[index] = request;
        if (!request.endsWith("\r\n\r\n")) return;
        const bytes = Buffer.from(reply.replaceAll("PORT", String(this.port)), "latin1");
        socket.write(bytes, () => {
          if (reset) socket.resetAndDestroy();
        });
        if (!open && !reset) socket.end();
      });
    });
    this.port = await listen(t, server);
  }

  begin(one: RecordedReplies): void {
    this.current = one;
    this.requests = [];
  }

  /** The text with PORT in place of the server's port. */
  shown(text: string): string {
    return text.replaceAll(String(this.port), "PORT");
  }
}
