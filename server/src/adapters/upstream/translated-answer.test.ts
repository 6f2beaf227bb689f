import { describe, expect, it } from 'vitest';
import { AnswerBody } from './answer-body.ts';
import { UpstreamCut } from './port.ts';
import { type DocumentTranslation, TranslatedAnswer, TranslatedDocument, type Translation } from './translated-answer.ts';

const NOTHING = Buffer.alloc(0);

/** Says every chunk in capitals, but what begins with `-` not at all; a body is whole if it ends in `.`. */
class Shouting implements Translation {
  readonly contentType = 'text/event-stream';
  #last = '';

  push(chunk: Buffer): Buffer {
    this.#last = chunk.toString();
    return this.#last.startsWith('-') ? NOTHING : Buffer.from(this.#last.toUpperCase());
  }

  end(): Buffer {
    if (!this.#last.endsWith('.')) throw new UpstreamCut('reset');
    return Buffer.from('END');
  }

  usageSoFar(): unknown {
    return { prompt_tokens: 3 };
  }
}

function answerOf(translation: Translation) {
  const { source, calls } = sourceOf();
  return { source, calls, answer: new TranslatedAnswer(source, translation) };
}

function sourceOf() {
  const calls: string[] = [];
  const note = (what: string) => () => void calls.push(what);
  const tap = { pause: note('pause'), resume: note('resume'), cut: note('cut'), release: note('release') };
  const source = new AnswerBody({ status: 200, headers: { 'content-type': 'application/x' } }, tap, { idleTimeoutMs: 1000 });
  return { source, calls };
}

describe('a translated stream', () => {
  it('says what the translation says, and nothing where it says nothing', async () => {
    const { source, answer } = answerOf(new Shouting());
    const heard: string[] = [];
    const pumped = answer.pump((chunk) => void heard.push(chunk.toString()));
    for (const chunk of ['a', '-b', 'c.']) source.push(Buffer.from(chunk));
    source.end();
    await pumped;
    expect(heard).toEqual(['A', 'C.', 'END']);
    expect(answer).toMatchObject({ ok: true, status: 200, contentType: 'text/event-stream' });
    expect(answer.usageSoFar()).toEqual({ prompt_tokens: 3 });
  });

  it('lets the provider wait while the reader holds a chunk', async () => {
    const { source, calls, answer } = answerOf(new Shouting());
    const held = Promise.withResolvers<void>();
    const pumped = answer.pump(() => held.promise);
    source.push(Buffer.from('a.'));
    expect(calls).toEqual(['pause']);
    held.resolve();
    source.end();
    await pumped;
  });

  it('rejects where the body breaks off, and where it ends without its own end', async () => {
    const reset = answerOf(new Shouting());
    const cut = reset.answer.pump(() => {});
    reset.source.push(Buffer.from('a.'));
    reset.source.end(new UpstreamCut('reset'));
    await expect(cut).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });

    const short = answerOf(new Shouting());
    const unfinished = short.answer.pump(() => {});
    short.source.push(Buffer.from('a'));
    short.source.end();
    await expect(unfinished).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
  });

  it('cancels the call at the provider at abort', async () => {
    const { calls, answer } = answerOf(new Shouting());
    const pumped = answer.pump(() => {});
    answer.abort();
    await expect(pumped).rejects.toMatchObject({ reason: 'aborted' });
    expect(calls).toContain('cut');
  });
});

describe('a translated document', () => {
  const reversed: DocumentTranslation = {
    contentType: 'application/json',
    translate: (body) => Buffer.from(body.toString().split('').reverse().join('')),
    usageIn: ({ usageMetadata }) => ({ prompt_tokens: usageMetadata }),
  };
  const documentOf = () => {
    const { source } = sourceOf();
    return { source, answer: new TranslatedDocument(source, reversed) };
  };

  it('is translated when it is whole, collected or pumped', async () => {
    const collected = documentOf();
    const collecting = collected.answer.collect(100);
    const pumped = documentOf();
    const heard: string[] = [];
    const pumping = pumped.answer.pump((chunk) => void heard.push(chunk.toString()));
    for (const { source } of [collected, pumped]) {
      for (const chunk of ['ab', 'cd']) source.push(Buffer.from(chunk));
      source.end();
    }
    expect((await collecting).toString()).toBe('dcba');
    await pumping;
    expect(heard).toEqual(['dcba']);
  });

  it('that is too large is read to its end for its usage, in terms of OpenAI', async () => {
    const { source, answer } = documentOf();
    let isTold = false;
    const collecting = answer.collect(10, () => {
      isTold = true;
    });
    source.push(Buffer.from('{"candidates":[{"text":"…"}],'));
    expect(isTold).toBe(true);
    source.push(Buffer.from('"usageMetadata":7}'));
    source.end();
    await expect(collecting).rejects.toMatchObject({ reason: 'too_large', found: { usage: { prompt_tokens: 7 } } });
  });
});
