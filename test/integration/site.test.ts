// The site in a real Chromium, on a desk and on a phone, from a folder and from a server: search, navigation, copy, no
// sideways scroll.

import assert from "node:assert/strict";
import { readFile, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { buildSite, type Site } from "../../tools/site/build.js";
import { startBrowser } from "../support/browser.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
/** The machine is shared. */
const PATIENCE_MS = 90_000;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};
const DEEP = "reference/flags.html#row---max-pods";

let folder: string;
let site: Site;
let browser: Browser;
let server: Server;
let served: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "nodelet-site-"));
  [site, browser] = await Promise.all([buildSite(ROOT, folder), startBrowser()]);
  server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname.slice(1);
    readFile(join(folder, path)).then(
      (body) => response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "text/plain" }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  served = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(async () => {
  await browser.close();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

for (const { name, width, height, base } of [
  { name: "on a desk, from a folder", width: 1280, height: 900, base: () => `${pathToFileURL(folder).href}/` },
  { name: "on a phone, from a server", width: 390, height: 844, base: () => served },
]) {
  describe(`the site ${name}`, () => {
    let context: BrowserContext;
    let page: Page;
    const problems: string[] = [];
    const foreign: string[] = [];
    const open = (path: string): Promise<unknown> => page.goto(`${base()}${path}`);

    beforeEach(async () => {
      context = await browser.newContext({ viewport: { width, height } });
      page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      page.on("request", (request) => {
        if (!request.url().startsWith(base())) foreign.push(request.url());
      });
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") problems.push(message.text());
      });
    });
    afterEach(async () => {
      await context.close();
      const seen = { problems: problems.splice(0), foreign: foreign.splice(0) };
      assert.deepEqual(seen, { problems: [], foreign: [] });
    });

    test("the search finds a flag by its name, and a page by words, with the keyboard", async () => {
      await open("quick-start.html");
      await page.keyboard.press("/");
      await page.keyboard.type("--max-pods");
      const first = page.getByRole("option").first();
      await first.getByText("--max-pods").waitFor();
      await first.getByText("Reference: Flags").waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/${DEEP}`);
      await page.getByRole("combobox").fill("security model");
      await page.getByRole("option").first().getByText("Security model").waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/security.html");
      await page.getByRole("heading", { name: "Security model", level: 1 }).waitFor();
    });

    test("the search of users finds no decision, and says so when nothing is found", async () => {
      await open("index.html");
      await page.getByRole("combobox").fill("zzz-nothing-<b>");
      await page.getByText("Nothing has “zzz-nothing-<b>”.").waitFor();
      await page.getByRole("combobox").fill("planner");
      await page.getByRole("option").first().waitFor();
      const links = await page.evaluate<string[]>(
        `[...document.querySelectorAll("#results a")].map(({ href }) => href)`,
      );
      assert.deepEqual(
        links.filter((link) => link.includes("/adr/")),
        [],
      );
      await open("adr/index.html");
      await page.getByRole("combobox").fill("0001");
      await page.getByRole("option").first().getByText("planner").waitFor();
    });

    test("after a deep link into a long page the navigation is at hand, and shows the page", async () => {
      await open(DEEP);
      const row = page.locator("#row---max-pods");
      await row.waitFor();
      const here = page.locator("#pages [aria-current=page]");
      if (width < 800) {
        assert.equal(await here.isVisible(), false);
        await page.getByRole("button", { name: "Menu" }).click();
      }
      await here.waitFor({ state: "visible" });
      const inView = async (locator: typeof row): Promise<boolean> => {
        const box = await locator.boundingBox();
        return box !== null && box.y >= 0 && box.y + Math.min(box.height, 40) <= height;
      };
      assert.ok(await inView(here), "the entry of the page");
      assert.ok((await page.evaluate<number>("scrollY")) > height, "the page has scrolled to its anchor");
      if (width < 800) {
        await page.keyboard.press("Escape");
        await here.waitFor({ state: "hidden" });
      }
      assert.ok(await inView(row), "the row");
      await page.mouse.wheel(0, 3000);
      if (width >= 800) assert.ok(await inView(here), "the entry of the page after scrolling on");
    });

    test("a code block is copied; of a block with outputs only the commands", async () => {
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await open("quick-start.html");
      const copied = async (block: ReturnType<Page["locator"]>): Promise<string> => {
        await block.hover();
        await block.getByRole("button", { name: "Copy" }).click();
        await block.getByRole("button", { name: "Copied" }).waitFor();
        return page.evaluate<string>("navigator.clipboard.readText()");
      };
      const block = (text: string): ReturnType<Page["locator"]> => page.locator(".code").filter({ hasText: text });
      assert.match(
        await copied(block("cat >web.yaml")),
        /^cat >web\.yaml <<'EOF'\napiVersion: v1\n[^]*\nsudo nodelet apply -f web\.yaml\n$/,
      );
      assert.equal(
        await copied(block("nodelet logs web")),
        "nodelet pods\nnodelet logs web\nnodelet exec web -- hostname\nnodelet why web\n",
      );
    });

    test("no page scrolls sideways, no flag is broken, and a line of text has about 75 characters", async () => {
      const wide: string[] = [];
      for (const path of site.files.filter((file) => file.endsWith(".html") && !file.startsWith("adr/0"))) {
        await open(path);
        const [scroll, broken] = await page.evaluate<[number, string[]]>(`[
          document.documentElement.scrollWidth,
          [...document.querySelectorAll("main .flag, main code.name:not(.long)")]
            .filter((one) => one.getClientRects().length > 1).map((one) => one.textContent),
        ]`);
        if (scroll > width || broken.length > 0) wide.push(`${path}: ${scroll} px; ${broken.join(", ")}`);
      }
      assert.deepEqual(wide, []);
      await open("security.html");
      const longest = await page.evaluate<number>(`Math.max(...[...document.querySelectorAll("main > p")].map((one) => {
        const lines = Math.round(one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight));
        return lines < 2 ? 0 : one.textContent.length / lines;
      }))`);
      assert.ok(longest <= 80, `${longest} characters`);
      if (width > 1000) assert.ok(longest >= 60, `${longest} characters`);
    });

    test("a link leads from users to developers and back", async () => {
      const menu = async (): Promise<void> => {
        if (width < 800) await page.getByRole("button", { name: "Menu" }).click();
      };
      await open("index.html");
      await page.getByRole("heading", { name: "For whom not" }).waitFor();
      await menu();
      await page.getByRole("link", { name: "Develop nodelet" }).click();
      await page.waitForURL("**/contributing.html");
      await menu();
      await page.locator("#pages").getByRole("link", { name: "Decisions" }).waitFor();
      await page.getByRole("link", { name: "Documentation for users" }).click();
      await page.waitForURL("**/index.html");
    });
  });
}
