// The document of the status page from the build (tools/bundle/page.mjs): page/index.html of the bundle. Its
// content security policy names the hashes of its script and its style.

import { readFile } from "node:fs/promises";

export interface PageDocument {
  html: Buffer;
  /** Value of Content-Security-Policy. */
  policy: string;
}

/** Rejects when the build made no page. */
export async function readPageDocument(): Promise<PageDocument> {
  const [html, policy] = await Promise.all([
    readFile(new URL("../../../page/index.html", import.meta.url)),
    readFile(new URL("../../../page/policy.txt", import.meta.url), "utf8"),
  ]);
  return { html, policy: policy.trim() };
}
