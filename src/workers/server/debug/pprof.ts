// /debug/pprof/…: profiles of this process under the names that tools for Go request. The formats are V8's: Chrome's
// developer tools open .cpuprofile and .heapprofile files. A profile that V8 cannot make is 404, with the reason.

import type { ServerResponse } from "node:http";
import type { ServerThreadName } from "../../../shared/contracts/server.js";
import { queryOf, type Target } from "../../../shared/io/http/target.js";
import type { Answer, Route } from "../http/answer.js";
import { replyError, replyNotFound, replyText } from "../http/reply.js";
import { ProfileBusyError, type ProfileKind, type Profiles } from "./profiles.js";

export interface PprofDeps {
  profiles: Profiles;
  /** The thread that runs this. V8 shows it and main. */
  own: ServerThreadName;
  /** One line per thread: its name and current operation. */
  threads: () => string;
}

const SECONDS: Readonly<Record<ProfileKind, number>> = { profile: 30, heap: 5, allocs: 5 };
const MAX_SECONDS = 300;
const SUFFIX: Readonly<Record<ProfileKind, string>> = {
  profile: "cpuprofile",
  heap: "heapprofile",
  allocs: "heapprofile",
};
const NOT_HERE = ["block", "mutex", "threadcreate", "trace", "symbol"];
const indexOf = (own: string): string => `<html><head><title>/debug/pprof/</title></head><body>
<p>Profiles of this process, in V8's formats. Parameters: seconds, thread (main, ${own}).</p>
<ul>
<li><a href="profile">profile</a>: where the time goes, 30 s (.cpuprofile)</li>
<li><a href="heap">heap</a>: memory allocated in 5 s and still in use (.heapprofile)</li>
<li><a href="allocs">allocs</a>: memory allocated in 5 s (.heapprofile)</li>
<li><a href="goroutine">goroutine</a>: the threads and their current operations</li>
<li><a href="cmdline">cmdline</a>: the command line</li>
</ul></body></html>
`;

export function pprofRoutes(deps: PprofDeps): Route[] {
  const answer: Answer = async (_request, response, { target, params }) => {
    const name = params["*"] ?? "";
    if (name === "") replyText(response, indexOf(deps.own), "text/html; charset=utf-8");
    else if (name === "cmdline") replyText(response, process.argv.join("\0"));
    else if (name === "goroutine") replyText(response, deps.threads());
    else if (name === "profile" || name === "heap" || name === "allocs") {
      await replyProfile(deps, name, target, response);
    } else if (NOT_HERE.includes(name)) {
      replyError(
        response,
        404,
        `there is no profile ${name} of a Node.js process; see /debug/pprof/ for what there is`,
      );
    } else replyNotFound(response);
  };
  return [{ path: "/debug/pprof/*", service: "/debug/pprof/", methods: ["GET"], answer }];
}

async function replyProfile(
  { profiles, own }: Pick<PprofDeps, "profiles" | "own">,
  kind: ProfileKind,
  target: Target,
  response: ServerResponse,
): Promise<void> {
  const query = queryOf(target);
  const seconds = Number(query.get("seconds") ?? SECONDS[kind]);
  const thread = query.get("thread") ?? "main";
  if (!(seconds > 0 && seconds <= MAX_SECONDS) || (thread !== "main" && thread !== own)) {
    replyError(response, 400, `seconds must be more than 0 and at most ${MAX_SECONDS}, thread main or ${own}`);
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort(new Error("the client disconnected")));
  try {
    const profile = await profiles.take(kind, thread, seconds, gone.signal);
    response.writeHead(200, {
      "Content-Type": "application/octet-stream",
      "Content-Disposition": `attachment; filename="${thread}.${SUFFIX[kind]}"`,
      "Content-Length": String(Buffer.byteLength(profile)),
    });
    response.end(profile);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!(error instanceof ProfileBusyError)) throw error;
    replyError(response, 409, error.message);
  }
}
