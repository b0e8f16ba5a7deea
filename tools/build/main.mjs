// `npm run build`: brings dist up to date; `npm test`, `npm start` and `npm pack` do the same first. It does not check
// types.

import { fail, root } from "./bootstrap.mjs";
import { build } from "./build.mjs";

const began = performance.now();
try {
  const { transpiled, removed, bundled } = await build(root);
  const what = `${transpiled} sources transpiled, ${removed} removed, the bundle ${bundled ? "made" : "is up to date"}`;
  console.log(`build: ${what} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
} catch (error) {
  fail(error);
}
