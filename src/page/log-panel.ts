// The log of one container in the page, followed as it grows: search, previous run, copy, download. The panel owns its
// elements: it appends lines to a log of thousands, and does not compare them again.
// Invariant: it holds one request at most, and as many lines as LogTail keeps.

import { firstSource, type LogSource } from "./log-sources.js";
import { LogTail, MAX_LINES } from "./log-tail.js";

const TAIL_LINES = 500;
/** A reader within so many pixels of the end wants to see new lines. */
const AT_END = 40;
/** After a broken connection. */
const RETRY_MS = 3000;

export class LogPanel {
  private readonly choice = document.createElement("select");
  private readonly previous = checkbox();
  private readonly follow = checkbox();
  private readonly search = document.createElement("input");
  private readonly save = document.createElement("a");
  private readonly output = document.createElement("pre");
  private readonly empty = document.createElement("p");
  private readonly state = document.createElement("span");
  private sources: readonly LogSource[] = [];
  /** The reader chose the container. */
  private isChosen = false;
  private readingRun = "";
  private reading: AbortController | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private tail = new LogTail();
  private phase = "";
  private shown = 0;

  constructor(
    element: Element,
    private readonly namespace: string,
    private readonly pod: string,
  ) {
    this.follow.checked = true;
    this.search.type = "search";
    this.search.placeholder = "text in a line";
    this.search.title = "Press / to come here";
    this.search.setAttribute("aria-keyshortcuts", "/");
    this.output.tabIndex = 0;
    this.output.setAttribute("role", "log");
    this.output.setAttribute("aria-label", "Log of the container");
    this.empty.className = "empty";
    this.state.className = "muted";
    this.state.setAttribute("role", "status");
    this.save.textContent = "Download";
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy";
    copy.addEventListener("click", () => void this.copy());
    const tools = document.createElement("p");
    tools.className = "tools";
    tools.append(
      labelled("Container ", this.choice),
      labelled("Search ", this.search),
      labelled(this.follow, " follow"),
      labelled(this.previous, " previous run"),
      copy,
      this.save,
      this.state,
    );
    element.append(tools, this.empty, this.output);
    this.choice.addEventListener("change", () => (this.isChosen = true));
    for (const input of [this.choice, this.previous, this.follow]) input.addEventListener("change", () => this.read());
    this.search.addEventListener("input", () => this.showAll());
  }

  /** Begins to read the first container, and reads again with each new run of the chosen one. */
  show(sources: readonly LogSource[]): void {
    const labels = sources.map(({ label }) => label).join();
    if (labels !== this.sources.map(({ label }) => label).join()) {
      const chosen = this.choice.value;
      this.choice.replaceChildren(
        ...sources.map(({ name, label }) => new Option(label, name, false, this.isChosen && name === chosen)),
      );
    }
    this.sources = sources;
    if (!this.isChosen) this.choice.value = firstSource(sources)?.name ?? "";
    if (this.run() !== this.readingRun && !this.previous.checked) this.read();
  }

  close(): void {
    clearTimeout(this.retry);
    this.reading?.abort();
  }

  private run(): string {
    const chosen = this.sources.find(({ name }) => name === this.choice.value);
    return `${chosen?.name ?? ""} ${chosen?.run ?? ""}`;
  }

  private read(): void {
    this.close();
    this.readingRun = this.run();
    const reading = new AbortController();
    this.reading = reading;
    this.tail = new LogTail();
    this.showAll();
    const path = [this.namespace, this.pod, this.choice.value].map(encodeURIComponent).join("/");
    this.save.href = `logs/${path}${this.previous.checked ? "?previous=true" : ""}`;
    this.save.download = `${this.pod}_${this.choice.value}.log`;
    if (this.readingRun.endsWith(" ")) {
      this.showPhase("the container has not started yet");
      return;
    }
    this.stream(path, reading.signal).catch((error: unknown) => {
      if (reading.signal.aborted) return;
      this.showPhase(
        `the log cannot be read (${error instanceof Error ? error.message : String(error)}), trying again`,
      );
      this.retry = setTimeout(() => this.read(), RETRY_MS);
    });
  }

  private async stream(path: string, signal: AbortSignal): Promise<void> {
    const query = new URLSearchParams({ tailLines: String(TAIL_LINES) });
    if (this.follow.checked && !this.previous.checked) query.set("follow", "true");
    if (this.previous.checked) query.set("previous", "true");
    this.showPhase("reading");
    const response = await fetch(`logs/${path}?${query.toString()}`, { signal });
    if (!response.ok || response.body === null) {
      this.showPhase(problemIn(await response.text()));
      return;
    }
    this.showPhase(query.has("follow") ? "following" : "");
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      this.append(this.tail.push(decoder.decode(value, { stream: true })));
    }
    this.append(this.tail.end());
    this.showPhase(query.has("follow") ? "the run has ended" : "");
  }

  private wanted(lines: readonly string[]): readonly string[] {
    const word = this.search.value.toLowerCase();
    return word === "" ? lines : lines.filter((line) => line.toLowerCase().includes(word));
  }

  /** All kept lines again: another text is searched for, or another log is read. */
  private showAll(): void {
    this.output.replaceChildren();
    this.shown = 0;
    this.append(this.tail.lines);
    this.output.scrollTop = this.output.scrollHeight;
    this.showPhase(this.phase);
  }

  private append(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const { output } = this;
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < AT_END;
    output.append(...this.wanted(lines).map((line) => document.createTextNode(`${line}\n`)));
    while (output.childNodes.length > MAX_LINES) output.firstChild?.remove();
    this.shown = output.childNodes.length;
    if (atEnd) output.scrollTop = output.scrollHeight;
    this.showPhase(this.phase);
  }

  private showPhase(phase: string): void {
    this.phase = phase;
    const all = this.tail.lines.length;
    const found = this.search.value === "" ? "" : `${this.shown} of ${all} lines`;
    setText(this.state, [phase, found].filter((text) => text !== "").join(", "));
    const none = all > 0 ? "No line has this text." : phase === "following" ? "No output yet." : "No output.";
    setText(this.empty, this.shown > 0 || phase === "reading" ? "" : none);
  }

  private async copy(): Promise<void> {
    const text = this.wanted(this.tail.lines).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      this.showPhase(`${this.phase === "" ? "" : `${this.phase}, `}copied`);
    } catch {
      // Without a secure connection a page may not write to the clipboard. The reader copies the selected text.
      getSelection()?.selectAllChildren(this.output);
      this.showPhase("selected: press Ctrl+C");
    }
  }
}

/** A screen reader hears each change of a status. */
function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** The message of a v1.Status, or the text itself. */
function problemIn(body: string): string {
  const message = /"message": ?"((?:[^"\\]|\\.){1,300})/.exec(body)?.[1];
  return (message?.replaceAll('\\"', '"') ?? body).trim().slice(0, 300);
}

function checkbox(): HTMLInputElement {
  const input = document.createElement("input");
  input.type = "checkbox";
  return input;
}

function labelled(...parts: readonly (string | Element)[]): HTMLLabelElement {
  const label = document.createElement("label");
  label.append(...parts);
  return label;
}
