// A block device with ext4 that records every write and flush. It is a loop device on a file of FUSE. From the record
// each state that a power cut can leave is made and mounted.

import { fork, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../tools/standalone/exec.js";
import { imageAfter, parseLog, type LogEntry, type Survival } from "./write-log.js";

/** Commits of the journal by the clock, and flushes before a rename, would save data that was never synced. */
const OPTIONS = "loop,noatime,commit=600,noauto_da_alloc";
const SIZE = "16M";

export class RecordedDisk implements AsyncDisposable {
  private asked = 0;
  private cuts = 0;
  private readonly waiting = new Map<number, { resolve: (entries: number) => void; reject: (error: Error) => void }>();

  private constructor(
    private readonly folder: string,
    private readonly blank: Buffer,
    private readonly server: ChildProcess,
    private readonly ended: Promise<number | null>,
  ) {
    server.on("message", (message) => {
      if (typeof message !== "object") return;
      const { id, entries } = message as { id: number; entries: number };
      this.waiting.get(id)?.resolve(entries);
      this.waiting.delete(id);
    });
    server.once("exit", () => {
      for (const { reject } of this.waiting.values()) reject(new Error("the disk is not served any more"));
    });
  }

  /** The mounted file system. */
  get root(): string {
    return join(this.folder, "live");
  }

  static async start(): Promise<RecordedDisk> {
    const folder = await mkdtemp(join(tmpdir(), "nodelet-power-"));
    await run("mount", ["-t", "tmpfs", "-o", "size=512m", "nodelet-test", folder]);
    const [image, served, live] = ["image", "served", "live"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await run("truncate", ["-s", SIZE, image]);
    await run("mkfs.ext4", ["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", image]);
    await writeFile(served, "");
    await mkdir(live);
    const blank = await readFile(image);
    const server = fork(new URL("./serve.js", import.meta.url), [folder]);
    const ended = new Promise<number | null>((resolve) => server.once("exit", resolve));
    const mounted = new Promise<boolean>((resolve) => server.once("message", () => resolve(true)));
    if (!(await Promise.race([mounted, ended.then(() => false)]))) throw new Error("the disk is not served");
    await run("mount", ["-o", OPTIONS, served, live]);
    return new RecordedDisk(folder, blank, server, ended);
  }

  /** Number of entries in the log. */
  async position(): Promise<number> {
    const id = this.asked++;
    const answer = new Promise<number>((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.server.send(id);
    return await answer;
  }

  async log(): Promise<LogEntry[]> {
    return parseLog(await readFile(join(this.folder, "log")));
  }

  /** Mounts the disk as it may be after the first `cut` entries, for as long as `use` takes. */
  async afterCut<T>(
    log: readonly LogEntry[],
    cut: number,
    survival: Survival,
    random: () => number,
    use: (root: string) => Promise<T>,
  ): Promise<T> {
    // A name of its own: the loop device of the cut before may still be closing.
    const copy = join(this.folder, `copy-${this.cuts++}`);
    const at = join(this.folder, "after");
    await writeFile(copy, imageAfter(this.blank, log, cut, survival, random));
    await mkdir(at, { recursive: true });
    await run("mount", ["-o", OPTIONS, copy, at]);
    try {
      return await use(at);
    } finally {
      await run("umount", [at]);
      await rm(copy);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.disconnect();
    const status = await this.ended;
    if (status !== 0) throw new Error(`the process behind the disk ended with ${status}`);
  }
}
