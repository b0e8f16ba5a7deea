// The log of one container in the page, followed as it grows. The panel owns its elements: it appends lines to a log of thousands, and does
// not compare them again.
import { LogTail, MAX_LINES } from "./log-tail.js";

const TAIL_LINES = 500;
export interface LogSource {
  name: string;
  /** Another value for each run of the container. */
  run: string;
}

/** A reader within so many pixels of the end wants to see new lines. */
const AT_END = 40;

export class LogPanel {
  private readonly choice = document.createElement("select");
  private readonly previous = checkbox();
  private readonly follow = checkbox();
  private readonly output = document.createElement("pre");
  private readonly state = document.createElement("span");
  private sources: readonly LogSource[] = [];
  private readingRun = "";
  private reading: AbortController | undefined;

  constructor(
    element: Element,
    private readonly namespace: string,
    private readonly pod: string,
  ) {
    this.follow.checked = true;
    this.output.tabIndex = 0;
    this.output.setAttribute("role", "log");
    this.output.setAttribute("aria-label", "Log of the container");
    this.state.className = "muted";
    this.state.setAttribute("role", "status");
    const tools = document.createElement("p");
    tools.className = "tools";
    tools.append(
      labelled("Container ", this.choice),
      labelled(this.follow, " follow"),
      labelled(this.previous, " run before"),
      this.state,
    );
    element.append(tools, this.output);
    for (const input of [this.choice, this.previous, this.follow]) input.addEventListener("change", () => this.read());
  }

  /** Begins to read the first container, and reads again with each new run of the chosen one. */
  show(sources: readonly LogSource[]): void {
    const names = sources.map(({ name }) => name);
    if (names.join() !== this.sources.map(({ name }) => name).join()) {
      const chosen = this.choice.value;
      this.choice.replaceChildren(...names.map((name) => new Option(name, name, false, name === chosen)));
    }
    this.sources = sources;
    if (this.run() !== this.readingRun && !this.previous.checked) this.read();
  }

  close(): void {
    this.reading?.abort();
  }

  private run(): string {
    const chosen = this.sources.find(({ name }) => name === this.choice.value);
    return `${chosen?.name ?? ""} ${chosen?.run ?? ""}`;
  }

  private read(): void {
    this.reading?.abort();
    this.readingRun = this.run();
    const reading = new AbortController();
    this.reading = reading;
    this.output.replaceChildren();
    if (this.readingRun.endsWith(" ")) {
      this.say("the container has not started yet");
      return;
    }
    this.stream(reading.signal).catch((error: unknown) => {
      if (!reading.signal.aborted) this.say(error instanceof Error ? error.message : String(error));
    });
  }

  private async stream(signal: AbortSignal): Promise<void> {
    const path = [this.namespace, this.pod, this.choice.value].map(encodeURIComponent).join("/");
    const query = new URLSearchParams({ tailLines: String(TAIL_LINES) });
    if (this.follow.checked && !this.previous.checked) query.set("follow", "true");
    if (this.previous.checked) query.set("previous", "true");
    this.say("reading");
    const response = await fetch(`logs/${path}?${query.toString()}`, { signal });
    if (!response.ok || response.body === null) {
      this.say((await response.text()).trim().slice(0, 300));
      return;
    }
    this.say(query.has("follow") ? "following" : "");
    const tail = new LogTail();
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      this.append(tail.push(decoder.decode(value, { stream: true })));
    }
    this.append(tail.push("\n").filter((line) => line !== ""));
    this.say(query.has("follow") ? "the log has ended" : "");
  }

  private append(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const { output } = this;
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < AT_END;
    output.append(...lines.map((line) => document.createTextNode(`${line}\n`)));
    while (output.childNodes.length > MAX_LINES) output.firstChild?.remove();
    if (atEnd) output.scrollTop = output.scrollHeight;
  }

  private say(text: string): void {
    this.state.textContent = text;
  }
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
