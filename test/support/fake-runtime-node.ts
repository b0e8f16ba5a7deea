// A whole kubelet on the fake runtime, which keeps each request. It is not started, so that its manifests may be
// written first.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startFakeCri, type FakeCri, type FakeCriOptions } from "../fake-cri/fake-cri.js";
import { startNode, testImage, type NodeOptions, type TestNode } from "../harness/node.js";

/** Both end with the test. */
export async function fakeNode(
  t: TestContext,
  config: NonNullable<NodeOptions["config"]>,
  options: Partial<FakeCriOptions> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<{ fake: FakeCri; node: TestNode }> {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-fake-"));
  t.after(() => rm(dir, { recursive: true }));
  const fake = await startFakeCri({
    socketPath: join(dir, "cri.sock"),
    images: [testImage()],
    imageStore: dir,
    ...options,
  });
  t.after(() => fake.stop());
  const node = await startNode({ start: false, env, config: { containerRuntimeEndpoint: fake.endpoint, ...config } });
  t.after(() => node.stop());
  return { fake, node };
}
