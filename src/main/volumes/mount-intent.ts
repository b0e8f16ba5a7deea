// A note on disk of a mount about to be made: written before it, removed after the unmount, so that after a crash at any
// instruction a restarted agent knows that the directory may be, or once was, a mount of its own.
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { POD_DIRECTORY_MODE } from "./paths.js";

export interface MountIntent {
  version: 1;
  kind: "tmpfs";
  target: string;
  sizeBytes: string;
}

const FILE = "mount.json";

/** Survives a crash of the machine once resolved. */
export async function recordIntent(metaDirectory: string, intent: MountIntent): Promise<void> {
  await mkdir(metaDirectory, { recursive: true, mode: POD_DIRECTORY_MODE });
  const temporary = `${metaDirectory}/${FILE}.tmp`;
  const file = await open(temporary, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(intent)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, `${metaDirectory}/${FILE}`);
}

/** undefined when there is none; a note that cannot be read still counts as one. */
export async function readIntent(metaDirectory: string): Promise<string | undefined> {
  try {
    return await readFile(`${metaDirectory}/${FILE}`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

export async function clearIntent(metaDirectory: string): Promise<void> {
  await rm(`${metaDirectory}/${FILE}`, { force: true });
}
