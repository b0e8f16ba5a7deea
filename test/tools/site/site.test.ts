// The documentation as a site: built into a temporary folder, then read as a browser with no network would.
// @promise Packages and documents: The documentation is one site, with every page below docs in the order of
//   docs/README.md. Every link, anchor and picture resolves; no page loads anything from outside (docs/adr/0068).

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { buildSite, type Site } from "../../../tools/site/build.js";
import { colouredCode } from "../../../tools/site/colour.js";
import { bookOf, readContents } from "../../../tools/site/contents.js";
import { renderDocument } from "../../../tools/site/render.js";
import { globSync } from "../../harness/glob.js";
import { blocksOf } from "../../support/doc-blocks.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");
const PAGE_BYTES = 300 * 1024;
const SITE_BYTES = 4 * 1024 * 1024;
const INDEX_BYTES = 170_000;

const attributes = (html: string, name: string): string[] =>
  Array.from(html.matchAll(new RegExp(`<[^>]*\\s${name}="([^"]*)"`, "g")), ([, value = ""]) => unescape(value));
const unescape = (text: string): string =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#34;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");

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

  for (const audience of ["users", "developers"] as const) {
    const book = (): string[] => bookOf(site.parts, audience).flatMap(({ pages }) => pages.map(({ target }) => target));

    test(`the links to the next page lead through every page of the book of ${audience} in the declared order`, () => {
      const declared = book();
      const walked: string[] = [];
      for (let here = declared[0]; here !== undefined && walked.length <= declared.length;) {
        walked.push(here);
        const next = /<a rel="next" href="([^"]+)"/.exec(html.get(here) ?? "")?.[1];
        here = next === undefined ? undefined : posix.join(posix.dirname(here), next);
      }
      assert.deepEqual(walked, declared);
    });

    test(`the navigation of a page of ${audience} has every listed page of its book, and none of the other`, () => {
      const listed = bookOf(site.parts, audience).flatMap(({ pages }) =>
        pages.filter((page) => page.listed).map(({ target }) => target),
      );
      const own = audience === "users" ? ["index.html", ...book()] : book();
      for (const path of own) {
        const [, nav = ""] = /<nav id="pages"[^>]*>([^]*?)<\/nav>/.exec(html.get(path) ?? "") ?? [];
        const [pages = ""] = nav.split('<p class="other">');
        const links = attributes(pages, "href").filter((href) => !href.startsWith("#"));
        const targets = links.map((href) => posix.join(posix.dirname(path), href));
        // A decision is in the navigation of its own page only.
        assert.deepEqual(
          targets.filter((target) => target !== path || listed.includes(target)),
          listed,
          path,
        );
      }
    });
  }

  test("the site has the pages of both books and the landing page, and decisions are of developers", () => {
    const pages = site.parts.flatMap((part) => part.pages.map(({ target }) => ({ target, audience: part.audience })));
    assert.deepEqual([...html.keys()].sort(), ["index.html", ...pages.map(({ target }) => target)].sort());
    const decisions = pages.filter(({ target }) => target.startsWith("adr/"));
    assert.ok(decisions.length > 50);
    assert.deepEqual(new Set(decisions.map(({ audience }) => audience)), new Set(["developers"]));
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

  test("every page has the one script of the site, and loads nothing from outside", async () => {
    for (const [path, text] of html) {
      assert.doesNotMatch(text, /<(?:iframe|object|embed|style|base)\b/, path);
      const scripts = [...text.matchAll(/<script\b([^>]*)>([^]*?)<\/script>/g)];
      assert.deepEqual(
        scripts.map(([, head = "", body]) => [
          posix.join(posix.dirname(path), attributes(`<x${head}>`, "src")[0] ?? ""),
          body,
        ]),
        [["site.js", ""]],
        path,
      );
      const loaded = [
        ...attributes(text, "src"),
        ...Array.from(text.matchAll(/<link[^>]*href="([^"]*)"/g), (m) => m[1]),
      ];
      for (const url of loaded) assert.doesNotMatch(url ?? "", /^(?:[a-z]+:|\/\/)/, path);
    }
    for (const name of site.files.filter((file) => /\.(?:css|svg|js)$/.test(file))) {
      const text = await readFile(join(folder, name), "utf8");
      if (name.startsWith("search-"))
        assert.doesNotMatch(text, /[^.]\b(?:import|fetch|XMLHttpRequest)\(|<script/, name);
      else assert.doesNotMatch(text.replaceAll(/xmlns(?::\w+)?="[^"]*"/g, ""), /https?:|@import|<script/, name);
    }
  });

  test("the landing page has a picture, three commands of the quick start, and the pages of users with what they say", async () => {
    const text = html.get("index.html") ?? "";
    assert.match(text, /<img src="status-page\.png"/);
    const landing = await readFile(join(ROOT, "tools/site/landing.md"), "utf8");
    const quickStart = await readFile(join(ROOT, "docs/quick-start.md"), "utf8");
    const [block] = blocksOf(landing);
    const commands = (block?.text ?? "").trim().split("\n");
    assert.equal(commands.length, 3);
    for (const command of commands) assert.ok(quickStart.includes(command), command);
    for (const { pages } of bookOf(site.parts, "users")) {
      for (const { target, about } of pages) {
        assert.notEqual(about, "", target);
        assert.ok(text.includes(`href="${target}"`), target);
      }
    }
    assert.doesNotMatch(text, /href="adr\//);
  });

  test("a page and the whole site stay below their limits of size", async () => {
    const sizes = await Promise.all(site.files.map(async (name) => ({ name, size: await sizeOf(join(folder, name)) })));
    const large = sizes.filter(({ name, size }) => name.endsWith(".html") && size > PAGE_BYTES);
    assert.deepEqual(large, []);
    const total = sizes.reduce((sum, { size }) => sum + size, 0);
    assert.ok(total < SITE_BYTES, `${total} bytes`);
    const index = sizes.find(({ name }) => name === "search-index.js");
    assert.ok(index !== undefined && index.size < INDEX_BYTES, `${index?.size} bytes`);
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
    await write("## Part\n- [A](a.md)\n- [B](../B.md): about B\n\n## Develop nodelet\n- [C](c.md): about C\n");
    const [part, other] = await readContents(root);
    assert.deepEqual(
      part?.pages.map(({ source, target, about }) => [source, target, about]),
      [
        ["docs/a.md", "a.html", ""],
        ["B.md", "b.html", "about B"],
      ],
    );
    assert.deepEqual([part.audience, other?.audience], ["users", "developers"]);
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
    const { html, files } = render("## One `thing`, twice\n\n[a](../a.md#b) ![p](../p.svg) [j](../../tools/r.yaml)");
    assert.match(html, /<h2 id="one-thing-twice">One <code class="name">thing<\/code>, twice<\/h2>/);
    assert.match(html, /<a href="\.\.\/a\.html#b">a<\/a> <img src="\.\.\/p\.svg" alt="p"/);
    assert.match(html, /<a href="\.\.\/files\/tools\/r\.yaml">/);
    assert.deepEqual(
      [...files],
      [
        ["p.svg", "docs/p.svg"],
        ["files/tools/r.yaml", "tools/r.yaml"],
      ],
    );
  });

  test("text is escaped, and comments are not rendered", () => {
    const { html } = render("<!-- run: node -->\n\n```\ncat <<'EOF' && \"x\"\n```\n\n`<pod>` a < b");
    assert.match(html, /^<pre tabindex="0"><code>cat &lt;&lt;&#39;EOF&#39; &amp;&amp; &#34;x&#34;<\/code><\/pre>/);
    assert.match(html, /<code class="name">&lt;pod&gt;<\/code> a &lt; b/);
    assert.doesNotMatch(html, /run: node/);
  });

  test("names and flags are one word, and a long name ends its line behind a sign", () => {
    const { html } = render(`\`--max-pods\` \`a b\` --node-ip \`${"some_long_".repeat(5)}name\``);
    assert.match(html, /<code class="name">--max-pods<\/code> <code>a b<\/code> <span class="flag">--node-ip<\/span>/);
    assert.match(html, /<code class="name long">some_<wbr>long_<wbr>/);
  });

  test("a row of a reference table has an anchor, and its cells have the names of their columns", () => {
    const table = "| flag | default |\n|---|---|\n| `--a=<x>` | 1 |\n| `--a` | |\n";
    const { html } = renderDocument(table, {
      source: "docs/reference/f.md",
      target: "reference/f.html",
      pageOf: () => undefined,
    });
    assert.match(
      html,
      /<tr id="row---a"><td><code class="name">--a=&lt;x&gt;<\/code><\/td><td data-label="default">1<\/td>/,
    );
    assert.match(html, /<tr id="row---a-1">/);
    assert.doesNotMatch(render(table).html, /<tr id/);
  });

  for (const [language, text, html] of [
    [
      "sh",
      "x --y 'z' # w",
      'x <span class="n">--y</span> <span class="s">&#39;z&#39;</span> <span class="c"># w</span>',
    ],
    ["console", "$ a --b\nout --b 'c'", '<span class="p">$ </span>a <span class="n">--b</span>\nout --b &#39;c&#39;'],
    [
      "yaml",
      "a: 'b' # c\n- d: <e>",
      '<span class="n">a</span>: <span class="s">&#39;b&#39;</span> <span class="c"># c</span>\n- <span class="n">d</span>: &lt;e&gt;',
    ],
    ["json", '{"a": "b"}', '{<span class="n">&#34;a&#34;</span>: <span class="s">&#34;b&#34;</span>}'],
    ["text", "a # b", "a # b"],
  ] as const) {
    test(`code in ${language} has quiet colours, and its text stays`, () => {
      assert.equal(colouredCode(text, language), html);
      assert.equal(unescape(html.replaceAll(/<\/?span[^<>]*>/g, "")), text);
    });
  }

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
