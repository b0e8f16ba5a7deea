// The commands of the documentation that need kubectl and a cluster: each works against the API server of the tests and
// a whole kubelet, whose serving certificate waits for an approval. Every block with `<!-- run: cluster -->` runs.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { waitFor } from "../harness/node.js";
import { NODE_NAME, NOT_REACHABLE, startClusterNode, type ClusterNode } from "../support/cluster-node.js";
import { blocksOf } from "../support/doc-blocks.js";
import { blocksThatRun, DocumentedNode } from "../support/documented-node.js";
import { clientPrograms, Kubectl } from "../support/kubectl.js";
import { secureAsk } from "../support/secure-ask.js";

const STATUS_PAGE = fileURLToPath(new URL("../../../docs/status-page.md", import.meta.url));
const CSR = "certificatesigningrequests";
/** The page about the request must run first: the port of the others opens with the certificate. */
const FIRST = "docs/certificates.md";

const documents = (await blocksThatRun("cluster")).sort(
  (one, other) => Number(other.source === FIRST) - Number(one.source === FIRST),
);

describe("the commands of the documentation with kubectl", { skip: NOT_REACHABLE }, () => {
  let cluster: ClusterNode;
  let kubectl: Kubectl;
  let documented: DocumentedNode;

  before(async () => {
    cluster = await startClusterNode({
      reachable: true,
      config: { serverTLSBootstrap: true },
      flags: ["--status-page"],
    });
    kubectl = await Kubectl.start(cluster.api.kubeconfig());
    documented = new DocumentedNode(cluster.node);
    const { KUBECONFIG = "", HOME = "" } = kubectl.env;
    const programs = {
      kubectl: `HOME=${HOME} KUBECONFIG=${KUBECONFIG} exec ${join(clientPrograms(), "kubectl")} "$@"`,
    };
    await documented.makePrograms(programs);
    const pending = await waitFor(
      async () => {
        const { items } = await cluster.api.list(CSR, "");
        return items.find(({ spec }) => spec?.["signerName"] === "kubernetes.io/kubelet-serving")?.metadata.name;
      },
      { what: "the request of the serving certificate" },
    );
    documented.say("<name>", pending);
    documented.say("<node>", NODE_NAME);
    documented.say("worker-1", NODE_NAME);
    documented.say(":10250/", `:${new URL(cluster.node.kubelet.secureUrl).port}/`);
  });
  after(async () => {
    await kubectl[Symbol.asyncDispose]();
    await cluster.stop();
  });

  test("there are blocks of this kind, the approval among them", () => {
    assert.equal(documents[0]?.source, FIRST);
    assert.ok(documents.length >= 4);
  });

  for (const document of documents) {
    test(`${document.source}: ${document.blocks.length} blocks`, async () => {
      await documented.runAll(document);
      if (document.source !== FIRST) return;
      await waitFor(async () => (await secureAsk(cluster.node, "/healthz").catch(() => undefined))?.status === 401, {
        what: "the port to open with the approved certificate",
      });
    });
  }

  test("docs/status-page.md: kubectl proxy leads to the page", async () => {
    const blocks = blocksOf(await readFile(STATUS_PAGE, "utf8")).filter(({ text }) => text.includes("kubectl proxy"));
    const [command = "", comment = ""] = (blocks[0]?.text ?? "").split("\n");
    const proxy = kubectl.spawn(command.split(" ").slice(1));
    await proxy.until((stdout) => stdout.includes("Starting to serve on 127.0.0.1:8001"));
    const page = await fetch(documented.here(comment.replace("# ", "")));
    assert.equal(page.status, 200);
    assert.match(await page.text(), /<title>/);
    await proxy.interrupt();
  });
});
