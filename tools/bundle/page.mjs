// Makes the status page: script and style in one document, and a policy that permits only these two.
// https://www.w3.org/TR/CSP3/#grammardef-hash-source

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { browserScript } from "./browser.mjs";

/** Bytes of the document. */
const MOST = 110_000;

/** Writes page/index.html and page/policy.txt below each folder. */
export async function writePage({ root, folders }) {
  const source = join(root, "src", "page");
  const script = await browserScript(root, join(source, "main.ts"));
  const css = await readFile(join(source, "page.css"), "utf8");
  const style = (await transform(css, { loader: "css", minify: true, target: "chrome100" })).code.trim();
  const template = (await readFile(join(source, "index.html"), "utf8")).replaceAll(/>\s+</g, "><").trim();
  const html = template
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace("<script></script>", () => `<script>${script}</script>`);
  if (Buffer.byteLength(html) > MOST) throw new Error(`the status page has ${Buffer.byteLength(html)} bytes`);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  for (const folder of folders) {
    await mkdir(join(folder, "page"), { recursive: true });
    await writeFile(join(folder, "page", "index.html"), html);
    await writeFile(join(folder, "page", "policy.txt"), `${policy}\n`);
  }
}

function hashOf(text) {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
