// Checks the used members of the Engine's responses once, on arrival. A response of another form is an error with the
// member's name, never a default value. Pure.

import { Fault } from "../fault.js";

type Check = (found: unknown, place: string) => void;

const text: Check = (found, place) => expect(typeof found === "string", place, "a text");
const integer: Check = (found, place) => expect(Number.isSafeInteger(found), place, "an integer");
const flag: Check = (found, place) => expect(typeof found === "boolean", place, "true or false");

/** The Engine leaves out members, or sends null, where it has nothing to say. */
function optional(check: Check): Check {
  return (found, place) => {
    if (found !== undefined && found !== null) check(found, place);
  };
}

function list(check: Check): Check {
  return (found, place) => {
    expect(Array.isArray(found), place, "a list");
    (found as unknown[]).forEach((item, index) => check(item, `${place}[${index}]`));
  };
}

function values(check: Check): Check {
  return (found, place) => {
    for (const [key, value] of Object.entries(object(found, place))) check(value, `${place}.${key}`);
  };
}

function members(table: Readonly<Record<string, Check>>): Check {
  return (found, place) => {
    const given = object(found, place);
    for (const [name, check] of Object.entries(table))
      check(Reflect.get(given, name), place === "" ? name : `${place}.${name}`);
  };
}

function object(found: unknown, place: string): object {
  if (typeof found === "object" && found !== null && !Array.isArray(found) && !Buffer.isBuffer(found)) return found;
  throw new WrongAnswer(notThat(place, "an object"));
}

class WrongAnswer extends Error {}

function expect(holds: boolean, place: string, wanted: string): void {
  if (!holds) throw new WrongAnswer(notThat(place, wanted));
}

function notThat(place: string, wanted: string): string {
  return `${place === "" ? "it" : place} is not ${wanted}`;
}

const ID = /^[0-9a-f]{64}$/;
const id: Check = (found, place) => expect(typeof found === "string" && ID.test(found), place, "an id of 64 digits");

const labels = values(text);

const SHAPES = {
  created: members({ Id: id }),
  execCreated: members({ Id: text }),
  exec: members({ Running: flag, ExitCode: optional(integer), Pid: optional(integer) }),
  containers: list(
    members({
      Id: id,
      Names: list(text),
      Image: text,
      ImageID: text,
      Created: integer,
      State: text,
      Labels: labels,
      SizeRw: optional(integer),
    }),
  ),
  container: members({
    Id: id,
    Name: text,
    Created: text,
    Image: text,
    State: members({
      Status: text,
      Running: flag,
      OOMKilled: flag,
      Pid: integer,
      ExitCode: integer,
      Error: text,
      StartedAt: text,
      FinishedAt: text,
    }),
    ResolvConfPath: text,
    Config: members({ Image: text, Labels: labels, Tty: flag }),
    HostConfig: members({ NetworkMode: optional(text), IpcMode: optional(text), PidMode: optional(text) }),
    Mounts: list(members({ Source: text, Destination: text, RW: flag, Mode: text, Propagation: text })),
    NetworkSettings: members({
      Networks: values(members({ IPAddress: optional(text), GlobalIPv6Address: optional(text) })),
    }),
  }),
  image: members({
    Id: text,
    RepoTags: optional(list(text)),
    RepoDigests: optional(list(text)),
    Size: integer,
    Config: optional(members({ User: optional(text), Labels: optional(labels) })),
  }),
  images: list(members({ Id: text, RepoTags: optional(list(text)), RepoDigests: optional(list(text)), Size: integer })),
  info: members({ CgroupDriver: text, CgroupVersion: optional(text), DockerRootDir: text, ServerVersion: text }),
  version: members({ ApiVersion: text, MinAPIVersion: text }),
  diskUsage: members({ LayersSize: integer }),
} satisfies Record<string, Check>;

/** Returns `found`. @throws Fault where it lacks a member of its shape */
export function answered<T>(shape: keyof typeof SHAPES, found: T): T {
  try {
    SHAPES[shape](found, "");
    return found;
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error;
    throw new Fault(
      "UNKNOWN",
      `the Docker Engine's response about ${WORDS[shape]} is not usable: ${error.message}; check that --docker-endpoint names a Docker Engine`,
    );
  }
}

const WORDS: Readonly<Record<keyof typeof SHAPES, string>> = {
  created: "a new container",
  execCreated: "a new command",
  exec: "a command",
  containers: "its containers",
  container: "a container",
  image: "an image",
  images: "its images",
  info: "itself",
  version: "its version",
  diskUsage: "its disk usage",
};
