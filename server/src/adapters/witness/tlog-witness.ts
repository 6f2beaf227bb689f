import { request } from 'undici';
import type { Submission, Witness, WitnessAnswer } from './port.ts';

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 64 * 1024;
const SIZE = /^(0|[1-9]\d{0,15})\n$/;

/** A witness by C2SP's protocol (c2sp.org/tlog-witness). @param url its submission prefix */
export const tlogWitness = (url: string): Witness => ({
  async submit(submission, signal) {
    try {
      const { statusCode, body } = await request(`${url.replace(/\/+$/, '')}/add-checkpoint`, {
        method: 'POST',
        body: bodyOf(submission),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      return answerOf(statusCode, await textOf(body));
    } catch (error) {
      return { state: 'away', reason: error instanceof Error ? error.message : String(error) };
    }
  },
});

function bodyOf({ oldSize, path, note }: Submission): string {
  const lines = path.map((hash) => `${Buffer.from(hash).toString('base64')}\n`);
  return `old ${oldSize}\n${lines.join('')}\n${note}`;
}

function answerOf(status: number, text: string): WitnessAnswer {
  if (status === 200) return { state: 'cosigned', lines: text };
  const [, size] = SIZE.exec(text) ?? [];
  if (status === 409 && size !== undefined) return { state: 'stale', size: Number(size) };
  const reason = `${status}: ${text.slice(0, 200)}`;
  if (status < 400 || status >= 500 || status === 429) return { state: 'away', reason };
  return { state: 'refused', reason, contradicts: status === 409 || status === 422 };
}

/** @throws for more than an answer may have */
async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`The answer has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
