// A docstring names its subject: it neither continues the name ("Of the pod …") nor points at its neighbour ("The
// same.").

const FRAGMENT = /^\*\s*(?:\*\s*)?(Of |The same\b)/;

export const docstringSubject = {
  meta: {
    type: "suggestion",
    schema: [],
    messages: { fragment: 'the docstring begins with "{{words}}": say what the symbol is' },
  },
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const words = comment.type === "Block" && FRAGMENT.exec(comment.value)?.[1];
          if (words) context.report({ loc: comment.loc, messageId: "fragment", data: { words: words.trim() } });
        }
      },
    };
  },
};
