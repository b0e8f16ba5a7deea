// Mounts on which every call hangs killably, as on a network file system without its server: FUSE without a daemon.
// This process holds the other ends, and must touch nothing below the mount points.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { mount } from "../../src/shared/io/os/mount.js";

export const canHang = process.getuid?.() === 0 && existsSync("/dev/fuse");

export class HungMounts {
  private readonly ends = new Map<string, FileHandle>();

  /** The directory is made. */
  async hang(target: string): Promise<void> {
    mkdirSync(target, { recursive: true });
    const end = await open("/dev/fuse", "r+");
    this.ends.set(target, end);
    const data = `fd=${end.fd},rootmode=40000,user_id=0,group_id=0,allow_other`;
    await mount({ source: "silent-server", target, type: "fuse", data });
  }

  /** The directory below shows again; calls that hang end. */
  async release(target: string): Promise<void> {
    execFileSync("umount", ["-l", target], { stdio: "pipe" });
    await this.ends.get(target)?.close();
    this.ends.delete(target);
  }

  /** By one program: hundreds of them take longer than the tests. */
  async releaseAll(): Promise<void> {
    if (this.ends.size === 0) return;
    execFileSync("umount", ["-l", ...this.ends.keys()], { stdio: "pipe" });
    for (const end of this.ends.values()) await end.close();
    this.ends.clear();
  }
}
