// Replies whose bytes are within the limit, and whose objects would fill the heap.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_FIELDS, MAX_LIST_BYTES } from "../../../../src/shared/kubernetes/cri/bounded-reply.js";
import { withPrefix } from "../../../../src/shared/kubernetes/cri/channel/message-reader.js";
import { CriResourceExhaustedError } from "../../../../src/shared/kubernetes/cri/errors.js";
import {
  ListContainersResponse,
  StreamContainersResponse,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { startRawHttp2 } from "./channel/servers.js";
import { clientOf, socketPath } from "./support.js";

type OnStream = NonNullable<NonNullable<Parameters<typeof startRawHttp2>[2]>["onStream"]>;

/** An empty container has two bytes. */
const bomb = (containers: number): Buffer => Buffer.alloc(2 * containers, Buffer.from([0x0a, 0]));
const large = ListContainersResponse.encode(
  ListContainersResponse.fromPartial({
    containers: Array.from({ length: 500 }, (_, at) => ({ id: `${at}`, annotations: { note: "x".repeat(1000) } })),
  }),
).finish();

for (const channel of ["own", "grpc-js"] as const) {
  test(`a list of empty containers is refused as too large, on the channel ${channel}`, async (t) => {
    const path = await socketPath(t);
    const replies = [bomb(MAX_FIELDS + 1), Buffer.from(large)];
    const onStream: OnStream = (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(withPrefix(replies.shift() ?? Buffer.alloc(0)));
      return true;
    };
    const server = await startRawHttp2(path, { calls: 0, cancelled: 0 }, { onStream });
    t.after(() => server.stop());
    const { client } = clientOf(t, `unix://${path}`, { channel });
    await assert.rejects(client.listContainers({}), (error) => {
      assert.ok(error instanceof CriResourceExhaustedError);
      assert.match(error.message, /more than 1000000 fields/);
      return true;
    });
    const { containers } = await client.listContainers({});
    assert.equal(containers.length, 500, "a large reply of ordinary containers is read");
  });
}

test("a list through a stream ends at its sum, also if every part of it is small", async (t) => {
  const path = await socketPath(t);
  const part = withPrefix(
    Buffer.from(
      StreamContainersResponse.encode(
        StreamContainersResponse.fromPartial({
          containers: [{ id: "a", annotations: { note: "x".repeat(1_000_000) } }],
        }),
      ).finish(),
    ),
  );
  let sent = 0;
  const onStream: OnStream = (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    const send = (): void => {
      while (!stream.destroyed && sent < 2 * MAX_LIST_BYTES) {
        sent += part.length;
        if (!stream.write(part)) return;
      }
    };
    stream.on("drain", send);
    send();
    return true;
  };
  const server = await startRawHttp2(path, { calls: 0, cancelled: 0 }, { onStream });
  t.after(() => server.stop());
  const { client } = clientOf(t, `unix://${path}`, { listStreaming: true });
  await assert.rejects(client.listContainers({}), (error) => {
    assert.ok(error instanceof CriResourceExhaustedError);
    assert.match(error.message, /StreamContainers recv failed .* the list has more than 67108864 bytes/);
    return true;
  });
  assert.ok(sent < 2 * MAX_LIST_BYTES, `${sent} bytes were sent`);
});
