// GET /debug/pods/<namespace>/<name>/timeline: JSON, or an SVG for ?format=svg and for browsers that accept an image.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { quote } from "../../../../shared/base/text/quote.js";
import type { ServerUpcalls } from "../../../../shared/contracts/server.js";
import { queryOf, type Target } from "../../../../shared/io/http/target.js";
import { replyError, replyText } from "../../http/reply.js";
import { timelineSvg } from "./timeline-svg.js";

export interface TimelineDeps {
  upcalls: Pick<ServerUpcalls, "timeline">;
  clock: Pick<Clock, "now">;
}

const FORMATS = ["json", "svg"];

export async function replyTimeline(
  deps: TimelineDeps,
  pod: { namespace: string; name: string },
  request: IncomingMessage,
  target: Target,
  response: ServerResponse,
): Promise<void> {
  const asked = queryOf(target).get("format");
  if (asked !== null && !FORMATS.includes(asked)) {
    replyError(response, 400, `format ${quote(asked)} is not one of ${FORMATS.join(", ")}`);
    return;
  }
  const { namespace, name } = pod;
  let timeline;
  try {
    timeline = await deps.upcalls.timeline(namespace, name);
  } catch (error) {
    // The main thread holds the timelines: while it is stuck, that is the news.
    const why = messageOf(error);
    replyError(response, 503, `the main thread did not respond: ${why}`);
    return;
  }
  if (timeline === undefined) {
    replyError(
      response,
      404,
      `pod ${namespace}/${name} is not known to this node, and not among the recently terminated pods`,
    );
    return;
  }
  const svg = asked === "svg" || (asked === null && (request.headers.accept ?? "").includes("image/svg+xml"));
  if (svg) replyText(response, timelineSvg(timeline, deps.clock.now()), "image/svg+xml; charset=utf-8");
  else replyText(response, `${JSON.stringify(timeline)}\n`, "application/json");
}
