// One way to make a script for browsers: of the status page, and of the site.

import { build } from "esbuild";

/** The script of `entry` with all that it imports, in one text. Both are paths; `entry` may be relative to `root`. */
export async function browserScript(root, entry) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    charset: "utf8",
    logLevel: "warning",
  });
  return outputFiles[0].text.trim();
}
