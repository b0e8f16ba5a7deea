// A flexVolume driver for tests: a shell script that records its calls and mounts a tmpfs with the options inside. A
// test replaces the answer to a command by a piece of shell.

import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export interface FlexTestDriver {
  executable: string;
  /** Commands with their arguments, in order. */
  calls(): Promise<string[][]>;
  /**
   * `script` runs instead of the command; undefined: the command as before. `$1` is the command, `$2` the first
   * argument.
   */
  answer(command: string, script: string | undefined): Promise<void>;
  remove(): Promise<void>;
}

export const SUCCESS = `echo '{"status":"Success"}'`;
export const NOT_SUPPORTED = `echo '{"status":"Not supported"}'; exit 1`;

const OWN: Readonly<Record<string, string>> = {
  init: `echo '{"status":"Success","capabilities":{"attach":false}}'`,
  mount: `mount -t tmpfs -o size=1m,mode=755 flex "$2" && printf '%s\\n' "$3" > "$2/options" && ${SUCCESS}`,
  unmount: `umount "$2" && ${SUCCESS}`,
};

/** `home`: a directory of the test's own. `name`: "vendor/driver". */
export async function flexDriver(pluginDir: string, name: string, home: string): Promise<FlexTestDriver> {
  const executable = join(pluginDir, name.replace("/", "~"), name.slice(name.indexOf("/") + 1));
  await mkdir(home, { recursive: true });
  const commands = Object.entries(OWN).map(([command, script]) => `${command}) ${script};;`);
  const script = [
    "#!/bin/sh",
    `home='${home}'`,
    // One write for each call: the test may read meanwhile, and another call may run.
    `end=$(printf '\\037'); line=; for word; do line="$line$word$end"; done; printf '%s\\n' "$line" >> "$home/calls"`,
    `if [ -f "$home/answer-$1" ]; then . "$home/answer-$1"; exit; fi`,
    `case "$1" in ${commands.join("\n")}`,
    `*) ${NOT_SUPPORTED};; esac`,
    "",
  ].join("\n");
  await writeFile(`${home}/driver`, script);
  await chmod(`${home}/driver`, 0o755);
  await mkdir(dirname(executable), { recursive: true });
  await rename(`${home}/driver`, executable);
  return {
    executable,
    async calls() {
      const text = await readFile(`${home}/calls`, "utf8").catch(() => "");
      return text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => line.split("\u001f").slice(0, -1));
    },
    async answer(command, piece) {
      const file = `${home}/answer-${command}`;
      if (piece === undefined) return rm(file, { force: true });
      await writeFile(`${file}.new`, `${piece}\n`);
      await rename(`${file}.new`, file);
    },
    remove: () => rm(dirname(executable), { recursive: true }),
  };
}
