// A part gets what it needs by name: its collaborators are not handed on whole (CONTRIBUTING.md).
// Found: `{ ...deps, x }` and `{ ...this.deps, x }`, and bags that are called `parts` or `collaborators`. Options are
// data and may be merged.

const BAGS = new Set(["deps", "parts", "collaborators"]);

const nameOf = (node) =>
  node.type === "Identifier"
    ? node.name
    : node.type === "MemberExpression" && !node.computed && node.object.type === "ThisExpression"
      ? node.property.name
      : undefined;

export const depsSpread = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: { bag: "name what the part needs in place of the whole bag" },
  },
  create(context) {
    return {
      "ObjectExpression > SpreadElement"({ argument }) {
        if (BAGS.has(nameOf(argument))) context.report({ node: argument, messageId: "bag" });
      },
    };
  },
};
