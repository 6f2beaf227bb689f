import { expect, test } from 'vitest';
import { MailScan } from './mail-scan.ts';

const scanned = (mail: string, pieceBytes: number): void => {
  const scan = new MailScan();
  const bytes = Buffer.from(mail);
  for (let at = 0; at < bytes.length; at += pieceBytes) scan.take(bytes.subarray(at, at + pieceBytes));
};

test.each([1, 7, 65_536])('headers of more than 64 KiB are refused, in pieces of %d bytes', (pieceBytes) => {
  const oneLong = `To: ${'a@b,'.repeat(16_400)}\r\n\r\nbody`;
  const many = `${'To: a@b\r\n'.repeat(7_300)}\r\nbody`;
  for (const mail of [oneLong, many]) {
    expect(() => scanned(mail, pieceBytes)).toThrow(expect.objectContaining({ code: 'body_too_complex' }));
    expect(() => scanned(mail, pieceBytes)).toThrow('65536 bytes');
  }
});

test.each([1, 7, 65_536])('what follows the first empty line is no header, in pieces of %d bytes', (pieceBytes) => {
  for (const end of ['\r\n\r\n', '\n\n', '\n\r\n']) expect(() => scanned(`To: a@b${end}${'b'.repeat(200_000)}`, pieceBytes)).not.toThrow();
});

test('a line of one character does not end the headers', () => {
  expect(() => scanned(`To: a@b\na\n${'b'.repeat(70_000)}`, 9)).toThrow('65536 bytes');
});

test('more than 10,000 lines are refused', () => {
  expect(() => scanned(`To: a@b\n\n${'\n'.repeat(10_000)}`, 1000)).toThrow('10000 lines');
});
