// The commands of the documentation on a stand-alone node with real containerd. Each command works, and its output
// equals the page's. Every block with `<!-- run: node -->` runs, in the order of the pages.
// @headline Packages and documents | Documented commands run. | every block
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { KUBELET_ENTRY, NODELET_ENTRY } from "../../packaging/standalone/kubelet-process.js";
import { readContents } from "../../packaging/site/contents.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { blocksOf, matchesShown, shownIn, type Block } from "../support/doc-blocks.js";
import { secureAsk } from "../support/secure-ask.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const COMMAND_MS = 120_000;
const OUTPUT_MS = 120_000;

interface Ran {
  code: number;
  output: string;
}

/** A node with the names and paths of a packaged one, as the documents have them. */
class DocumentedNode {
  private readonly words: readonly (readonly [document: string, here: string])[];
  readonly bin: string;

  constructor(readonly node: TestNode) {
    const { dir, rootDir, manifests, podLogs, url, healthzUrl, secureUrl } = node.kubelet;
    const address = (from: string): string => new URL(from).host;
    this.bin = join(dir, "bin");
    this.words = [
      ["/run/nodelet/kubelet.sock", join(rootDir, "nodelet/kubelet.sock")],
      ["/etc/kubernetes/manifests", manifests],
      ["/etc/nodelet/kubelet.yaml", join(dir, "kubelet.yaml")],
      ["/var/lib/kubelet", rootDir],
      ["/var/log/pods", podLogs],
      ["docker.io/library/busybox:1.36", testImage()],
      ["127.0.0.1:10255", address(url)],
      ["127.0.0.1:10248", address(healthzUrl)],
      ["127.0.0.1:10250", address(secureUrl)],
    ];
  }

  here(text: string): string {
    return this.words.reduce((all, [document, here]) => all.replaceAll(document, here), text);
  }

  /** `kubelet`, `nodelet` and `sudo` as programs on the path. */
  async makePrograms(): Promise<void> {
    const { rootDir, dir } = this.node.kubelet;
    await mkdir(this.bin);
    const program = async (name: string, line: string): Promise<void> => {
      await writeFile(join(this.bin, name), `#!/bin/sh\n${line}\n`);
      await chmod(join(this.bin, name), 0o755);
    };
    await program("kubelet", `exec ${process.execPath} ${KUBELET_ENTRY} "$@"`);
    await program("nodelet", `exec ${process.execPath} ${NODELET_ENTRY} --root-dir ${rootDir} "$@"`);
    await program("sudo", 'exec "$@"');
    const packaged = await readFile(join(ROOT, "packaging/systemd/kubelet.yaml"), "utf8");
    await writeFile(join(dir, "kubelet.yaml"), this.here(packaged));
  }

  run(script: string, cwd: string): Promise<Ran> {
    const text = `set -euo pipefail\nshopt -s expand_aliases\n${this.here(script)}`;
    return new Promise((resolve) => {
      const child = execFile(
        "bash",
        ["-c", text],
        {
          cwd,
          timeout: COMMAND_MS,
          maxBuffer: 64 * 1024 * 1024,
          env: { ...process.env, PATH: `${this.bin}:${process.env["PATH"] ?? ""}` },
        },
        (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` }),
      );
    });
  }

  /** Ends the pods that a document left. */
  async clear(): Promise<void> {
    const { manifests } = this.node.kubelet;
    for (const name of await readdir(manifests)) await this.node.removeManifest(name.replace(/\.yaml$/, ""));
    await this.node.waitFor((pods) => pods.length === 0, {
      what: "the pods of the document to be removed",
      timeoutMs: OUTPUT_MS,
    });
  }
}

const parts = await readContents(ROOT);
const sources = ["README.md", ...parts.flatMap(({ pages }) => pages.map(({ source }) => source))];
const documents = await Promise.all(
  sources.map(async (source) => ({
    source,
    blocks: blocksOf(await readFile(join(ROOT, source), "utf8")).filter(
      ({ environment }) => environment?.kind === "node",
    ),
  })),
);

describe("the commands of the documentation", () => {
  let documented: DocumentedNode;

  before(async () => {
    const authentication = { anonymous: { enabled: false }, webhook: { enabled: false } };
    const node = await startNode({
      secure: true,
      nodeName: "node1",
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

  for (const { source, blocks } of documents.filter((document) => document.blocks.length > 0)) {
    test(`${source}: ${blocks.length} blocks`, async () => {
      const cwd = join(documented.node.kubelet.dir, source.replaceAll("/", "-"));
      await mkdir(cwd);
      for (const block of blocks) await (block.language === "console" ? shown : script)(block, source, cwd);
      await documented.clear();
    });
  }

  async function script({ text, line }: Block, source: string, cwd: string): Promise<void> {
    const { code, output } = await documented.run(text, cwd);
    assert.equal(code, 0, `${source}:${line} exits with ${code}:\n${output}`);
  }

  /** Repeats each command until it prints what the page shows: a pod needs time to fail, a back-off to begin. */
  async function shown({ text, line }: Block, source: string, cwd: string): Promise<void> {
    for (const { command, output } of shownIn(text)) {
      let seen: Ran = { code: -1, output: "" };
      await waitFor(
        async () => {
          seen = await documented.run(command, cwd);
          return output.length === 0
            ? seen.code === 0
            : matchesShown(
                output.map((one) => documented.here(one)),
                seen.output,
              );
        },
        {
          what: `${source}:${line}: ${command}`,
          timeoutMs: OUTPUT_MS,
          intervalMs: 500,
          lastSeen: () => `\n${seen.output}(exit code ${seen.code})`,
        },
      );
    }
  }
});
