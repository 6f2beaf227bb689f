import { steps } from '@tallygate/fake-upstream';
import { describe, expect, it } from 'vitest';
import { againstFakeUpstream, MAX_BYTES } from './against-fake-upstream.ts';
import { chunksOf, pumped } from './conformance-calls.ts';

const { fake, provider, ask } = againstFakeUpstream();

describe('a plain body', () => {
  it.each([
    ['malformed JSON', steps.malformedJson(), '{"id": "chatcmpl-1", "choices": ['],
    ['nothing', steps.emptyBody(), ''],
    ['HTML that does not call itself so', { body: '<html>' }, '<html>'],
  ])('of %s with status 200 is passed on: it is for the relay to judge', async (_, step, text) => {
    fake().script(step);
    expect((await (await ask()).collect(MAX_BYTES)).toString()).toBe(text);
  });

  it('arrives whole when it comes in pieces, and when it is larger than any buffer', async () => {
    fake().script({ text: 'grüße 👋', pieceBytes: 1 }, { body: 'x'.repeat(10_000_000) });
    expect(JSON.parse((await (await ask()).collect(MAX_BYTES)).toString())).toMatchObject({
      choices: [{ message: { content: 'grüße 👋' } }],
    });
    expect((await (await ask()).collect(10_000_000)).length).toBe(10_000_000);
  });

  it.each(['reset', 'fin'] as const)('that ends short of its length by %s is cut', async (how) => {
    fake().script(steps.cutBody(how));
    await expect((await ask()).collect(MAX_BYTES)).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
  });

  it('that stalls is cut and cancelled', async () => {
    fake().script(steps.cutBody('stall'));
    await expect((await ask({ idleTimeoutMs: 40 })).collect(MAX_BYTES)).rejects.toMatchObject({ reason: 'idle_timeout' });
    expect(await fake().requests[0]?.ended).toBe('aborted');
  });

  it('that is too large is read to its end for its usage, and not kept', async () => {
    fake().script({ padding: 50_000_000, tokens: 3 });
    let told = 0;
    const collected = (await ask()).collect(100_000, () => {
      told += 1;
    });
    await expect(collected).rejects.toMatchObject({ reason: 'too_large', found: { usage: { completion_tokens: 3 } } });
    expect(told).toBe(1);
    expect(await fake().requests[0]?.ended).toBe('answered');
  });

  it('answers a stream request as it is', async () => {
    fake().script({ body: { object: 'chat.completion' } });
    expect(await pumped(await ask({ stream: true }))).toBe('{"object":"chat.completion"}');
  });
});

describe('a stream', () => {
  it('passes through byte for byte', async () => {
    fake().script({ text: 'grüße 👋 🏳️‍🌈', ...steps.crlf(), ...steps.pings(), ...steps.split(1) });
    const text = await pumped(await ask({ stream: true }));
    expect(text).toContain(': ping\r\n\r\ndata: {');
    expect(
      chunksOf(text)
        .map(({ choices }) => choices[0]?.delta.content ?? '')
        .join(''),
    ).toBe('grüße 👋 🏳️‍🌈');
  });

  it.each(['fin', 'reset', 'garbage'] as const)('that breaks off by %s is cut after the events that came', async (how) => {
    fake().script(steps.cutStream(4, how));
    const answer = await ask({ stream: true });
    let text = '';
    const pump = answer.pump((part) => {
      text += part;
    });
    await expect(pump).rejects.toMatchObject({ name: 'UpstreamCut', reason: 'reset' });
    expect(text.match(/^data: /gm)).toHaveLength(4);
  });

  it('hands over what came before a reset even to a reader that is late', async () => {
    fake().script(steps.cutStream(4, 'reset'));
    const answer = await ask({ stream: true });
    const parts: Buffer[] = [];
    const pump = answer.pump(async (part) => {
      if (parts.length === 0) await fake().requests[0]?.ended;
      parts.push(part);
    });
    await expect(pump).rejects.toMatchObject({ reason: 'reset' });
    expect(Buffer.concat(parts).toString()).toMatch(/^data: /);
  });

  it('that stalls is cut after the idle timeout and cancelled', async () => {
    fake().script(steps.cutStream(3, 'stall'));
    const answer = await ask({ stream: true, idleTimeoutMs: 40 });
    await expect(pumped(answer)).rejects.toMatchObject({ reason: 'idle_timeout' });
    expect(await fake().requests[0]?.ended).toBe('aborted');
  });

  it('is not cut for the time in which this very process stood still', async () => {
    fake().script(steps.longStream(6, 20));
    let text = '';
    const answer = await ask({ stream: true, idleTimeoutMs: 60 });
    await answer.pump((part) => {
      if (text === '') for (const until = performance.now() + 150; performance.now() < until; );
      text += part;
    });
    expect(chunksOf(text)).toHaveLength(9);
  });

  it('that is slow but alive is not cut', async () => {
    fake().script(steps.longStream(20, 15));
    expect(chunksOf(await pumped(await ask({ stream: true, idleTimeoutMs: 100, firstByteTimeoutMs: 100 })))).toHaveLength(23);
  });

  it('without [DONE], or with an error event, is complete for the adapter: the relay judges', async () => {
    fake().script(steps.withoutDone(), steps.errorMidStream(0));
    expect(await pumped(await ask({ stream: true }))).not.toContain('[DONE]');
    expect(await pumped(await ask({ stream: true }))).toMatch(/^data: \{"error":/);
  });

  it('closes its connection at the provider on abort', async () => {
    fake().script(steps.longStream(10_000, 5));
    const answer = await ask({ stream: true });
    let chunks = 0;
    const pump = answer.pump(() => {
      if (++chunks === 3) answer.abort();
    });
    await expect(pump).rejects.toMatchObject({ reason: 'aborted' });
    expect(await fake().requests[0]?.ended).toBe('aborted');
    expect(fake().requests[0]?.aborted).toBe(true);
  });

  it('holds the provider back while the reader is busy', async () => {
    const total = 20_000_000;
    fake().script({ body: 'x'.repeat(total), pieceBytes: 50_000, headers: { 'content-type': 'text/event-stream' } });
    const answer = await ask({ stream: true });
    let bytes = 0;
    let sentWhileHeld = 0;
    await answer.pump((part) => {
      bytes += part.length;
      if (sentWhileHeld > 0) return;
      sentWhileHeld = 1;
      return stillness(() => fake().requests[0]?.bytesSent ?? 0).then((settled) => {
        sentWhileHeld = settled;
      });
    });
    expect(sentWhileHeld).toBeLessThan(total);
    expect(bytes).toBe(total);
  });

  it('holds the provider back until anybody reads', async () => {
    fake().script(steps.hugeBody(20_000_000));
    const answer = await ask();
    expect(await stillness(() => fake().requests[0]?.bytesSent ?? 0)).toBeLessThan(30_000_000);
    expect((await answer.collect(30_000_000)).length).toBeGreaterThan(20_000_000);
  });

  it('is cut when the provider is closed', async () => {
    fake().script(steps.cutStream(2, 'stall'));
    const pump = pumped(await ask({ stream: true }));
    await Promise.all([expect(pump).rejects.toMatchObject({ name: 'UpstreamCut' }), provider().close()]);
  });
});

/** The value once it has not changed for 100 ms. */
async function stillness(read: () => number): Promise<number> {
  for (let before = -1; ; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (read() === before) return before;
    before = read();
  }
}
