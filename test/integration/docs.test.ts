// The commands of the documentation on a stand-alone node with real containerd. Each command works, and its output
// equals the page's. Every block with `<!-- run: node -->` runs, in the order of the pages.
// @headline Packages and documents | Documented commands run. | every block

import { after, before, describe, test } from "node:test";
import { startNode, waitFor } from "../harness/node.js";
import { blocksThatRun, DocumentedNode } from "../support/documented-node.js";
import { secureAsk } from "../support/secure-ask.js";

const documents = await blocksThatRun("node");

describe("the commands of the documentation", () => {
  let documented: DocumentedNode;

  before(async () => {
    const authentication = { anonymous: { enabled: false }, webhook: { enabled: false } };
    const node = await startNode({
      secure: true,
      nodeName: "node1",
      // As the packaged unit.
      flags: ["--manifest-api=socket"],
      config: { authentication },
    });
    documented = new DocumentedNode(node);
    await documented.makePrograms();
    // It refuses every client of this test, but it responds.
    await waitFor(async () => (await secureAsk(node, "/pods").catch(() => undefined))?.status === 401, {
      what: "the authenticated port to be open",
    });
  });
  after(() => documented.node.stop());

  for (const document of documents) {
    test(`${document.source}: ${document.blocks.length} blocks`, async () => {
      await documented.runAll(document);
      await documented.clear();
    });
  }
});
