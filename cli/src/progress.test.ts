import { expect, it } from 'vitest';
import { counted, ProgressLine, sizeText } from './progress.ts';

async function shown(isTty: boolean, tookMs: number): Promise<string> {
  let [written, atMs] = ['', 0];
  const err = {
    isTty,
    write: (text: string) => {
      written += text;
    },
  };
  async function* pieces() {
    for (let number = 0; number < 3; number += 1) {
      atMs += tookMs / 3;
      yield new Uint8Array(1024 * 1024);
    }
  }
  let received = 0;
  for await (const piece of counted(pieces(), new ProgressLine(err, () => atMs))) received += piece.length;
  expect(received).toBe(3 * 1024 * 1024);
  return written;
}

it('shows the progress of a long download on one line, which is cleared at the end', async () => {
  expect(await shown(true, 1_500)).toBe(`\r1.0 MiB received\r2.0 MiB received\r3.0 MiB received\r${' '.repeat(16)}\r`);
});

it.each([
  ['of a short one', true, 300],
  ['to a pipe', false, 1_500],
])('says nothing %s', async (_when, isTty, tookMs) => {
  expect(await shown(isTty, tookMs)).toBe('');
});

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [8 * 1024 ** 3, '8.0 GiB'],
])('%i bytes are %s', (bytes, wanted) => {
  expect(sizeText(bytes)).toBe(wanted);
});
