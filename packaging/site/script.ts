// The site's script as one small file for browsers.
import { join } from "node:path";
import { build } from "esbuild";

export async function siteScript(root: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, "packaging/site/browser/main.ts")],
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  });
  return outputFiles[0]?.text ?? "";
}
