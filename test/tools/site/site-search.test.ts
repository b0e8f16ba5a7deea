// The search of the site: what is indexed, what is found, and in which order.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bookOf, readContents, type Page, type Part } from "../../../tools/site/contents.js";
import { find, readIndex } from "../../../tools/site/search/find.js";
import { packSection, unpackSection, wordsIn } from "../../../tools/site/search/index-format.js";
import { makeIndex, type IndexedPage } from "../../../tools/site/search/make-index.js";
import { sectionsOf } from "../../../tools/site/search/sections.js";

const ROOT = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");

const page = (target: string, title: string, about = ""): Page => ({
  source: target,
  title,
  about,
  target,
  listed: true,
});
const indexed = (title: string, markdown: string, hasRows = false): IndexedPage => {
  const own = page(`${title.toLowerCase()}.html`, title, "about it");
  const part: Part = { title: "Part", audience: "users", pages: [own] };
  return { page: own, part, sections: sectionsOf(markdown, title, hasRows) };
};

describe("the sections of a document", () => {
  test("are its headings, and the rows of a reference table, with their own words", () => {
    const text =
      "# Title\nIntro `code` [link](x.md#y).\n\n<!-- hidden -->\n\n## One\n- item\n\n```sh\nnpm start\n```\n\n### Two, twice\n\n| flag | meaning |\n|---|---|\n| `--a=<x>` | does it |\n| GET | `/path` |\n| plain | cell |\n";
    assert.deepEqual(sectionsOf(text, "Title", true), [
      { anchor: "", title: "Title", kind: "page", text: "Title Intro code link ." },
      { anchor: "one", title: "One", kind: "section", text: "item npm start" },
      { anchor: "two-twice", title: "Two, twice", kind: "section", text: "plain cell" },
      { anchor: "row---a", title: "--a", kind: "row", text: "--a=<x> does it" },
      { anchor: "row-path", title: "/path", kind: "row", text: "GET /path" },
    ]);
  });

  test("are found again from their packed form, also if a title stands twice", () => {
    for (const section of [
      { kind: "section", title: "One thing", anchor: "one-thing" },
      { kind: "section", title: "One thing", anchor: "one-thing-1" },
      { kind: "row", title: "--max-pods", anchor: "row---max-pods" },
      { kind: "row", title: "=odd", anchor: "row-odd-2" },
    ] as const)
      assert.deepEqual(unpackSection(packSection(section)), section);
    assert.equal(packSection({ kind: "row", title: "--a", anchor: "row---a" }), "=--a");
  });
});

describe("a query", () => {
  const read = readIndex(
    makeIndex([
      indexed(
        "Flags",
        "# Flags\n\n## Node\n\n| flag | meaning |\n|---|---|\n| `--max-pods=<n>` | maximum number |\n| `--pods-per-core` | per processor |\n",
        true,
      ),
      indexed(
        "Eviction",
        "# Eviction\nThe node is short of memory.\n\n## Order of pods\nPods with most memory go first.\n",
      ),
    ]),
  );
  const titles = (query: string): string[] => find(read, query, 10).map(({ title }) => title);

  for (const [query, expected] of [
    ["max-pods", ["--max-pods"]],
    ["--max-pods", ["--max-pods"]],
    ["max pods", ["--max-pods"]],
    ["maxPods", ["--max-pods"]],
    ["MAX", ["--max-pods"]],
    ["pods", ["Order of pods", "--pods-per-core", "--max-pods"]],
    ["eviction", ["Eviction"]],
    ["evict", ["Eviction"]],
    ["memory", ["Eviction", "Order of pods"]],
    ["memory first", ["Order of pods"]],
    ["memory nothing", []],
    ["processor", ["--pods-per-core"]],
    ["about", ["Flags", "Eviction"]],
    ["the", []],
    ["", []],
    ["  --  ", []],
    ["<script>", []],
  ] as const) {
    test(`${JSON.stringify(query)} finds ${expected.length === 0 ? "nothing" : expected.join(", ")}`, () => {
      const found = titles(query);
      if (query === "pods") assert.deepEqual([...found].sort(), [...expected].sort());
      else assert.deepEqual(found, expected);
    });
  }

  test("results have a path with the anchor, and the place", () => {
    assert.deepEqual(find(read, "max-pods", 1), [
      { title: "--max-pods", href: "flags.html#row---max-pods", place: "Part: Flags" },
    ]);
    assert.deepEqual(find(read, "eviction", 1), [{ title: "Eviction", href: "eviction.html", place: "Part" }]);
  });

  test("words are lower case, with their inner signs", () => {
    assert.deepEqual(wordsIn("The Max-Pods of v1.36, `a.b_c`; 10250."), ["max-pods", "v1.36", "a.b_c", "10250"]);
  });
});

describe("the documentation itself", () => {
  let first: (query: string) => string | undefined;
  before(async () => {
    const parts = bookOf(await readContents(ROOT), "users");
    const pages = await Promise.all(
      parts.flatMap((part) =>
        part.pages.map(async (one) => {
          const text = await readFile(`${ROOT}/${one.source}`, "utf8");
          return { page: one, part, sections: sectionsOf(text, one.title, one.source.startsWith("docs/reference/")) };
        }),
      ),
    );
    const read = readIndex(makeIndex(pages));
    first = (query) => find(read, query, 1)[0]?.href;
  });

  for (const [query, href] of [
    ["max-pods", "reference/flags.html#row---max-pods"],
    ["--read-only-pods", "reference/flags.html#row---read-only-pods"],
    ["maxPods", "reference/fields.html#row-maxpods"],
    ["quick start", "quick-start.html"],
    ["troubleshooting", "troubleshooting.html"],
    ["FailedMount", "reference/events.html#row-failedmount"],
    ["/nodelet/status", "reference/endpoints.html#row-nodeletstatus"],
    ["support bundle", "nodelet.html#the-support-bundle"],
    ["liveness", "troubleshooting.html#a-probe-fails"],
  ] as const)
    test(`${query} leads to ${href}`, () => assert.equal(first(query), href));
});
