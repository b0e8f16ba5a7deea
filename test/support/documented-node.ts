// A node with the names and paths of a packaged one, as the documents have them, and the blocks of commands that run
// there.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readContents } from "../../tools/site/contents.js";
import { KUBELET_ENTRY, NODELET_ENTRY } from "../../tools/standalone/kubelet-process.js";
import { testImage, waitFor, type TestNode } from "../harness/node.js";
import { blocksOf, matchesShown, shownIn, type Block } from "./doc-blocks.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const COMMAND_MS = 120_000;
const OUTPUT_MS = 120_000;

export interface DocumentedBlocks {
  source: string;
  blocks: Block[];
}

/** Each page with the blocks that run in this environment, in the order of the pages. */
export async function blocksThatRun(environment: "node" | "cluster"): Promise<DocumentedBlocks[]> {
  const parts = await readContents(ROOT);
  const sources = ["README.md", ...parts.flatMap(({ pages }) => pages.map(({ source }) => source))];
  const documents = await Promise.all(
    sources.map(async (source) => {
      const all = blocksOf(await readFile(join(ROOT, source), "utf8"));
      return { source, blocks: all.filter((block) => block.environment?.kind === environment) };
    }),
  );
  return documents.filter(({ blocks }) => blocks.length > 0);
}

interface Ran {
  code: number;
  output: string;
}

export class DocumentedNode {
  private readonly words: (readonly [document: string, here: string])[];
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

  /** Another word of the documents, such as a placeholder. */
  say(document: string, here: string): void {
    this.words.push([document, here]);
  }

  here(text: string): string {
    return this.words.reduce((all, [document, here]) => all.replaceAll(document, here), text);
  }

  /** `kubelet`, `nodelet` and `sudo` as programs on the path; `more` has lines of shell by name. */
  async makePrograms(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { rootDir, dir } = this.node.kubelet;
    await mkdir(this.bin);
    const programs = {
      kubelet: `exec ${process.execPath} ${KUBELET_ENTRY} "$@"`,
      nodelet: `exec ${process.execPath} ${NODELET_ENTRY} --root-dir ${rootDir} "$@"`,
      sudo: 'exec "$@"',
      ...more,
    };
    for (const [name, line] of Object.entries(programs)) {
      await writeFile(join(this.bin, name), `#!/bin/sh\n${line}\n`);
      await chmod(join(this.bin, name), 0o755);
    }
    const packaged = await readFile(join(ROOT, "tools/deploy/systemd/kubelet.yaml"), "utf8");
    await writeFile(join(dir, "kubelet.yaml"), this.here(packaged));
  }

  /** Runs the blocks of one page in a folder of their own. */
  async runAll({ source, blocks }: DocumentedBlocks): Promise<void> {
    const cwd = join(this.node.kubelet.dir, source.replaceAll("/", "-"));
    await mkdir(cwd);
    for (const block of blocks) {
      if (block.language === "console") await this.shown(block, source, cwd);
      else await this.script(block, source, cwd);
    }
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

  private async script({ text, line }: Block, source: string, cwd: string): Promise<void> {
    const { code, output } = await this.run(text, cwd);
    assert.equal(code, 0, `${source}:${line} exits with ${code}:\n${output}`);
  }

  /** Repeats each command until it prints what the page shows: a pod needs time to fail, a back-off to begin. */
  private async shown({ text, line }: Block, source: string, cwd: string): Promise<void> {
    for (const { command, output } of shownIn(text)) {
      let seen: Ran = { code: -1, output: "" };
      await waitFor(
        async () => {
          seen = await this.run(command, cwd);
          return output.length === 0
            ? seen.code === 0
            : matchesShown(
                output.map((one) => this.here(one)),
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

  private run(script: string, cwd: string): Promise<Ran> {
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
}
