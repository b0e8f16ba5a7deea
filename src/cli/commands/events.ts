// nodelet events: the events that the kubelet keeps in memory, oldest first.

import type { NodeletEvents } from "../../shared/contracts/nodelet.js";
import type { Event } from "../../shared/kubernetes/api/event.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode } from "../errors.js";
import { duration, timeOf } from "../output/amounts.js";
import { print } from "../output/print.js";
import { table } from "../output/table.js";
import { findPod, podsOf } from "../pods/find.js";

export interface EventOptions {
  namespace?: string;
  warnings?: boolean;
}

export async function eventsCommand(
  context: Context,
  named: string | undefined,
  { namespace, warnings = false }: EventOptions,
): Promise<ExitCode> {
  const { client, clock } = context;
  const list = await client.json<NodeletEvents>("/nodelet/events");
  const uid = named === undefined ? undefined : findPod(await podsOf(client), named, namespace).metadata.uid;
  const items = list.items.filter(
    ({ involvedObject, type }) =>
      (uid === undefined || involvedObject.uid === uid) &&
      (named !== undefined || namespace === undefined || involvedObject.namespace === namespace) &&
      (!warnings || type === "Warning"),
  );
  await print(context, { ...list, items }, () => eventsText(context, items, clock.now()));
  return EXIT.fine;
}

/** @internal */
export function eventsText(
  { paint, columns }: Pick<Context, "paint" | "columns">,
  items: readonly Event[],
  now: number,
): string {
  if (items.length === 0) return "no events\n";
  return table<Event>(
    [
      { title: "LAST", text: ({ lastTimestamp }) => `${duration(now - (timeOf(lastTimestamp) ?? now))} ago` },
      {
        title: "TYPE",
        text: ({ type }) => type,
        paint: ({ type }, text) => (type === "Warning" ? paint("yellow", text) : text),
      },
      { title: "COUNT", text: ({ count }) => String(count) },
      { title: "REASON", text: ({ reason }) => reason },
      { title: "OBJECT", text: ({ involvedObject: { kind, name } }) => `${kind.toLowerCase()}/${name}` },
      { title: "MESSAGE", text: ({ message }) => message, below: true },
    ],
    items,
    columns,
  );
}
