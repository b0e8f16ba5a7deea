// One exec, attach or port-forward: the acts of both ends, and the bytes that they have seen.

import type { Client } from "./log-readers.js";

export type StreamKind = "exec" | "attach" | "portForward";

/** What the command does, or the server behind the port. */
export interface StreamScript {
  /** It writes each byte that it reads. */
  echoes: boolean;
  /** Lines of its own: to stderr if it echoes, else to stdout. */
  lines: number;
  length: number;
  everyMs: number;
  /** It ends by itself no sooner; Infinity: never. */
  endsMs: number;
  exitCode: number;
  /** The streaming server does not end its stream of errors before the connection. */
  leavesOpen?: true;
  /** The streaming server breaks off after that time. */
  breaksMs?: number;
  /** The streaming server does not answer the request. */
  isSilent?: true;
}

/** What the client does. */
export interface StreamUse {
  /** Bytes to stdin, in messages of `length`. */
  sends: number;
  length: number;
  everyMs: number;
  closesStdin: boolean;
  /** It takes so long for each piece of output. */
  paceMs: number;
  /** Leaves that long after its connection was switched; absent: it stays until the end. */
  leavesMs?: number;
  /** It leaves without a close frame. */
  drops?: true;
  /** It does not close its connection after the kubelet's close frame. */
  lingers?: true;
}

export interface StreamAction {
  do: "stream-opened";
  kind: StreamKind;
  pick: number;
  as: Client;
  script: StreamScript;
  use: StreamUse;
}

/** What the runtime's streaming server has seen. */
export interface RuntimeSide {
  openedAt: number;
  /** Bytes of the input. */
  received: number;
  /** The client has ended the input. */
  hasEnd: boolean;
  /** Bytes that the connection has taken, by channel. */
  readonly wrote: Record<number, number>;
  /** The runtime has ended the session by itself. */
  endedAt?: number;
  /** Whether it said a status, and with which exit code. */
  exitCode?: number;
  /** The kubelet has ended the connection. */
  leftAt?: number;
  /** Bytes went in one direction. */
  movedAt: number;
}

export interface StreamSession extends Omit<StreamAction, "do" | "pick"> {
  readonly number: number;
  readonly pod: string;
  /** Id of the container or the sandbox as the request was sent. */
  readonly id: string;
  readonly path: string;
  readonly beganAt: number;
  /** The runtime has made an address for it. */
  calledAt?: number;
  /** 0: none came. */
  status: number;
  answeredAt?: number;
  /** Body of a response that switches nothing. */
  text: string;
  sent: number;
  sentAt?: number;
  hasSentEnd: boolean;
  readonly got: Record<number, number>;
  /** What the client got on the channel of errors. */
  readonly statuses: string[];
  /** The first thing that should not have come. */
  wrong?: string;
  closeCode?: number;
  /** The client has left, before the kubelet ended the connection. */
  leftAt?: number;
  /** The connection has ended for the client. */
  endedAt?: number;
  runtime?: RuntimeSide;
}

export const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2, ERROR: 3 } as const;

/** Bytes of a channel of a session: each position has its own, nearly. */
export function patternOf(session: number, channel: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0; index < length; index++) {
    const at = from + index;
    bytes[index] = session * 37 + channel * 101 + at * 7 + (at >> 8) * 13 + (at >> 16);
  }
  return bytes;
}

/** The channel whose pattern comes on this one: a command that echoes writes its input. */
export function patternChannel({ script }: StreamSession, channel: number): number {
  return script.echoes && channel === CHANNEL.STDOUT ? CHANNEL.STDIN : channel;
}
