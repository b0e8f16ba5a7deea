// The picture of a run's results.

import assert from "node:assert/strict";
import { test } from "node:test";
import { renderPicture } from "../../bench/lib/result-picture.js";

test("each table with figures has a panel; a bar has its column's scale; text is escaped", () => {
  const picture = renderPicture("2 × CPU", new Date(0), [
    {
      title: "At rest <&>",
      head: ["pods", "RSS MiB", "by thread", "other"],
      rows: [
        ["0", 100, "main", 4],
        ["30", 50, "main", undefined],
      ],
    },
    { title: "words alone", head: ["a", "b"], rows: [["x", "y"]] },
  ]);
  assert.match(picture, /^<svg [^>]*>\n/);
  assert.ok(picture.includes("At rest &lt;&amp;>"));
  assert.equal(picture.includes("words alone"), false);
  const widths = [...picture.matchAll(/width="(\d+)" height="14"/g)].map(([, width]) => Number(width));
  assert.equal(widths.length, 3);
  const [full, other, half] = widths;
  assert.deepEqual([other, half], [full, (full ?? 0) / 2]);
});

test("a run without figures is still a picture", () => {
  assert.match(renderPicture("m", new Date(0), []), /<\/svg>\n$/);
});
