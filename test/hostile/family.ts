// A family of attacks as tests: one node for all, one test for each attack, a table at the end. A node that an attack
// broke is thrown away, so one finding does not hide the next.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { isChosen, type Attack, type Row } from "./attack.js";
import { HostileBench, type HostileBenchOptions } from "./bench.js";
import { keepRow, printTable } from "./report.js";

/** For one attack with what it makes and removes, and for a node when the last one was broken. */
const ATTACK_MS = 400_000;

export function attackWith(attacks: readonly Attack[], options: HostileBenchOptions = {}): void {
  describe(`hostile: ${attacks[0]?.family ?? "none"}`, () => {
    let bench: HostileBench | undefined;
    const drop = async (): Promise<void> => {
      const old = bench;
      bench = undefined;
      await old?.stop();
    };
    after(async () => {
      await drop();
      await printTable();
    });

    async function rowOf(attack: Attack): Promise<Row> {
      bench ??= await HostileBench.start(options);
      const row = await bench.run(attack);
      await keepRow(row);
      return row;
    }

    for (const attack of attacks.filter(isChosen)) {
      test(
        `${attack.name}: the pod beside it stays Ready, the operator is served`,
        { timeout: ATTACK_MS },
        async () => {
          let isWell = false;
          try {
            const { broken } = await rowOf(attack);
            assert.deepEqual(broken, []);
            isWell = true;
          } finally {
            if (!isWell) await drop();
          }
        },
      );
    }
  });
}
