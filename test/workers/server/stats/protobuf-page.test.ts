// The pages of samples with times in Prometheus' protobuf: the same samples as in the text.

import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { escapeHelp, unescapeHelp } from "../../../../src/shared/base/text/escape.js";
import { numberText } from "../../../../src/workers/server/metrics/number-text.js";
import { protobufPage } from "../../../../src/workers/server/stats/exposition/protobuf-page.js";
import { labelText, Page } from "../../../../src/workers/server/stats/exposition/text.js";
import { readFamilies } from "../../../support/prometheus-protobuf.js";

interface Row {
  labels: [string, string][];
  value: number;
  timestamp?: number;
}

/** Breaths that are counted and take no time. */
function breaths(): { taken: number; take: () => Promise<void> } {
  const counted = { taken: 0, take: () => Promise.resolve(void counted.taken++) };
  return counted;
}

function pageOf(rows: readonly Row[], help = "Help."): Page {
  const page = new Page();
  const family = page.family("node_things_total", "counter", escapeHelp(help));
  for (const { labels, value, timestamp } of rows) {
    const braces = labels.length === 0 ? "" : `{${labelText(labels)}}`;
    family.push(`node_things_total${braces} ${numberText(value)}${timestamp === undefined ? "" : ` ${timestamp}`}`);
  }
  return page;
}

async function read(page: Page, breath = breaths()): Promise<ReturnType<typeof readFamilies>> {
  const messages: Uint8Array[] = [];
  for await (const message of protobufPage(page.chunks(), breath)) messages.push(message);
  return readFamilies(Buffer.concat(messages));
}

describe("a page in protobuf", () => {
  test("has the samples of the text: labels, values and times", async () => {
    const label = fc.tuple(fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/), fc.string({ unit: "binary", maxLength: 8 }));
    const row = fc.record(
      {
        labels: fc.uniqueArray(label, { maxLength: 4, selector: ([name]) => name }),
        value: fc.double(),
        timestamp: fc.integer({ min: 0, max: 2 ** 45 }),
      },
      { requiredKeys: ["labels", "value"] },
    );
    const wellFormed = ({ labels }: Row): boolean =>
      labels.every(([, value]) => Buffer.from(value).toString() === value);
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 200 }), async (given) => {
        const rows = given.filter(wellFormed);
        const [family] = await read(pageOf(rows));
        deepEqual(
          family?.metrics ?? [],
          rows.map(({ labels, value, timestamp }) => ({
            labels: Object.fromEntries(labels),
            // The text has no negative zero.
            value: value === 0 ? 0 : value,
            ...(timestamp === undefined ? {} : { timestamp }),
          })),
        );
      }),
    );
  });

  test("has names, types and help texts of its families, in the order of the text", async () => {
    const page = pageOf([{ labels: [], value: 1 }], 'a "back\\slash"\nand \\n a line');
    page.family("a_gauge", "gauge", "A gauge.").push("a_gauge 2");
    page.family("without_rows", "gauge", "Not shown.");
    const families = await read(page);
    deepEqual(
      families.map(({ name, type, help }) => [name, type, help]),
      [
        ["a_gauge", 1, "A gauge."],
        ["node_things_total", 0, 'a "back\\slash"\nand \\n a line'],
      ],
    );
  });

  test("lets other requests in between its rows", async () => {
    const breath = breaths();
    await read(pageOf(Array.from({ length: 1000 }, (_, at) => ({ labels: [["at", `${at}`]], value: at }))), breath);
    equal(breath.taken > 10, true);
  });
});

test("a help text is read back as it was written", () => {
  fc.assert(fc.property(fc.string(), (text) => equal(unescapeHelp(escapeHelp(text)), text)));
});
