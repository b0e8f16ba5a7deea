// The site's script as one small file for browsers.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** tools/bundle/browser.mjs: the bundler runs before anything is compiled. */
interface BrowserBuild {
  browserScript: (root: string, entry: string) => Promise<string>;
}

export async function siteScript(root: string): Promise<string> {
  const file = pathToFileURL(join(root, "tools/bundle/browser.mjs")).href;
  const { browserScript } = (await import(file)) as BrowserBuild;
  return `${await browserScript(root, join(root, "tools/site/browser/main.ts"))}\n`;
}
