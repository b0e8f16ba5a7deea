// Which folder may import which: a DEPS.list in each folder of src that has more than one folder. A line names a folder
// and the neighbours that its files may import. It may name only folders of later lines, so the lists are layers and no
// circle of folders can exist. Types count. Files that stand in the folder itself are not in its list.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

const NAME = "DEPS.list";
const lists = new Map();

/**
 * The neighbours each folder may import; undefined without a list. Throws with file and line for a list that is wrong.
 */
function listOf(folder) {
  if (!lists.has(folder)) lists.set(folder, read(folder));
  return lists.get(folder);
}

function read(folder) {
  const path = join(folder, NAME);
  if (!existsSync(path)) return undefined;
  const rows = new Map();
  readFileSync(path, "utf8")
    .split("\n")
    .forEach((line, index) => {
      const text = line.replace(/#.*/, "").trim();
      if (text === "") return;
      const [name, below] = text.split(":");
      if (below === undefined) throw new Error(`${path}:${index + 1}: expected "folder: folder folder …"`);
      rows.set(name.trim(), { line: index + 1, below: below.trim().split(/\s+/).filter(Boolean) });
    });
  const names = [...rows.keys()];
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const there = new Set(folders.map(({ name }) => name));
  const missing = [...there].filter((name) => !rows.has(name));
  if (missing.length > 0) throw new Error(`${path}: no line for ${missing.join(", ")}`);
  for (const [name, { line }] of rows) if (!there.has(name)) throw new Error(`${path}:${line}: no folder ${name}`);
  for (const [name, { line, below }] of rows) {
    const wrong = below.find((other) => names.indexOf(other) <= names.indexOf(name));
    if (wrong !== undefined)
      throw new Error(`${path}:${line}: ${wrong} has no later line, so ${name} may not import it`);
  }
  return new Map([...rows].map(([name, { below }]) => [name, new Set(below)]));
}

export const dependencyLists = {
  meta: {
    type: "problem",
    schema: [],
    messages: {
      arrow: "{{list}} does not let {{from}} import {{to}}",
      missing: "{{list}} is missing: {{from}} imports {{to}}, so the folder needs an order",
      wrong: "{{message}}",
    },
  },
  create(context) {
    const file = context.filename;
    const root = join(context.cwd, "src");
    if (!file.startsWith(root + sep)) return {};

    const check = (node) => {
      const source = node.source;
      if (source?.type !== "Literal" || !String(source.value).startsWith(".")) return;
      const target = resolve(dirname(file), source.value);
      if (!target.startsWith(root + sep)) return;
      const [from, to] = [relative(root, file).split(sep), relative(root, target).split(sep)];
      let depth = 0;
      while (from[depth] === to[depth]) depth++;
      // One of them stands in the common folder itself.
      if (depth >= from.length - 1 || depth >= to.length - 1) return;
      const folder = join(root, ...from.slice(0, depth));
      const data = { list: relative(context.cwd, join(folder, NAME)), from: from[depth], to: to[depth] };
      try {
        const list = listOf(folder);
        if (list === undefined) context.report({ node: source, messageId: "missing", data });
        else if (!list.get(data.from)?.has(data.to)) context.report({ node: source, messageId: "arrow", data });
      } catch (error) {
        context.report({ node: source, messageId: "wrong", data: { message: error.message } });
      }
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: (node) => check({ source: node.source ?? node.argument?.literal }),
    };
  },
};
