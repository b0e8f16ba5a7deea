// A real browser for tests: Debian's Chromium, driven by playwright-core, which brings no browser of its own.

import { chromium, type Browser } from "playwright-core";
import { findExecutable } from "../../tools/standalone/exec.js";

/** Without its calls to Google's servers, which fail in the tests' network namespace. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
];

export async function startBrowser(): Promise<Browser> {
  const executablePath = await findExecutable("chromium");
  if (executablePath === undefined) throw new Error("there is no chromium: install Debian's package chromium");
  return await chromium.launch({ executablePath, headless: true, args: ARGS });
}
