// The installer's command line: what `make install` and `make uninstall` pass on.

import { isAbsolute, resolve } from "node:path";
import { parseArgs } from "node:util";
import { messageOf, SetupProblem } from "../standalone/problem.js";

/**
 * How the unit starts the kubelet: with static pods, as kubeadm expects it, or as a bare `kubelet` for own drop-ins.
 */
export type Mode = "standalone" | "kubeadm" | "plain";

const MODES: readonly Mode[] = ["standalone", "kubeadm", "plain"];

export interface InstallerOptions {
  action: "install" | "uninstall";
  /** "" is this machine; a package builder's staging folder otherwise. */
  destdir: string;
  prefix: string;
  /** Undefined: derived from the files of the machine. */
  mode: Mode | undefined;
  /** Absolute path of Node where the agent will run. */
  node: string;
  force: boolean;
  purge: boolean;
}

const USAGE =
  "usage: install|uninstall [--destdir DIR] [--prefix /usr] [--mode standalone|kubeadm|plain] [--node PATH] [--force] [--purge]";

/** Throws SetupProblem for words it does not understand. */
export function readOptions(words: readonly string[]): InstallerOptions {
  const { positionals, values } = parse(words);
  const action = positionals[0];
  if (positionals.length !== 1 || (action !== "install" && action !== "uninstall")) throw new SetupProblem(USAGE);
  const mode = MODES.find((name) => name === values.mode);
  if (values.mode !== undefined && mode === undefined) {
    throw new SetupProblem(`--mode ${JSON.stringify(values.mode)} is not one of ${MODES.join(", ")}`);
  }
  return {
    action,
    destdir: values.destdir === undefined || values.destdir === "" ? "" : resolve(values.destdir).replace(/\/$/, ""),
    prefix: absolute("--prefix", values.prefix ?? "/usr"),
    mode,
    node: absolute("--node", values.node ?? process.execPath),
    force: values.force ?? false,
    purge: values.purge ?? false,
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        destdir: { type: "string" },
        prefix: { type: "string" },
        mode: { type: "string" },
        node: { type: "string" },
        force: { type: "boolean" },
        purge: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new SetupProblem(`${messageOf(error)}; ${USAGE}`);
  }
}

/** The words end up in a shell script and a unit file: nothing in them may need quoting. */
function absolute(flag: string, path: string): string {
  if (isAbsolute(path) && /^[\w@+.,:/-]+$/.test(path)) return resolve(path);
  throw new SetupProblem(`${flag} ${JSON.stringify(path)}: an absolute path of letters, digits and _@+.,:/- is needed`);
}
