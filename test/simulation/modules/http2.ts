// node:http2 of the simulated machine, as far as gRPC probes need it: a client session with one call.

import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import { DATA, type Frame, frameBytes, FrameReader, HEADERS, PREFACE, SETTINGS } from "../world/http2-frames.js";

type Fields = Record<string, string>;

class Call extends EventEmitter {
  private hasHead = false;

  constructor(
    private readonly stream: Duplex,
    private readonly fields: Fields,
  ) {
    super();
  }
  end(body: Buffer): void {
    this.stream.write(frameBytes(HEADERS, this.fields));
    this.stream.write(frameBytes(DATA, body, true));
  }
  receive({ type, payload, isLast }: Frame): void {
    if (type === HEADERS) {
      this.emit(this.hasHead ? "trailers" : "response", JSON.parse(payload.toString()));
      this.hasHead = true;
    } else if (type === DATA) this.emit("data", payload);
    if (isLast) this.emit("end");
  }
}

class Session extends EventEmitter {
  private readonly frames = new FrameReader();
  private call: Call | undefined;

  constructor(private readonly stream: Duplex) {
    super();
    stream.on("data", (bytes: Buffer) => {
      for (const frame of this.frames.read(bytes)) this.receive(frame);
    });
    stream.once("close", () => this.emit("close"));
    stream.write(Buffer.from(PREFACE));
    stream.write(frameBytes(SETTINGS, Buffer.alloc(0)));
  }
  request(fields: Fields): Call {
    this.call = new Call(this.stream, fields);
    return this.call;
  }
  destroy(): void {
    this.stream.destroy();
  }

  private receive(frame: Frame): void {
    if (frame.type === SETTINGS) this.emit("remoteSettings");
    else this.call?.receive(frame);
  }
}

export function connect(_authority: string, { createConnection }: { createConnection: () => Duplex }): Session {
  return new Session(createConnection());
}
