// The title of a test is a sentence with a subject: at least four words. Titles made at run time are not read.

const WORDS = 4;
const CALLS = new Set(["test", "it"]);

/** Returns "test" or "it" for `test(…)`, `t.test(…)` and `test.skip(…)`, another name or undefined for other calls. */
function called({ callee }) {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return undefined;
  if (CALLS.has(callee.property.name)) return callee.object.type === "Identifier" ? callee.property.name : undefined;
  return callee.object.type === "Identifier" && ["skip", "only", "todo"].includes(callee.property.name)
    ? callee.object.name
    : undefined;
}

/** Returns the text of a literal; undefined for a title that is made at run time. */
function textOf(title) {
  if (title.type === "TemplateLiteral" && title.expressions.length === 0) return title.quasis[0].value.cooked;
  return title.type === "Literal" && typeof title.value === "string" ? title.value : undefined;
}

export const testTitle = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: { short: "the title has {{words}} words: write a sentence with a subject" },
  },
  create(context) {
    return {
      CallExpression(node) {
        const [title, ...rest] = node.arguments;
        const text = rest.length === 0 ? undefined : textOf(title);
        if (text === undefined || !CALLS.has(called(node))) return;
        const words = text.trim().split(/\s+/).length;
        if (words < WORDS) context.report({ node: title, messageId: "short", data: { words } });
      },
    };
  },
};
