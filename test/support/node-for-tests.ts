// The set-up of a test file that needs one node and a view of its runtime.

import { after } from "node:test";
import { startNode, type TestNode } from "../harness/node.js";
import { RuntimeView } from "./static-pods.js";

/** Starts a node for all tests of the calling file. Node and view are stopped after the last test. */
export async function nodeForTests(
  ...options: Parameters<typeof startNode>
): Promise<{ node: TestNode; runtime: RuntimeView }> {
  const node = await startNode(...options);
  const runtime = new RuntimeView(node.endpoint);
  after(async () => {
    runtime.close();
    await node.stop();
  });
  return { node, runtime };
}
