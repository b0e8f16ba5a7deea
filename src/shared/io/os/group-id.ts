// Groups of this machine, by name or number: group(5). Groups of other name services are not found; they have numbers.

import { OperatorError } from "../../base/errors/operator-error.js";
import { quote } from "../../base/text/quote.js";
import { readRegularText } from "../fs/regular-file.js";

const NUMBER = /^\d{1,9}$/;

/** The number of a group. @throws OperatorError when the machine has no such group */
export async function groupId(group: string, file = "/etc/group"): Promise<number> {
  if (NUMBER.test(group)) return Number(group);
  for (const line of (await readRegularText(file)).split("\n")) {
    const [name, , gid] = line.split(":");
    if (name === group && gid !== undefined && NUMBER.test(gid)) return Number(gid);
  }
  throw new OperatorError(`the group ${quote(group)} is not in ${file}`);
}
