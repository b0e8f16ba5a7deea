// nodelet why: why a pod does not run, is not ready, restarts, or is not removed; why a manifest makes no pod.
import type { Event } from "../../shared/api/event.js";
import type { NodeletEvents, NodeletStatus, PodFacts } from "../../shared/contracts/nodelet.js";
import type { PodTimeline } from "../../shared/contracts/timeline.js";
import type { Pod } from "../../shared/api/pod.js";
import type { Client } from "../client.js";
import type { Context } from "../context.js";
import { EXIT, NoPodError, type ExitCode } from "../errors.js";
import { moment, since, until } from "../output/amounts.js";
import { print } from "../output/print.js";
import { wrap } from "../output/table.js";
import { clean } from "../output/colour.js";
import { manifestsOf } from "../manifests/find.js";
import { apiServerFails } from "../problems.js";
import { podsOf } from "../pods/find.js";
import { podPath } from "../pods/pod-paths.js";
import { ofMain } from "../pods/of-main.js";
import { withCni } from "../runtime/cni-places.js";
import { explain, type Explanation } from "../why/explain.js";
import { explainManifests } from "../why/explain-manifest.js";
import type { Finding, WhyInput } from "../why/input.js";
import { withOutput } from "../why/last-output.js";
import { withPortHolder } from "../why/port-holder.js";
import { subjectOf } from "../why/subject.js";

/** Older decisions are shown with -o wide, json and yaml. */
const SHOWN_DECISIONS = 15;

export async function whyCommand(context: Context, named: string, namespace?: string): Promise<ExitCode> {
  const { client } = context;
  const [status, pods, manifests] = await Promise.all([
    client.json<NodeletStatus>("/nodelet/status"),
    podsOf(client),
    manifestsOf(client),
  ]);
  const subject = withOutage(status, () => subjectOf(pods, manifests, named, namespace));
  if (subject.kind === "manifests") {
    const explanation = explainManifests(subject.manifests);
    await print(context, explanation, () => whyText(context, explanation, status.now));
    return EXIT.wrong;
  }
  const { pod } = subject;
  const [facts, events, timeline] = await Promise.all([
    ofMain(() => client.find<PodFacts>(`/nodelet/pods/${podPath(pod)}`)),
    ofMain(() => eventsAbout(client, pod)),
    ofMain(() => client.find<PodTimeline>(`/debug/pods/${podPath(pod)}/timeline`)),
  ]);
  const failed = events?.some(({ reason }) => reason === "FailedCreatePodSandBox") ?? false;
  const node = await withCni(status, failed && pod.status?.phase === "Pending");
  const input: WhyInput = { pod, facts, events: events ?? [], node, pods, now: node.now };
  const explained = explain(input, timeline);
  const findings = await Promise.all(explained.findings.map((finding) => withEvidence(client, input, finding)));
  const explanation = { ...explained, findings };
  await print(context, explanation, () => whyText(context, explanation, node.now));
  return explanation.fine ? EXIT.fine : EXIT.wrong;
}

/** A pod may be missing because the API server cannot say that it is there. */
function withOutage<T>({ apiServer, facts, now }: NodeletStatus, find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof NoPodError) || apiServer?.problem === undefined) throw error;
    const { awaySince } = facts?.api ?? {};
    const duration = awaySince === undefined ? "" : ` ${since(awaySince, now)}`;
    const when =
      facts?.settled === false
        ? "this kubelet learns of the API's pods when it is back, and their containers run on until then"
        : "a pod that was made meanwhile arrives when it is back";
    throw new NoPodError(
      `${error.message}, and the API server ${apiServerFails(apiServer)}${duration}: ${when}`,
      `see \`nodelet status\`; ${error.remedy ?? ""}`,
    );
  }
}

async function withEvidence(client: Client, { pod, pods, node }: WhyInput, finding: Finding): Promise<Finding> {
  return await withPortHolder(pod, await withOutput(client, pod, finding), { kubelet: node.pid, pods });
}

async function eventsAbout(client: Client, { metadata }: Pod): Promise<Event[]> {
  const { items } = await client.json<NodeletEvents>("/nodelet/events");
  return items.filter(({ involvedObject }) => involvedObject.uid === metadata.uid);
}

/** @internal */
export function whyText(
  { paint, columns, format }: Pick<Context, "paint" | "columns" | "format">,
  { pod, verdict, fine, findings, decisions }: Explanation,
  now: number,
): string {
  const colours = { error: "red", warning: "yellow", info: "dim" } as const;
  const finding = ({ severity, about, what, since: at, nextTryAt, evidence = [], help }: Finding): string => {
    const lines = [`${paint(colours[severity], about)}: ${wrap(what, columns, "  ").trimStart()}`];
    if (at !== undefined) lines.push(`  ${since(at, now)}`);
    if (nextTryAt !== undefined)
      lines.push(`  the kubelet tries again ${until(nextTryAt, now)} (${moment(nextTryAt)})`);
    for (const { title, lines: shown } of evidence) {
      lines.push(`  ${title}:`, ...shown.map((line) => paint("dim", `    | ${clean(line)}`)));
    }
    for (const text of help) lines.push(wrap(`- ${text}`, columns, "  "));
    return lines.join("\n");
  };
  const history = (): string[] => {
    const shown = format === "wide" ? decisions : decisions.slice(-SHOWN_DECISIONS);
    const left = decisions.length - shown.length;
    const story = shown.map(({ at, what, count, lastAt }) => {
      const last = lastAt === undefined ? "" : `, last at ${moment(lastAt)}`;
      return wrap(`${moment(at)}  ${what}${count === undefined ? "" : ` (${count} times${last})`}`, columns, "  ");
    });
    return ["", paint("bold", `decisions${left > 0 ? ` (${left} earlier ones with -o wide)` : ""}`), ...story];
  };
  return [
    `${paint("bold", pod)} ${verdict}`,
    ...(findings.length === 0 ? [] : ["", ...findings.map(finding)]),
    ...(fine && format !== "wide" ? [paint("dim", `  its history: nodelet why ${pod} -o wide`)] : history()),
    "",
  ].join("\n");
}
