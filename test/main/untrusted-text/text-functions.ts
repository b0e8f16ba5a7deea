// Finds the exported functions of main and of shared code that take a text and search, split or parse it. A new one is
// found without an entry anywhere. megabyte.test.ts then asks for a row of its table or for a reason.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";

/** Texts that the operator writes and a start reads once: flags, configuration files, kubeconfig. */
const OPERATOR =
  /^src\/(main\/(command|process|kubelet)|shared\/kubernetes\/api\/client\/kubeconfig|shared\/io\/yaml)\//;
const TEXT = /^(string|Buffer|Uint8Array|readonly string\[\])( \| undefined)?$/;
const SEARCHES = new Set(["split", "match", "matchAll", "replace", "search", "exec", "test", "charCodeAt"]);

export function sourceFiles(): ts.SourceFile[] {
  return ["src/main", "src/shared"].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !/(^|\/)gen\//.test(name))
      .map((name) => join(root, name))
      .map((path) => ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true)),
  );
}

interface Found {
  name: string;
  exported: boolean;
  takesText: boolean;
  searches: boolean;
  calls: ReadonlySet<string>;
}

/** "file: function" or "file: Class.method", so that a file may move to another folder. */
export function textFunctions(files: readonly ts.SourceFile[]): string[] {
  return files
    .filter(({ fileName }) => !OPERATOR.test(fileName))
    .flatMap((file) => {
      const found = functionsOf(file);
      const searching = searchingNames(found);
      return found
        .filter(({ name, exported, takesText }) => exported && takesText && searching.has(name))
        .map(({ name }) => `${basename(file.fileName, ".ts")}: ${name}`);
    })
    .sort();
}

function functionsOf(file: ts.SourceFile): Found[] {
  return file.statements.flatMap((statement): Found[] => {
    if (ts.isFunctionDeclaration(statement) && statement.name !== undefined) {
      return [about(statement, statement.name.text, isExported(statement), "")];
    }
    if (ts.isVariableStatement(statement)) return constantsOf(statement);
    if (!ts.isClassDeclaration(statement) || statement.name === undefined) return [];
    const owner = statement.name.text;
    return statement.members
      .filter(ts.isMethodDeclaration)
      .map((method) =>
        about(method, `${owner}.${method.name.getText()}`, isExported(statement) && !isPrivate(method), `${owner}.`),
      );
  });
}

/** `const name = (…) => …`, and the same as an argument of a call: `const name = oncePer((…) => …)`. */
function constantsOf(statement: ts.VariableStatement): Found[] {
  return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
    const made = initializer !== undefined && ts.isCallExpression(initializer) ? initializer.arguments[0] : initializer;
    if (made === undefined || !ts.isArrowFunction(made)) return [];
    return [about(made, name.getText(), isExported(statement), "")];
  });
}

function isExported({ modifiers }: ts.FunctionDeclaration | ts.ClassDeclaration | ts.VariableStatement): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function isPrivate({ modifiers }: ts.MethodDeclaration): boolean {
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) ?? false;
}

function about(
  node: ts.FunctionDeclaration | ts.MethodDeclaration | ts.ArrowFunction,
  name: string,
  exported: boolean,
  owner: string,
): Found {
  const calls = new Set<string>();
  let searches = false;
  const visit = (part: ts.Node): void => {
    if (ts.isCallExpression(part)) {
      const { expression } = part;
      if (ts.isIdentifier(expression)) calls.add(expression.text);
      if (expression.getText() === "parseJson") searches = true;
      if (ts.isPropertyAccessExpression(expression)) {
        const verb = expression.name.text;
        if (expression.expression.kind === ts.SyntaxKind.ThisKeyword) calls.add(owner + verb);
        if (SEARCHES.has(verb) || expression.getText() === "JSON.parse") searches = true;
        if (verb === "indexOf" && part.arguments.length > 1) searches = true;
      }
    }
    ts.forEachChild(part, visit);
  };
  if (node.body !== undefined) visit(node.body);
  const takesText = node.parameters.some(({ type }) => type !== undefined && TEXT.test(type.getText()));
  return { name, exported, takesText, searches, calls };
}

/** Functions that search themselves or call one of their module that is not exported and does. */
function searchingNames(found: readonly Found[]): ReadonlySet<string> {
  const searching = new Set(found.filter(({ searches }) => searches).map(({ name }) => name));
  const inner = new Set(found.filter(({ exported, name }) => !exported || name.includes(".")).map(({ name }) => name));
  for (let before = -1; before !== searching.size;) {
    before = searching.size;
    for (const { name, calls } of found) {
      if ([...calls].some((called) => inner.has(called) && searching.has(called))) searching.add(name);
    }
  }
  return searching;
}
