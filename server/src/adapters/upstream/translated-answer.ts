import { isTooComplex } from '../../kernel/json-scan.ts';
import type { Json } from './json-value.ts';
import { type UpstreamAnswer, UpstreamCut } from './port.ts';
import { usageBegunIn, usageFoundIn } from './usage-search.ts';

/**
 * Stands in a translated stream for an event that could not be read. It cannot be read either: who passes the stream on ends the client's
 * there, and reads on for the usage.
 */
export const UNREADABLE_EVENT = 'data: unreadable\n\n';

/** One body on its way into another dialect. It is fed chunks, cut anywhere, of one body only. */
export interface Translation {
  /** Media type of what comes out. */
  readonly contentType: string;
  /** What can be said so far because of this chunk; often nothing. Throws {@link UpstreamCut} where the body is beyond hope. */
  push(chunk: Buffer): Buffer;
  /** The provider's body is through: what is still to be said. Throws {@link UpstreamCut} where it stopped before its own end. */
  end(): Buffer;
  /** As {@link UpstreamAnswer.usageSoFar}. */
  usageSoFar?(): unknown;
  /** As {@link UpstreamAnswer.hasUsageDecreased}. */
  readonly hasUsageDecreased?: boolean;
  /** What the provider counted of the whole, in OpenAI's form; undefined until it has. */
  finalUsage?(): unknown;
  /** A part of the body was too large to be translated, and is left out. */
  readonly isTooLarge?: boolean;
}

/** An answer in another dialect than the provider's. Time, back-pressure and cancelling stay with the answer beneath. */
export class TranslatedAnswer implements UpstreamAnswer {
  readonly ok = true;
  readonly status: number;
  readonly contentType: string;
  readonly #source: UpstreamAnswer;
  readonly #translation: Translation;

  constructor(source: UpstreamAnswer, translation: Translation) {
    this.status = source.status;
    this.contentType = translation.contentType;
    this.#source = source;
    this.#translation = translation;
  }

  async collect(maxBytes: number, onTooLarge?: () => void): Promise<Buffer> {
    const source = await this.#source.collect(maxBytes, onTooLarge);
    return Buffer.concat([this.#translation.push(source), this.#translation.end()]);
  }

  async pump(onChunk: (chunk: Buffer) => void | Promise<void>, onTooLarge?: () => void): Promise<void> {
    let isTooLarge = false;
    await this.#source.pump((chunk) => {
      const said = this.#translation.push(chunk);
      if (isTooLarge) return undefined;
      if (this.#translation.isTooLarge) {
        isTooLarge = true;
        onTooLarge?.();
        return undefined;
      }
      return said.length === 0 ? undefined : onChunk(said);
    });
    if (isTooLarge) throw new UpstreamCut('too_large', { found: { usage: this.#translation.finalUsage?.() } });
    const rest = this.#translation.end();
    if (rest.length > 0) await onChunk(rest);
  }

  abort(): void {
    this.#source.abort();
  }

  usageSoFar(): unknown {
    return this.#translation.usageSoFar?.();
  }

  get hasUsageDecreased(): boolean {
    return this.#translation.hasUsageDecreased ?? false;
  }
}

/** The translation of a body that means nothing before its last byte. */
export interface DocumentTranslation {
  /** Media type of what comes out. */
  readonly contentType: string;
  /** What is no answer, or breaks off, stays as it is. */
  translate(body: Buffer): Buffer | Promise<Buffer>;
  /** OpenAI's usage, by what was found of it in a document that was too large. */
  usageIn(found: Json): unknown;
}

/** What is no larger is parsed as it is. */
const SMALL_DOCUMENT_BYTES = 256 * 1024;
/** A document that is larger is not translated: a hundred embeddings are 8 MB, and no text is longer. */
const LARGEST_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A document, JSON for one, in another dialect than the provider's. */
export class TranslatedDocument implements UpstreamAnswer {
  readonly ok = true;
  readonly status: number;
  readonly contentType: string;
  readonly #source: UpstreamAnswer;
  readonly #translation: DocumentTranslation;

  constructor(source: UpstreamAnswer, translation: DocumentTranslation) {
    this.status = source.status;
    this.contentType = translation.contentType;
    this.#source = source;
    this.#translation = translation;
  }

  async collect(maxBytes: number, onTooLarge?: () => void): Promise<Buffer> {
    try {
      const document = await this.#source.collect(Math.min(maxBytes, LARGEST_DOCUMENT_BYTES), onTooLarge);
      if (document.length > SMALL_DOCUMENT_BYTES && (await isTooComplex(document))) {
        onTooLarge?.();
        throw new UpstreamCut('too_large', { found: await usageFoundIn(document) });
      }
      const translated = await this.#translation.translate(document);
      const found = translated === document ? usageBegunIn(document) : {};
      if (Object.keys(found).length === 0) return translated;
      // Of an answer that is none, the usage stands there in the provider's own words.
      throw new UpstreamCut('reset', { came: document, found });
    } catch (error) {
      if (!(error instanceof UpstreamCut && error.found)) throw error;
      throw new UpstreamCut(error.reason, { cause: error, came: error.came, found: { usage: this.#translation.usageIn(error.found) } });
    }
  }

  async pump(onChunk: (chunk: Buffer) => void | Promise<void>, onTooLarge?: () => void): Promise<void> {
    const document = await this.collect(LARGEST_DOCUMENT_BYTES, onTooLarge);
    if (document.length > 0) await onChunk(document);
  }

  abort(): void {
    this.#source.abort();
  }
}
