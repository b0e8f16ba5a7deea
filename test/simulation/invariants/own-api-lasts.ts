// The node's own API answers in a shutdown until the machine ends all processes: a pod's end is there to read, and
// changes of users count.

import { kernel } from "../kernel/kernel.js";
import { NODE_NAME } from "../world/api.js";
import { AdminChannel } from "../world/own-api-client.js";
import type { Shutdown } from "../world/shutdowns.js";
import type { Invariant } from "./invariant.js";

const ASK_EVERY_MS = 500;
/** A connection and some turns of the thread. */
const ANSWER_MS = 1000;
const PATHS = [`/api/v1/nodes/${NODE_NAME}`, "/api/v1/pods"];

export const ownApiLasts: Invariant = {
  name: "the node's own API answers until the machine goes off",
  promisedBy: "docs/adr/0034-shutdown.md",
  watch({ own, shutdowns }, broken) {
    if (own === undefined || shutdowns === undefined) return undefined;
    const isUnderWay = ({ isCalm, isOver, wentAt }: Shutdown): boolean =>
      isCalm && isOver !== true && wentAt === undefined;
    const ask = (shutdown: Shutdown, path: string): void => {
      let status: number | undefined;
      const answered = (response: { status: number }): void => void (status = response.status);
      const request = { method: "GET", path, headers: { accept: "application/json" }, body: undefined };
      new AdminChannel().send(request, new AbortController().signal).then(answered, () => undefined);
      kernel.after(kernel.world, ANSWER_MS, () => {
        if (status !== 200 && isUnderWay(shutdown)) broken(`GET ${path} has ${status} in a shutdown`);
      });
    };
    shutdowns.onBegin.add((shutdown) => {
      const again = (): void => {
        if (!isUnderWay(shutdown)) return;
        for (const path of PATHS) ask(shutdown, path);
        kernel.after(kernel.world, ASK_EVERY_MS, again);
      };
      again();
    });
    return undefined;
  },
};
