// The status page's layout in a real Chromium, on a phone, a tablet and a desk, over an example node with hostile names
// and messages. `npm run pictures` also draws the pictures of the documents (docs/status-page.md).
// @promise Command and status page: At 390, 768 and 1280 pixels no view of the status page scrolls sideways and no word
//   is broken, with names of 253 characters and messages of 4 KB.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../support/browser.js";
import { exampleNode, type ExampleNode } from "../support/example-node.js";
import { hostileNode, STATE_WORDS } from "../support/hostile-pods.js";
import { servePage, type PageServer } from "../support/page-server.js";

/** The machine is shared. */
const PATIENCE = { timeout: 90_000 };
const WIDTHS = [390, 768, 1280];
const PICTURES = process.env["NODELET_PICTURES"] === "1";
const DOCS = fileURLToPath(new URL("../../../docs/", import.meta.url));

/** Runs in the browser: words of up to 24 characters that stand on two lines. A hyphen or slash may end a line. */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (node.parentElement.closest("script, style, noscript, .hidden, .skip, pre")) continue;
    for (const { 0: word, index } of node.data.matchAll(/[\\p{L}\\p{N}.:_]+/gu)) {
      if (word.length > 24) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const tops = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)));
      if (tops.size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

/** Runs in the browser: states whose cell is narrower than they are. */
const SQUEEZED_STATES = `[...document.querySelectorAll("td .badge:not(.long), th .badge:not(.long)")].filter((badge) => {
  const cell = badge.closest("td, th").getBoundingClientRect();
  const range = document.createRange();
  range.selectNodeContents(badge);
  const text = range.getBoundingClientRect();
  return text.left < cell.left - 1 || text.right > cell.right + 1;
}).map((badge) => badge.textContent)`;

/** Runs in the browser: tables that scroll by themselves. */
const SCROLLING = `[...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth).length`;

const SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

describe("the layout of the status page", () => {
  let node: ExampleNode;
  let server: PageServer;
  let browser: Browser;
  let page: Page;

  /** The moment at which the clocks of node and browser stand; undefined: they run. */
  let moment: number | undefined;

  before(async () => {
    const now = (): ExampleNode => ({ ...node, status: { ...node.status, now: moment ?? Date.now() } });
    node = exampleNode(Date.now());
    server = await servePage(now);
    browser = await startBrowser();
    page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE.timeout);
  });
  after(async () => {
    await browser.close();
    server.close();
  });

  /** Opens a view afresh and waits for a text of it. */
  async function open(view: string, text: string, width: number): Promise<void> {
    await page.setViewportSize({ width, height: 900 });
    await page.goto("about:blank");
    await page.goto(`${server.url}#/${view}`);
    await page
      .getByText(text)
      .first()
      .waitFor({ state: "attached", ...PATIENCE });
  }

  for (const width of WIDTHS) {
    test(`at ${width} pixels no view scrolls sideways and no word is broken, whatever pods are called`, async () => {
      node = hostileNode(exampleNode(Date.now()), Date.now());
      const [longest] = node.pods.map(({ pod }) => pod).filter(({ metadata }) => metadata.name.length === 253);
      assert.ok(longest);
      const { namespace, name } = longest.metadata;
      const views: [string, string][] = [
        ["pods", "SignatureValidationFailed"],
        [`pods/${namespace}/${name}`, "Definition"],
        ["pods/default/reason", "Definition"],
        ["pods/default/shop", "DATABASE_URL"],
        ["node", "Debian GNU/Linux 13"],
        ["images", "8.0 GiB"],
        ["config", "registerWithTaints"],
      ];
      for (const [view, text] of views) {
        await open(view, text, width);
        const shown = `${view.slice(0, 30)} at ${width}`;
        assert.ok(Number(await page.evaluate(SIDEWAYS)) <= 0, `${shown} scrolls sideways`);
        if (width < 704) assert.equal(await page.evaluate(SCROLLING), 0, `cards do not scroll: ${shown}`);
        assert.deepEqual(await page.evaluate(BROKEN_WORDS), [], shown);
        assert.deepEqual(await page.evaluate(SQUEEZED_STATES), [], shown);
      }
    });

    test(`at ${width} pixels a pod is ${width < 704 ? "a card" : "a row of a table"}, with every state word in sight`, async () => {
      await open("pods", "SignatureValidationFailed", width);
      const display = await page.evaluate('getComputedStyle(document.querySelector("tbody td:not(.wide)")).display');
      assert.equal(display, width < 704 ? "block" : "table-cell");
      assert.equal(await page.getByRole("table").count(), 1, "the table keeps its role");
      assert.ok((await page.getByRole("row").count()) > STATE_WORDS.length);
      for (const word of STATE_WORDS) {
        const box = await page.getByText(word, { exact: true }).first().boundingBox();
        assert.ok(box !== null && box.x >= 0 && box.x + box.width <= width && box.height < 40, `${word} at ${width}`);
      }
    });
  }

  test("the log says so when there is no output, finds a text, and can be downloaded", async () => {
    node = { ...exampleNode(Date.now()), log: "" };
    await open("pods/default/shop", "No output.", 1280);
    node = { ...exampleNode(Date.now()), log: "first\nsecond FATAL line\nthird\n" };
    await page.getByRole("checkbox", { name: "follow" }).uncheck();
    const log = page.getByRole("log", { name: "Log of the container" });
    await log.getByText("third").waitFor(PATIENCE);
    await page.locator("h2", { hasText: "Log" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("fatal");
    await page.getByText("1 of 3 lines").waitFor(PATIENCE);
    assert.equal(await log.textContent(), "second FATAL line\n");
    await page.keyboard.type("zzz");
    await page.getByText("No line has this text.").waitFor(PATIENCE);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    assert.equal((await download).suggestedFilename(), "shop_app.log");
  });

  test("charts show the values of the moment under the pointer", async () => {
    node = exampleNode(Date.now());
    // Nothing moves the charts any more once all parts of the view are here.
    await open("node", "Debian GNU/Linux 13", 1280);
    await page.getByText("3 of 8 pods").waitFor(PATIENCE);
    const chart = page.getByRole("img", { name: /^Memory/ });
    await chart.hover({ position: { x: 80, y: 20 } });
    await page
      .locator(".chart line")
      .nth(4)
      .waitFor({ state: "attached", ...PATIENCE });
    assert.match((await page.locator(".chart figcaption").first().textContent()) ?? "", /\d\d:\d\d:\d\dZ/);
    await chart.focus();
    await page.mouse.move(0, 0);
    await page.keyboard.press("ArrowLeft");
    await page
      .locator(".chart line")
      .nth(4)
      .waitFor({ state: "attached", ...PATIENCE });
  });

  test("a pod has charts of each container against its limits", async () => {
    node = exampleNode(Date.now());
    await open("pods/monitoring/metrics", "Definition", 768);
    await page.getByRole("img", { name: /^CPU of app: 52m of 200m, / }).waitFor(PATIENCE);
    const memory = page.getByRole("img", { name: /^Memory of app: 203 MiB of 300 MiB, / });
    await memory.locator("polyline").waitFor({ state: "attached", ...PATIENCE });
  });

  test("the tab has the page's mark and the number of broken pods", async () => {
    await open("pods", "CrashLoopBackOff", 1280);
    assert.equal(await page.title(), "(3) Pods · node-1 · nodelet");
    assert.match((await page.locator("link[rel=icon]").getAttribute("href")) ?? "", /^data:image\/svg\+xml,/);
  });

  test("pictures for the documents are drawn", { skip: !PICTURES && "only with npm run pictures" }, async () => {
    // Pictures that are drawn again differ where the page differs.
    moment = Date.parse("2026-01-02T03:04:05Z");
    await page.clock.setFixedTime(moment);
    node = exampleNode(moment);
    const draw = async (name: string, view: string, text: string, width: number, height: number): Promise<void> => {
      await open(view, text, width);
      await page.setViewportSize({ width, height });
      await page.getByText("live").first().waitFor(PATIENCE);
      await page.screenshot({ path: join(DOCS, name) });
    };
    await draw("status-page.png", "pods/default/shop", "the run has ended", 1200, 900);
    await draw("pictures/status-page-pods.png", "pods", "CrashLoopBackOff", 1200, 640);
    await draw("pictures/status-page-tablet.png", "pods", "CrashLoopBackOff", 768, 720);
    await draw("pictures/status-page-node.png", "node", "Debian GNU/Linux 13", 1200, 900);
    await draw("pictures/status-page-phone.png", "pods", "CrashLoopBackOff", 390, 844);
  });
});
