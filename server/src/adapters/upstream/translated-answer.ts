import { type UpstreamAnswer, UpstreamCut } from './port.ts';

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
}

const NOTHING = Buffer.alloc(0);

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

  async collect(maxBytes: number): Promise<Buffer> {
    const source = await this.#source.collect(maxBytes);
    const whole = Buffer.concat([this.#translation.push(source), this.#translation.end()]);
    if (whole.length > maxBytes) throw new UpstreamCut('too_large');
    return whole;
  }

  async pump(onChunk: (chunk: Buffer) => void | Promise<void>): Promise<void> {
    await this.#source.pump((chunk) => {
      const said = this.#translation.push(chunk);
      return said.length === 0 ? undefined : onChunk(said);
    });
    const rest = this.#translation.end();
    if (rest.length > 0) await onChunk(rest);
  }

  abort(): void {
    this.#source.abort();
  }

  usageSoFar(): unknown {
    return this.#translation.usageSoFar?.();
  }
}

/** The translation of a body that means nothing before its last byte, such as JSON. */
export function wholeBody(contentType: string, translate: (body: Buffer) => Buffer): Translation {
  const parts: Buffer[] = [];
  return {
    contentType,
    push: (chunk) => {
      parts.push(chunk);
      return NOTHING;
    },
    end: () => translate(Buffer.concat(parts)),
  };
}
