// The functions of a minified script, by the names that they have in their sources: V8 shows the short ones.

import ts from "typescript";

/**
 * Where another function begins or goes on, in the order of the text: [line, column, name] from 0, as "Class.method" or
 * "function". The name is "" outside functions, and in those without one.
 * `nameAt` returns the source's name of the identifier at a place of the text, or undefined if it is the same.
 */
export function functionsOf(code, nameAt) {
  const file = ts.createSourceFile("script.js", code, ts.ScriptTarget.ESNext, true, ts.ScriptKind.JS);
  const placeOf = (position) => {
    const { line, character } = file.getLineAndCharacterOfPosition(position);
    return [line, character];
  };
  const named = (identifier) => nameAt(...placeOf(identifier.getStart(file))) ?? identifier.text;
  const changes = [];
  const visit = (node, outer) => {
    const inner = isFunction(node) ? nameOf(node, named) : outer;
    if (isFunction(node)) changes.push([...placeOf(node.getStart(file)), inner]);
    ts.forEachChild(node, (child) => visit(child, inner));
    if (isFunction(node)) changes.push([...placeOf(node.end), outer]);
  };
  visit(file, "");
  return changes;
}

function isFunction(node) {
  return ts.isFunctionLike(node) && node.body !== undefined;
}

function nameOf(node, named) {
  if (ts.isConstructorDeclaration(node)) return classNameOf(node.parent, named);
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return memberName(node, named);
  if (node.name !== undefined) return named(node.name);
  return assignedName(node, named);
}

/** The name by which V8 calls a function that is the value of something. */
function assignedName(node, named) {
  const { parent } = node;
  if (ts.isParenthesizedExpression(parent)) return assignedName(parent, named);
  if (ts.isPropertyDeclaration(parent)) return memberName(parent, named);
  if (ts.isPropertyAssignment(parent)) return keyOf(parent.name);
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) return named(parent.name);
  if (ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken) {
    if (ts.isIdentifier(parent.left)) return named(parent.left);
    if (ts.isPropertyAccessExpression(parent.left)) return keyOf(parent.left.name);
  }
  return "";
}

function memberName(node, named) {
  const owner = ts.isClassLike(node.parent) ? classNameOf(node.parent, named) : "";
  return owner === "" ? keyOf(node.name) : `${owner}.${keyOf(node.name)}`;
}

function classNameOf(node, named) {
  return node.name === undefined ? assignedName(node, named) : named(node.name);
}

function keyOf(name) {
  return ts.isComputedPropertyName(name) ? `[${/^\[(Symbol\.\w+)\]$/.exec(name.getText())?.[1] ?? "…"}]` : name.text;
}
