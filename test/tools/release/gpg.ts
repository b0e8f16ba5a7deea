// A key for signatures, in a folder of its own: gpg's own folder is not touched.

import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { run } from "../../../tools/standalone/exec.js";

/** Makes a key; gpg of this process knows it until the test ends. Returns its name. */
export async function signingKey(t: TestContext): Promise<string> {
  // gpg's sockets have short paths only.
  const home = await mkdtemp(join(tmpdir(), "gpg-"));
  await mkdir(home, { recursive: true });
  await chmod(home, 0o700);
  const before = process.env["GNUPGHOME"];
  process.env["GNUPGHOME"] = home;
  t.after(async () => {
    await run("gpgconf", ["--kill", "all"]);
    if (before === undefined) delete process.env["GNUPGHOME"];
    else process.env["GNUPGHOME"] = before;
    await rm(home, { recursive: true, force: true });
  });
  const name = "release@nodelet.test";
  const quick = ["--batch", "--passphrase", "", "--quick-generate-key", name, "ed25519", "sign", "never"];
  await run("gpg", quick, { timeoutMs: 60_000 });
  return name;
}
