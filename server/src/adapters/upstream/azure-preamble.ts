import { EventLines } from '../../kernel/event-lines.ts';
import { isRecord, type Json, jsonIn } from './json-value.ts';
import type { Translation } from './translated-answer.ts';

const NOTHING = Buffer.alloc(0);
/** A blank line, with either kind of line end. */
const EVENT_END = /\r?\n\r?\n/;
/** What has not begun after so much is let through as it is. */
const LONGEST_PREAMBLE_BYTES = 64 * 1024;

/**
 * Azure begins a stream with what its filter made of the prompt: a chunk without choices, id or model, which OpenAI's never has. Its findings
 * (`prompt_filter_results`) go into the first real chunk; from there on bytes pass as they come.
 */
export class PreambleMerged implements Translation {
  readonly contentType: string;
  readonly #lines = new EventLines();
  #carry = NOTHING;
  #findings: Json = {};
  #hasBegun = false;

  constructor(contentType: string) {
    this.contentType = contentType;
  }

  push(chunk: Buffer): Buffer {
    const lines = this.#lines.push(chunk);
    if (this.#hasBegun) return lines;
    this.#carry = Buffer.concat([this.#carry, lines]);
    return this.#begin();
  }

  end(): Buffer {
    return this.#release(Buffer.concat([this.#carry, this.#lines.end()]));
  }

  #begin(): Buffer {
    for (;;) {
      // Latin-1 keeps places in the text equal to places in the bytes.
      const end = EVENT_END.exec(this.#carry.toString('latin1'));
      if (!end) return this.#carry.length > LONGEST_PREAMBLE_BYTES ? this.#release(this.#carry) : NOTHING;
      const event = this.#carry.subarray(0, end.index).toString();
      const rest = this.#carry.subarray(end.index + end[0].length);
      const data = /^data: ?(.*)$/m.exec(event)?.[1];
      const chunk = data === undefined ? undefined : jsonIn(data);
      if (data !== undefined && !(isRecord(chunk) && isPreamble(chunk))) {
        if (!isRecord(chunk) || Object.keys(this.#findings).length === 0) return this.#release(this.#carry);
        return this.#release(Buffer.concat([Buffer.from(`data: ${JSON.stringify({ ...chunk, ...this.#findings })}\n\n`), rest]));
      }
      if (isRecord(chunk)) this.#findings = findingsOf(chunk);
      this.#carry = rest;
    }
  }

  #release(bytes: Buffer): Buffer {
    this.#hasBegun = true;
    this.#carry = NOTHING;
    return bytes;
  }
}

const isPreamble = ({ choices, usage, error }: Json): boolean =>
  Array.isArray(choices) && choices.length === 0 && !isRecord(usage) && error === undefined;

const findingsOf = ({ prompt_filter_results: results }: Json): Json => (results === undefined ? {} : { prompt_filter_results: results });
