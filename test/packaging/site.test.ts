// The documentation as a site: built into a temporary folder, then read as a browser with no network would.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildSite, type Site } from "../../packaging/site/build.js";
import { readContents } from "../../packaging/site/contents.js";
import { renderDocument } from "../../packaging/site/render.js";
import { globSync } from "../harness/glob.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const PAGE_BYTES = 300 * 1024;
const SITE_BYTES = 4 * 1024 * 1024;

const attributes = (html: string, name: string): string[] =>
  Array.from(html.matchAll(new RegExp(`<[^>]*\\s${name}="([^"]*)"`, "g")), ([, value = ""]) => unescape(value));
const unescape = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&amp;", "&");

describe("the documentation as a site", () => {
  let folder: string;
  let site: Site;
  const html = new Map<string, string>();

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "nodelet-site-"));
    site = await buildSite(ROOT, folder);
    for (const path of globSync(folder, ".html")) html.set(path, await readFile(join(folder, path), "utf8"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test("the links to the next page lead from the index through every page in the declared order", () => {
    const declared = site.parts.flatMap(({ pages }) => pages.map(({ target }) => target));
    const walked: string[] = [];
    let here = "index.html";
    for (;;) {
      const next = /<a rel="next" href="([^"]+)"/.exec(html.get(here) ?? "")?.[1];
      if (next === undefined || walked.length > declared.length) break;
      here = posix.join(posix.dirname(here), next);
      walked.push(here);
    }
    assert.deepEqual(walked, declared);
    assert.deepEqual([...html.keys()].sort(), ["index.html", ...declared].sort());
  });

  test("the navigation of every page has every listed page in the declared order", () => {
    const declared = site.parts.flatMap(({ pages }) =>
      pages.filter(({ listed }) => listed).map(({ target }) => target),
    );
    for (const [path, text] of html) {
      const [, nav = ""] = /<nav aria-label="Pages">([^]*?)<\/nav>/.exec(text) ?? [];
      const links = attributes(nav, "href").filter((href) => !href.startsWith("#"));
      const targets = links.map((href) => posix.join(posix.dirname(path), href));
      assert.deepEqual(
        targets.filter((target) => declared.includes(target)),
        declared,
        path,
      );
    }
  });

  test("every document below docs is a page", () => {
    const sources = new Set(site.parts.flatMap(({ pages }) => pages.map(({ source }) => source)));
    const unlisted = globSync(join(ROOT, "docs"), ".md").filter((name) => !sources.has(`docs/${name}`));
    assert.deepEqual(unlisted, ["README.md"]);
  });

  test("every link leads to a file of the site, every anchor to a heading, every picture to an image", async () => {
    const dead: string[] = [];
    for (const [path, text] of html) {
      for (const href of [...attributes(text, "href"), ...attributes(text, "src")]) {
        if (/^https?:/.test(href)) continue;
        const [file = "", anchor] = href.split("#", 2);
        const target = file === "" ? path : posix.join(posix.dirname(path), file);
        const exists = await stat(join(folder, target)).then(
          () => true,
          () => false,
        );
        const hasAnchor = anchor === undefined || attributes(html.get(target) ?? "", "id").includes(anchor);
        if (!exists || !hasAnchor) dead.push(`${path}: ${href}`);
      }
    }
    assert.deepEqual(dead, []);
  });

  test("no page has a script or loads anything from outside", async () => {
    for (const [path, text] of html) {
      assert.doesNotMatch(text, /<(?:script|iframe|object|embed|style|base)\b/, path);
      const loaded = [
        ...attributes(text, "src"),
        ...Array.from(text.matchAll(/<link[^>]*href="([^"]*)"/g), (m) => m[1]),
      ];
      for (const url of loaded) assert.doesNotMatch(url ?? "", /^(?:[a-z]+:|\/\/)/, path);
    }
    for (const name of site.files.filter((file) => /\.(?:css|svg)$/.test(file))) {
      const text = await readFile(join(folder, name), "utf8");
      assert.doesNotMatch(text.replaceAll(/xmlns(?::\w+)?="[^"]*"/g, ""), /https?:|@import|<script/, name);
    }
  });

  test("a page and the whole site stay below their limits of size", async () => {
    const sizes = await Promise.all(site.files.map(async (name) => ({ name, size: await sizeOf(join(folder, name)) })));
    const large = sizes.filter(({ name, size }) => name.endsWith(".html") && size > PAGE_BYTES);
    assert.deepEqual(large, []);
    const total = sizes.reduce((sum, { size }) => sum + size, 0);
    assert.ok(total < SITE_BYTES, `${total} bytes`);
  });
});

async function sizeOf(path: string): Promise<number> {
  const { size } = await stat(path);
  return size;
}

describe("the table of contents", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "nodelet-contents-"));
    await mkdir(join(root, "docs"));
  });
  after(() => rm(root, { recursive: true, force: true }));

  test("an entry before the first part, and a page that is listed twice, are refused with their line", async () => {
    const write = (text: string): Promise<void> => writeFile(join(root, "docs/README.md"), text);
    await write("# Title\n- [A](a.md)\n");
    await assert.rejects(readContents(root), /docs\/README\.md:2: the entry of a\.md stands before the first/);
    await write("## Part\n- [A](a.md)\n- [B](../B.md): about B\n- [A again](a.md)\n");
    await assert.rejects(readContents(root), /docs\/README\.md:4: a\.md is listed twice/);
    await write("## Part\n- [A](a.md)\n- [B](../B.md): about B\n");
    const [part] = await readContents(root);
    assert.deepEqual(
      part?.pages.map(({ source, target }) => [source, target]),
      [
        ["docs/a.md", "a.html"],
        ["B.md", "b.html"],
      ],
    );
  });
});

describe("a rendered document", () => {
  const render = (markdown: string): ReturnType<typeof renderDocument> =>
    renderDocument(markdown, {
      source: "docs/adr/0001-x.md",
      target: "adr/0001-x.html",
      pageOf: (source) => (source === "docs/a.md" ? "a.html" : undefined),
    });

  test("links lead to pages and copied files, headings have GitHub's anchors", () => {
    const { html, files } = render(
      "## One `thing`, twice\n\n[a](../a.md#b) ![p](../p.svg) [j](../../packaging/r.yaml)",
    );
    assert.match(html, /<h2 id="one-thing-twice">One <code>thing<\/code>, twice<\/h2>/);
    assert.match(html, /<a href="\.\.\/a\.html#b">a<\/a> <img src="\.\.\/p\.svg" alt="p"/);
    assert.match(html, /<a href="\.\.\/files\/packaging\/r\.yaml">/);
    assert.deepEqual(
      [...files],
      [
        ["p.svg", "docs/p.svg"],
        ["files/packaging/r.yaml", "packaging/r.yaml"],
      ],
    );
  });

  test("text is escaped, and comments are not rendered", () => {
    const { html } = render("<!-- run: node -->\n\n```sh\ncat <<'EOF' && \"x\"\n```\n\n`<pod>`");
    assert.match(html, /^<pre tabindex="0"><code>cat &lt;&lt;'EOF' &amp;&amp; &quot;x&quot;<\/code><\/pre>/);
    assert.match(html, /<code>&lt;pod&gt;<\/code>/);
    assert.doesNotMatch(html, /run: node/);
  });

  for (const [what, markdown, message] of [
    ["raw HTML", "a <b>c</b>", /raw HTML is not rendered: <b>/],
    ["a mermaid block", "```mermaid\nx\n```", /commit a picture/],
    ["a picture from outside", "![x](https://example.org/x.png)", /lies outside the repository/],
    ["a link to an unlisted document", "[x](../b.md)", /links to docs\/b\.md, which docs\/README\.md does not list/],
  ] as const) {
    test(`${what} is refused with the document's name`, () => {
      assert.throws(() => render(markdown), new RegExp(`docs/adr/0001-x\\.md: .*${message.source}`));
    });
  }
});
