// A button on each code block that copies it; of a block with outputs only the commands.

const SHOWN_MS = 1500;

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>("main pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      void copy(textOf(block)).then((copied) => {
        button.textContent = copied ? "Copied" : "Press Ctrl+C";
        setTimeout(() => (button.textContent = "Copy"), SHOWN_MS);
      });
    });
    const frame = document.createElement("div");
    frame.className = "code";
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

function textOf(block: HTMLElement): string {
  const text = block.textContent;
  if (!block.classList.contains("console")) return `${text.trimEnd()}\n`;
  const commands = text.split("\n").filter((line) => line.startsWith("$ "));
  return `${commands.map((line) => line.slice(2)).join("\n")}\n`;
}

/** False: the browser allows neither way; the text is selected then. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Plain HTTP has no clipboard: the old way needs a selected field.
    const field = document.createElement("textarea");
    field.value = text;
    field.setAttribute("readonly", "");
    field.className = "off-screen";
    document.body.append(field);
    field.select();
    // There is no other way where the clipboard is missing.
    const copied = (document as { execCommand?: (name: string) => boolean }).execCommand?.("copy") ?? false;
    field.remove();
    return copied;
  }
}
