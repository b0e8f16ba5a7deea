// A member that may be missing stands in the literal; its value is undefined where it is missing (CONTRIBUTING.md).
// Found: `...(x === undefined ? {} : { x })`, `...(x !== undefined && { x })`, and `...{ a, b }`.

const isObject = (node) => node.type === "ObjectExpression";
const isEmpty = (node) => isObject(node) && node.properties.length === 0;

export const conditionalSpread = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: {
      spread: "list the member: `x` may be undefined, or omitUndefined (shared/base/objects) builds the object",
    },
  },
  create(context) {
    return {
      "ObjectExpression > SpreadElement"({ argument }) {
        const guarded = argument.type === "LogicalExpression" && argument.operator === "&&" && isObject(argument.right);
        const branches = argument.type === "ConditionalExpression" ? [argument.consequent, argument.alternate] : [];
        const chosen = branches.some(isEmpty) && branches.every(isObject);
        if (guarded || chosen || isObject(argument)) context.report({ node: argument, messageId: "spread" });
      },
    };
  },
};
