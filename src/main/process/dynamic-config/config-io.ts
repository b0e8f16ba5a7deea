// The texts of a configuration in place of the files on disk. So the kubelet reads exactly the checked texts.

import { resolve, relative } from "path/posix";
import type { CommandIo } from "../../command/command-request.js";
import type { ConfigFiles } from "./config-files.js";

/** `base` reads all files that are not configuration. */
export function ioOf(files: ConfigFiles, base: CommandIo): CommandIo {
  const { config, configMap } = files;
  const all = [...(files.config === undefined ? [] : [files.config]), ...files.dropIns];
  return {
    configMap: configMap !== undefined && config !== undefined ? config : undefined,
    readFile: (path, kind) => all.find((file) => file.path === resolve(path))?.text ?? base.readFile(path, kind),
    listFiles: (dir) => files.dropIns.map(({ path }) => relative(resolve(dir), path)),
    host: () => base.host(),
  };
}
