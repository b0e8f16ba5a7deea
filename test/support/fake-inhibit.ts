// A fake of the program systemd-inhibit, first in the test's own PATH. It records when the lock is taken and released,
// and runs its command as the real one does. A file `refuse` beside it makes it refuse.

import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SCRIPT = `#!/bin/sh
here="$(dirname "$0")"
if [ -e "$here/refuse" ]; then echo "Failed to inhibit: $(cat "$here/refuse")" >&2; exit 1; fi
echo "taken $*" >>"$here/log"
while [ "$1" != -- ]; do shift; done
shift
"$@"
echo released >>"$here/log"
`;

export interface FakeInhibit {
  /** The folder for PATH. */
  dir: string;
  /** "taken <arguments>", "released", in order. */
  log(): Promise<string[]>;
}

export async function fakeInhibit(dir: string): Promise<FakeInhibit> {
  await mkdir(dir, { recursive: true });
  const program = join(dir, "systemd-inhibit");
  await writeFile(program, SCRIPT);
  await chmod(program, 0o755);
  return {
    dir,
    log: async () =>
      (await readFile(join(dir, "log"), "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
  };
}
