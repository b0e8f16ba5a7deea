import { equal } from "node:assert/strict";
import { test } from "node:test";
import { queryFlag } from "../../../../src/shared/kubernetes/api/query-flag.js";

test("an option of a query is on as the API machinery reads it", () => {
  const table: [query: string, on: boolean][] = [
    ["", false],
    ["watch=true", true],
    ["watch=True", true],
    ["watch=1", true],
    ["watch=", true],
    ["watch", true],
    ["watch=yes", true],
    ["watch=0", false],
    ["watch=false", false],
    ["watch=False", false],
    ["other=true", false],
  ];
  for (const [query, on] of table) equal(queryFlag(new URLSearchParams(query), "watch"), on, query);
});
