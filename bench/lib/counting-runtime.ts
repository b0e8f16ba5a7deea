// A proxy between a kubelet and its runtime that counts calls by verb. It passes HTTP/2 streams on unchanged, so it
// works with every kubelet and every version of CRI.

import { once } from "node:events";
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createConnection } from "node:net";

const SCHEME = "unix://";

export class CountingRuntime {
  /** Verb, such as RunPodSandbox, to the number of calls. */
  readonly calls = new Map<string, number>();
  private readonly server: Http2Server = createServer();
  private readonly sessions = new Set<ServerHttp2Session>();

  private constructor(private readonly runtime: ClientHttp2Session) {
    this.server.on("session", (session) => {
      this.sessions.add(session);
      session.on("error", () => undefined).on("close", () => this.sessions.delete(session));
    });
    this.server.on("stream", (stream, headers) => this.pass(stream, headers));
  }

  /** Listens at `path`; `runtime` is the `unix://` endpoint of the runtime. */
  static async start(path: string, runtime: string): Promise<CountingRuntime> {
    const socket = runtime.slice(SCHEME.length);
    const session = connect("http://localhost", { createConnection: () => createConnection(socket) });
    await once(session, "connect");
    session.on("error", () => undefined);
    const proxy = new CountingRuntime(session);
    proxy.server.listen(path);
    await once(proxy.server, "listening");
    return proxy;
  }

  stop(): void {
    for (const session of this.sessions) session.destroy();
    this.server.close();
    this.runtime.destroy();
  }

  private pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const verb = String(headers[":path"]).split("/").at(-1) ?? "";
    this.calls.set(verb, (this.calls.get(verb) ?? 0) + 1);
    const call = this.runtime.request({ ...headers, ":authority": "localhost" });
    let trailers: IncomingHttpHeaders = {};
    call.on("trailers", (received: IncomingHttpHeaders) => {
      trailers = received;
    });
    call.on("response", (answer, flags) => {
      if (stream.destroyed) return;
      const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, isWhole ? { endStream: true } : { waitForTrailers: true });
      if (!isWhole) call.pipe(stream);
    });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    // A call that the kubelet gives up ends at the runtime too.
    stream.on("error", () => undefined).on("close", () => call.close(constants.NGHTTP2_CANCEL));
    call.on("error", () => stream.destroy());
    stream.pipe(call);
  }
}
