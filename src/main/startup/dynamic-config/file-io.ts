// The texts of a configuration in place of the files on disk: what was checked is what is read.
import { relative, resolve } from "node:path";
import type { CommandIo } from "../../command/settings.js";
import type { ConfigFiles } from "./config-files.js";

/** `base` answers what is not configuration. */
export function ioOf(files: ConfigFiles, base: CommandIo): CommandIo {
  const all = [...(files.config === undefined ? [] : [files.config]), ...files.dropIns];
  return {
    readFile: (path) => all.find((file) => file.path === resolve(path))?.text ?? base.readFile(path),
    listFiles: (dir) => files.dropIns.map(({ path }) => relative(resolve(dir), path)),
    host: () => base.host(),
  };
}
